"""Whoever waits is answered within a second of the decision, wherever it is made, and leaves nothing behind."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from seasoned.confirm.policy import ActionRule, Policy, RateRule
from seasoned.store import open_database
from tests.confirm.keys import revoke, unlock
from tests.confirm.serving import Serving, serving
from tests.each_case import check_each
from tests.torture import TORTURE

POLICY = Policy(rate=RateRule(count=10_000), action={"two_keys": ActionRule(approvals=2)})
MANY = 1000 if TORTURE else 150


class Clock:
    """The time, and how far it was set forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("waiting"), policy=POLICY) as found:
        yield found


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as made:
        yield made


def _wait(service: Serving, request_id: str, seconds: float = 20, name: str = "agent") -> tuple[dict[str, Any], float]:
    with service.client(name) as client:
        reply = client.get(f"/confirm/{request_id}?wait={seconds}")
    assert reply.status_code == 200, reply.text
    return reply.json(), time.monotonic()


def _count(service: Serving) -> int:
    """How many clients wait now."""
    assert service.service is not None
    return sum(map(len, list(service.service.waiting._signals.values())))


def _until_waiting(service: Serving, count: int = 1) -> None:
    """Until so many wait; 0: until nobody is left."""
    ends = time.monotonic() + 60
    while _count(service) < count or (not count and _count(service)):
        assert time.monotonic() < ends, f"{_count(service)} wait, not {count}"
        time.sleep(0.01)


def _decide_elsewhere(service: Serving, request_id: str, name: str = "alice", *, approve: bool = True) -> None:
    """By another connection, of which the service is told nothing: as another process would."""
    assert service.service is not None
    book = service.service.open_book()
    book.decide(unlock(book.database, name), request_id, approve=approve, via="terminal")
    book.database.close()


def test_one_who_waits_is_answered_when_it_is_decided_in_another_process(
    service: Serving, pool: ThreadPoolExecutor
) -> None:
    made = service.ask()
    waiting = pool.submit(_wait, service, made["id"])
    _until_waiting(service)
    _decide_elsewhere(service, made["id"])
    decided = time.monotonic()
    answer, at = waiting.result()
    assert answer["status"] == "approved"
    assert at - decided < 1


def test_many_who_wait_are_all_answered_within_a_second(service: Serving) -> None:
    made = service.ask()
    host, port = service.url.removeprefix("http://").split(":")
    token = service.tokens["agent"]
    head = f"GET /confirm/{made['id']}?wait=60 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    lines = [socket.create_connection((host, int(port)), timeout=20) for _ in range(MANY)]
    try:
        for line in lines:
            line.sendall(head.encode())
        _until_waiting(service, MANY)
        service.decide(made["id"])
        decided = time.monotonic()
        answers = [_answer(line) for line in lines]
        taken = time.monotonic() - decided
    finally:
        for line in lines:
            line.close()
    assert all(b'"status":"approved"' in answer for answer in answers)
    assert taken < 1, taken
    _until_waiting(service, 0)


def _answer(line: socket.socket) -> bytes:
    """Head and body, which may come one after the other."""
    found = b""
    while not found.endswith(b"}") and (more := line.recv(65536)):
        found += more
    return found


def test_one_who_leaves_is_forgotten(service: Serving) -> None:
    made = service.ask()
    with service.client("agent") as client, pytest.raises(httpx2.ReadTimeout):
        client.get(f"/confirm/{made['id']}?wait=60", timeout=0.3)
    _until_waiting(service, 0)


def test_seconds_that_are_none_are_named(service: Serving) -> None:
    def check(wait: str) -> None:
        with service.client("agent") as client:
            reply = client.get(f"/confirm/{service.ask()['id']}?wait={wait}")
        assert (reply.status_code, reply.json()["field"]) == (400, "wait")

    check_each(["-1", "3601", "nan", "inf", "soon", ""], check)


def test_one_who_is_revoked_while_waiting_hears_no_decision_and_keeps_it_from_no_other(
    tmp_path: Path, pool: ThreadPoolExecutor
) -> None:
    with serving(tmp_path, policy=POLICY) as found, found.client("bob") as bob:
        made = found.ask()
        gone = [pool.submit(bob.get, f"/confirm/{made['id']}?wait=60") for _ in range(3)]
        waits = pool.submit(_wait, found, made["id"])
        _until_waiting(found, 4)
        database = open_database(found.config)
        revoke(database, "bob", now=time.time())
        database.close()
        _decide_elsewhere(found, made["id"])
        assert waits.result(timeout=25)[0]["status"] == "approved"
        replies = [one.result(timeout=25) for one in gone]
    assert [reply.status_code for reply in replies] == [401] * 3
    assert not [reply for reply in replies if "approved" in reply.text]


def test_a_service_that_stops_answers_those_who_wait(tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    with serving(tmp_path, policy=POLICY) as found:
        made = found.ask()
        waiting = pool.submit(_wait, found, made["id"], 60)
        _until_waiting(found)
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    assert waiting.result(timeout=60)[0]["status"] == "pending"


def test_a_request_expires_by_itself_and_those_who_wait_are_told(tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    clock = Clock()
    with serving(tmp_path, policy=POLICY, clock=clock) as found:
        made = found.ask(timeout_seconds=30)
        waiting = pool.submit(_wait, found, made["id"])
        _until_waiting(found)
        clock.ahead = 29
        time.sleep(0.2)
        assert not waiting.done(), "not before its time"
        clock.ahead = 31
        answer, _ = waiting.result(timeout=60)
        assert (answer["status"], answer["resolved_by"]) == ("expired", "system:timeout")
        assert found.decide(made["id"]).json()["status"] == "expired"
        with found.client() as client:
            assert client.get("/health").json()["pending_count"] == 0
