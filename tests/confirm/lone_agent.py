"""An agent in a process of its own that may be killed at any moment: it asks, waits, redeems and acts, again and again.

It writes down the key of what it asks for before it asks, so that the process after it goes on with the same request.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from seasoned.confirm.client import ConfirmClient, NotConfirmed, Rejected, RequestView
from seasoned.confirm.request.request import NewRequest, request_digest

# A wait for people who decide about something else for too long ends, and the process looks again.
_WAIT_SECONDS = 2.0
_PAUSE_SECONDS = 0.03
OVER = ("acted", "denied", "lost")


class Journal:
    """What this agent did, in order; a line is whole or it is not there."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.jsonl"

    def write_address(self, address: str) -> None:
        """Where the service is now."""
        new = self.path.with_name("address.new")
        new.write_text(address, "utf-8")
        new.replace(self.path.with_name("address"))

    def lines(self) -> list[dict[str, Any]]:
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def add(self, what: str, key: str, **more: Any) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "key": key, **more}) + "\n")


def go_on(folder: Path, token: str) -> None:
    """One thing after the other, beginning with the one that the process before left."""
    journal = Journal(folder)
    last = next((line for line in reversed(journal.lines())), None)
    number = sum(line["what"] == "begun" for line in journal.lines())
    key = last["key"] if last is not None and last["what"] not in OVER else None
    while True:
        if key is None:
            key, number = f"lone-{number}", number + 1
            journal.add("begun", key)
        try:
            client = ConfirmClient((folder / "address").read_text("utf-8"), token)
            is_over = _do(client, journal, key)
        except NotConfirmed as error:
            # The service or its database is away: later once more, with the same key.
            assert not isinstance(error, Rejected), error
            time.sleep(_PAUSE_SECONDS)
            continue
        key = None if is_over else key


def _do(client: ConfirmClient, journal: Journal, key: str) -> bool:
    """One step towards the action; whether that is over."""
    asked = NewRequest(
        action="send_report", description=f"Send report {key}.", timeout_seconds=3600, idempotency_key=key
    )
    seen = client.submit(asked)
    journal.add("submitted", key, id=seen.id, status=seen.status, digest=seen.digest)
    decided = client.wait(seen.id, _WAIT_SECONDS)
    if decided.status == "denied":
        journal.add("denied", key, id=seen.id, status="denied")
    elif decided.is_approved:
        _use(client, journal, key, decided, request_digest(asked, decided.requester or ""))
    return decided.status != "pending"


def _use(client: ConfirmClient, journal: Journal, key: str, seen: RequestView, digest: str) -> None:
    try:
        grant = client.redeem(seen.id, digest)
    except Rejected as error:
        # Used up by a process whose answer was lost with it: the action must not be done.
        assert error.status == 409, error
        journal.add("lost", key, id=seen.id, status="approved")
        return
    journal.add("redeemed", key, id=seen.id, status="approved", digest=grant.digest, at=grant.redeemed_at)
    journal.add("acted", key, id=seen.id, status="approved")


if __name__ == "__main__":
    go_on(Path(sys.argv[1]), sys.argv[2])
