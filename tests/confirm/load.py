"""A client under which the service is killed: it submits, decides and redeems, and keeps what was acknowledged."""

from __future__ import annotations

import http.client
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# The passphrase of `keys.WORDS`; these processes load nothing but the standard library.
_WORDS = "four words are enough"

ADDRESS, TOKENS, STOP = "address", "tokens.json", "stop"
"""Files in the folder: where the service is now, the tokens by name, and the sign that it is enough."""
_SECONDS = 10.0
_PAUSE_SECONDS = 0.004


class Told(NamedTuple):
    """One thing that the service acknowledged to one client."""

    what: str
    """submitted, decided, redeemed; seen: what an answer said about a request in passing."""
    id: str
    status: str
    digest: str = ""
    key: str = ""
    at: float | None = None
    by: str | None = None


def told_in(folder: Path) -> Iterator[Told]:
    """What was acknowledged to all clients."""
    for file in sorted(folder.glob("told-*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield Told(*json.loads(line))


class Client:
    """One process with an agent's credential, shared with another process, and an approver's of its own."""

    def __init__(self, folder: Path, number: int, seed: int) -> None:
        tokens = json.loads((folder / TOKENS).read_text("utf-8"))
        self._folder = folder
        self._number = number
        self._chance = random.Random(f"{seed}-{number}")
        self._agent, self._approver = tokens[f"agent{number // 2}"], tokens[f"approver{number}"]
        self._connection: http.client.HTTPConnection | None = None
        self._unsure: dict[str, dict[str, Any]] = {}
        self._sure: dict[str, dict[str, Any]] = {}
        self._told = (folder / f"told-{number}.jsonl").open("a", encoding="utf-8")
        self.unanswered = 0

    def run(self) -> None:
        """Act by chance until it is enough."""
        deeds = [self._submit] * 4 + [self._decide] * 4 + [self._redeem] * 3
        while not (self._folder / STOP).exists():
            self._chance.choice(deeds)()
            time.sleep(self._chance.uniform(0, _PAUSE_SECONDS))
        self._told.close()

    def _submit(self) -> None:
        chance = self._chance.random()
        if self._unsure and chance < 0.6:
            key = self._chance.choice(list(self._unsure))
        elif self._sure and chance < 0.1:
            key = self._chance.choice(list(self._sure))
        else:
            key = f"{self._number}-{len(self._sure) + len(self._unsure)}"
        body = self._unsure.get(key) or self._sure.get(key) or _asked(key)
        self._unsure[key] = body
        found = self._call("POST", "/confirm", self._agent, body, key=key)
        if found is None:
            return
        status, answer = found
        assert status == 202, (status, answer)
        del self._unsure[key]
        self._sure[key] = body
        self._note(Told("submitted", answer["id"], answer["status"], answer["digest"], key))

    def _decide(self) -> None:
        one = self._pick("/confirm?status=pending&limit=12", self._approver)
        if one is None:
            return
        verb = self._chance.choice(["approve", "approve", "approve", "deny"])
        found = self._call("POST", f"/confirm/{one['id']}/{verb}", self._approver, self._vote())
        if found is None:
            return
        status, answer = found
        if status == 200:
            values = answer["status"], "", "", answer["resolved_at"], answer["resolved_by"]
            self._note(Told("decided", one["id"], *values))
        else:
            # Lost to another one, or to the repeated vote whose answer never came.
            assert status in (403, 409), (status, answer)
            self._note(Told("seen", one["id"], answer.get("status", "pending")))

    def _vote(self) -> dict[str, str]:
        return {"reason": f"by {self._number}", "passphrase": _WORDS}

    def _redeem(self) -> None:
        one = self._pick("/confirm?unused=true&limit=12", self._agent)
        if one is None:
            return
        found = self._call("POST", f"/confirm/{one['id']}/redeem", self._agent, {"digest": one["digest"]})
        if found is None:
            return
        status, answer = found
        if status == 200:
            self._note(Told("redeemed", one["id"], "approved", answer["digest"], "", answer["redeemed_at"]))
        else:
            assert status == 409, (status, answer)

    def _pick(self, path: str, token: str) -> dict[str, Any] | None:
        """One of those that the service lists, whatever else is said about them kept as seen."""
        found = self._call("GET", path, token)
        if found is None or not found[1]["requests"]:
            return None
        one: dict[str, Any] = self._chance.choice(found[1]["requests"])
        self._note(Told("seen", one["id"], one["status"], one["digest"]))
        return one

    def _note(self, told: Told) -> None:
        self._told.write(json.dumps(told) + "\n")

    def _call(
        self, method: str, path: str, token: str, body: dict[str, Any] | None = None, key: str | None = None
    ) -> tuple[int, dict[str, Any]] | None:
        """Status and answer; None where nothing was acknowledged."""
        headers = {"Authorization": f"Bearer {token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            if self._connection is None:
                address = (self._folder / ADDRESS).read_text("utf-8").removeprefix("http://")
                self._connection = http.client.HTTPConnection(address, timeout=_SECONDS)
            self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            reply = self._connection.getresponse()
            content = reply.read()
        except (OSError, http.client.HTTPException):
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self.unanswered += 1
            time.sleep(0.03)
            return None
        if reply.status >= 500:
            assert reply.status == 503, content
            self.unanswered += 1
            return None
        return reply.status, json.loads(content)


def _asked(key: str) -> dict[str, Any]:
    return {
        "action": "send_report",
        "description": f"Send report {key}.",
        "details": {"key": key},
        "timeout_seconds": 3600,
    }


def main(folder: str, number: str, seed: str) -> None:
    """One client; prints how many of its calls were never answered."""
    client = Client(Path(folder), int(number), int(seed))
    client.run()
    print(client.unanswered)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
