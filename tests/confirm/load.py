"""Clients under which the service is killed: they submit, decide and redeem, and keep what was acknowledged."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from seasoned.config import Config
from seasoned.confirm.audit.verify import verify
from seasoned.store import open_database
from tests.confirm.keys import WORDS, make_person

CLIENTS = 8
_ANSWER_SECONDS = 10.0
_PAUSE_SECONDS = 0.004
_FINAL = {"approved", "denied", "expired"}
_ALL = {"requester": None, "status": None, "unused": 0, "limit": 10_000_000, "before": None}


class Told(NamedTuple):
    """One thing that the service acknowledged to one client."""

    what: str
    """submitted, decided, redeemed; acted, denied, lost: how it ended for the agent; seen: what an answer said."""
    id: str
    status: str
    digest: str = ""
    key: str = ""
    at: float | None = None
    by: str | None = None


class Load:
    """What the clients share: tokens, where the service is now, and what they were told."""

    def __init__(self, config: Config) -> None:
        self.address = ""
        # The request of the agent in a process of its own, which is decided before those of the others.
        self.first: Callable[[], str | None] = lambda: None
        self.told: list[Told] = []
        self.unanswered = 0
        self.problems: list[BaseException] = []
        self.is_over = threading.Event()
        database = open_database(config)
        names = [*(f"agent{number}" for number in range(CLIENTS // 2)), "lone"]
        self.tokens = {name: make_person(database, name, "agent", now=time.time())[1] for name in names}
        for number in range(CLIENTS):
            name = f"approver{number}"
            self.tokens[name] = make_person(database, name, "approver", now=time.time())[1]
        database.close()

    def count(self, what: str) -> int:
        return sum(one.what == what for one in list(self.told))


class Client(threading.Thread):
    """A thread with an agent's credential, shared with another one, and an approver's of its own."""

    def __init__(self, load: Load, number: int, seed: int) -> None:
        super().__init__(name=f"client-{number}")
        self._load, self._number = load, number
        self._chance = random.Random(f"{seed}-{number}")
        self._agent, self._approver = load.tokens[f"agent{number // 2}"], load.tokens[f"approver{number}"]
        self._connection: http.client.HTTPConnection | None = None
        self._asked: dict[str, bool] = {}
        """Idempotency keys, and whether the submission was acknowledged."""

    def run(self) -> None:
        deeds = [self._submit] * 4 + [self._decide] * 4 + [self._redeem] * 3
        try:
            while not self._load.is_over.is_set():
                self._chance.choice(deeds)()
                time.sleep(self._chance.uniform(0, _PAUSE_SECONDS))
        except BaseException as error:  # noqa: BLE001 (the test raises it)
            self._load.problems.append(error)
        finally:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _submit(self) -> None:
        key = f"{self._number}-{len(self._asked)}"
        unsure = [one for one, is_sure in self._asked.items() if not is_sure]
        if self._asked and self._chance.random() < (0.6 if unsure else 0.1):
            key = self._chance.choice(unsure or list(self._asked))
        self._asked.setdefault(key, False)
        body = {"action": "send_report", "description": f"Send report {key}.", "timeout_seconds": 3600}
        if (answer := self._call("POST", "/confirm", self._agent, body, expect=(202,), key=key)) is not None:
            self._asked[key] = True
            self._note("submitted", answer["id"], answer["status"], answer["digest"], key)

    def _decide(self) -> None:
        if self._chance.random() < 0.3 and (first := self._load.first()) is not None:
            one = {"id": first}
        elif (found := self._pick("/confirm?status=pending&limit=12", self._approver)) is not None:
            one = found
        else:
            return
        path = f"/confirm/{one['id']}/{self._chance.choice(['approve', 'approve', 'approve', 'deny'])}"
        body = {"reason": f"by {self._number}", "passphrase": WORDS}
        # Others are quicker, or the vote whose answer never came is repeated.
        answer = self._call("POST", path, self._approver, body, expect=(200, 403, 409))
        if answer is not None and "resolved_at" in answer:
            self._note("decided", one["id"], answer["status"], at=answer["resolved_at"], by=answer["resolved_by"])
        elif answer is not None:
            self._note("seen", one["id"], answer.get("status", "pending"))

    def _redeem(self) -> None:
        if (one := self._pick("/confirm?unused=true&limit=12", self._agent)) is None:
            return
        path, body = f"/confirm/{one['id']}/redeem", {"digest": one["digest"]}
        answer = self._call("POST", path, self._agent, body, expect=(200, 409))
        if answer is not None and "redeemed_at" in answer:
            self._note("redeemed", one["id"], "approved", answer["digest"], at=answer["redeemed_at"])

    def _pick(self, path: str, token: str) -> dict[str, Any] | None:
        """One of those that the service lists."""
        found = self._call("GET", path, token, expect=(200,))
        if found is None or not found["requests"]:
            return None
        one: dict[str, Any] = self._chance.choice(found["requests"])
        self._note("seen", one["id"], one["status"], one["digest"])
        return one

    def _note(self, *values: Any, **more: Any) -> None:
        self._load.told.append(Told(*values, **more))

    def _call(
        self, method: str, path: str, token: str, body: Any = None, *, expect: Sequence[int], key: str = ""
    ) -> dict[str, Any] | None:
        """The answer; None where nothing was acknowledged."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        try:
            if self._connection is None:
                address = self._load.address.removeprefix("http://")
                self._connection = http.client.HTTPConnection(address, timeout=_ANSWER_SECONDS)
            self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            reply = self._connection.getresponse()
            content = reply.read()
        except (OSError, http.client.HTTPException):
            self._hang_up()
            self._load.unanswered += 1
            time.sleep(0.03)
            return None
        if reply.status == 503:
            self._load.unanswered += 1
            return None
        assert reply.status in expect, (reply.status, content)
        return dict(json.loads(content))


