"""An agent with its own credential, the path of the store and the source code tries to get its own request approved.

Every test is one way to try over HTTP. `test_forgery` has what a program does that can write the database itself.
"""

from __future__ import annotations

import contextlib
import socket
import sqlite3
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from seasoned.confirm.policy import AllowRule, Policy, RateRule
from seasoned.confirm.request.request import NewRequest, request_digest
from tests.confirm.serving import ASKED, Serving, serving
from tests.each_case import check_each

RISKY = {**ASKED, "action": "deploy_production"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    policy = Policy(rate=RateRule(count=100_000), allow=(AllowRule(action="read_mail"),))
    with serving(tmp_path_factory.mktemp("adversary"), policy=policy) as found:
        yield found


@pytest.fixture
def target(service: Serving) -> Iterator[dict[str, Any]]:
    """The agent's own request for something risky; whatever a test tries, nobody has approved it at the end."""
    made = service.ask(**RISKY)
    yield made
    shown = service.look(made["id"])
    assert shown["status"] == "pending"
    assert shown["votes"] == []
    assert shown["redeemed_at"] is None


def _raw(service: Serving, *lines: str, body: bytes = b"") -> bytes:
    """Bytes as they are, since clients tidy up what they send."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        head = "\r\n".join([*lines, "Host: x", "Connection: close", "", ""])
        line.sendall(head.encode("latin-1") + body)
        found = b""
        with contextlib.suppress(ConnectionError):
            while more := line.recv(65536):
                found += more
    return found


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def _bearer(service: Serving, name: str = "agent") -> str:
    return f"Authorization: Bearer {service.tokens[name]}"


# Who asks


def test_the_hash_that_the_store_holds_is_no_token(service: Serving, target: dict[str, Any]) -> None:
    with contextlib.closing(sqlite3.connect(service.config.store_path)) as store:
        hashes = [row[0] for row in store.execute("SELECT token_hash FROM credential WHERE role <> 'agent'")]
        names = [row[0] for row in store.execute("SELECT id FROM credential WHERE role <> 'agent'")]
    assert hashes
    for text in (*hashes, *names, *(f"ssn_approver_{one[:43]}" for one in hashes)):
        with service.client(headers={"Authorization": f"Bearer {text}"}) as client:
            assert client.post(f"/confirm/{target['id']}/approve").status_code == 401


def test_a_token_in_the_address_counts_for_nothing(service: Serving, target: dict[str, Any]) -> None:
    """Not even a real one: addresses end up in logs."""
    with service.client() as client:
        for name in ("token", "access_token", "Authorization", "bearer"):
            path = f"/confirm/{target['id']}/approve?{urlencode({name: service.tokens['alice']})}"
            assert client.post(path).status_code == 401


def test_two_authorization_headers_are_as_good_as_none(service: Serving, target: dict[str, Any]) -> None:
    forged = "Authorization: Bearer ssn_admin_" + "A" * 43
    for pair in ((_bearer(service), forged), (forged, _bearer(service)), (_bearer(service), _bearer(service))):
        answer = _raw(service, f"POST /confirm/{target['id']}/approve HTTP/1.1", *pair, "Content-Length: 0")
        assert _status(answer) == 401


# What is asked


def test_fields_that_only_the_service_sets_are_not_taken_from_a_body(service: Serving) -> None:
    more = {
        "status": "approved", "resolved_by": "alice", "resolved_at": 1.0, "role": "admin", "quorum": 0, "votes": [],
        "auto_approve": True, "id": "mine", "redeem_before": 9e9, "person": "alice", "single_operator": True,
    }  # fmt: skip
    made = service.ask(**RISKY, **more)
    shown = service.look(made["id"])
    assert (shown["status"], shown["requester"], shown["quorum"]) == ("pending", "agent", 1)
    assert shown["id"] != "mine"


def test_of_a_name_that_is_there_twice_one_is_asked_and_shown_and_bound(service: Serving) -> None:
    """No reader sees the harmless one while the other one is granted."""
    body = b'{"action": "read_mail", "description": "d", "action": "deploy_production", "details": {"a": 1, "a": 2}}'
    with service.client("agent") as client:
        made = client.post("/confirm", content=body, headers={"Content-Type": "application/json"}).json()
    shown = service.look(made["id"])
    assert (made["status"], shown["action"], shown["details"]) == ("pending", "deploy_production", {"a": 2})
    asked = NewRequest(action="deploy_production", description="d", details={"a": 2})
    assert made["digest"] == request_digest(asked, "agent")


# Where it is sent


def test_an_id_that_is_none_finds_nothing(service: Serving, target: dict[str, Any]) -> None:
    def check(guess: str) -> None:
        path = guess.format(id=target["id"]).replace(" ", "%20")
        answer = _raw(service, f"POST /confirm/{path}/approve HTTP/1.1", _bearer(service, "alice"), "Content-Length: 0")
        assert _status(answer) == 404

    check_each(["*", "%25", "_", "null", "undefined", "0", "-1", "..", "{id}x", "{id} ", "%00{id}", "ALL"], check)


# When, and how often


def test_another_agent_cannot_use_what_was_approved_for_this_one(service: Serving) -> None:
    made = service.ask(**RISKY)
    service.decide(made["id"])
    for name, status in (("other", 404), ("bob", 403)):
        with service.client(name) as client:
            reply = client.post(f"/confirm/{made['id']}/redeem", json={"digest": made["digest"]})
        assert reply.status_code == status