def judge(config: Config, told: Sequence[Told]) -> Counter[str]:
    """Nothing acknowledged is lost, decided twice or redeemed twice, and the audit holds; how much there was."""
    database = open_database(config)
    try:
        rows = {str(row["id"]): row for row in database.rows("confirm.requests", _ALL)}
        events = Counter((str(row["request_id"]), str(row["event"])) for row in database.rows("confirm.audit_all"))
        audit = verify(database)
    finally:
        database.close()
    assert audit.ok, audit
    by_key: dict[str, str] = {}
    for one in told:
        row = rows.get(one.id)
        assert row is not None, f"lost: {one}"
        assert not one.digest or row["digest"] == one.digest, f"another one than it was: {one}"
        if one.status in _FINAL:
            assert row["status"] == one.status, f"taken back: {one}, now {row['status']}"
        if one.what == "submitted":
            assert by_key.setdefault(one.key, one.id) == one.id, f"one key, two requests: {one}"
        elif one.what == "decided":
            assert (row["resolved_at"], row["resolved_by"]) == (one.at, one.by), f"decided anew: {one}"
        elif one.what == "redeemed":
            assert row["redeemed_at"] == one.at, f"redeemed anew: {one}"
        elif one.what in ("acted", "lost"):
            assert row["redeemed_at"] is not None, f"not redeemed: {one}"
    won = Counter((one.what, one.id) for one in told if one.what in ("decided", "redeemed", "acted"))
    assert max(won.values(), default=0) <= 1, "two were told that they had won"
    keys = Counter(row["description"] for row in rows.values())
    assert max(keys.values(), default=0) <= 1, "a repeated submission made a second request"
    for name, row in rows.items():
        assert events[name, "submitted"] == 1, name
        assert sum(events[name, event] for event in _FINAL) == (row["status"] != "pending"), name
        assert events[name, "redeemed"] == (row["redeemed_at"] is not None), name
    return Counter(one.what for one in told) + Counter(requests=len(rows), audit=audit.rows)
