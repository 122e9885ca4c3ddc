"""Webhooks: signed when sent, believed only when signed and fresh, and heard once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from seasoned.config import Config
from seasoned.confirm.notify.http import sign
from seasoned.confirm.notify.message import ConfiguredChannel
from seasoned.errors import UsageError
from tests.confirm.keys import unlock
from tests.confirm.other_side import Mood, Receiver
from tests.confirm.people import MIRA, NOOR, NOW, PEOPLE, SECRET, Notified
from tests.each_case import check_each

OUT_KEY = b"outgoing-key-of-the-test-0123456"
HOOK_SECRET = "whsec_" + base64.b64encode(b"incoming-key-of-the-test-0123456").decode()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(OUT_KEY) as server:
        yield server


@pytest.fixture
def scene(receiver: Receiver, tmp_path: Path) -> Iterator[Notified]:
    with Notified(Config(home=tmp_path / "home"), {"hook": _way(receiver)}) as scene:
        yield scene


@pytest.fixture
def client(scene: Notified) -> Iterator[httpx2.Client]:
    with scene.served() as client:
        yield client


def _way(receiver: Receiver, **more: Any) -> ConfiguredChannel:
    given = {
        "name": "hook",
        "kind": "webhook",
        "to": receiver.url,
        "url": receiver.url,
        "token": receiver.secret,
        "incoming_secret": HOOK_SECRET,
        "people": PEOPLE,
    }
    return ConfiguredChannel(**{**given, **more})


def _ruling(request_id: str, **more: Any) -> bytes:
    return json.dumps({"request": request_id, "person": MIRA, "approve": True, **more}).encode()


def _send(
    client: httpx2.Client, body: bytes, *, number: str = "m1", now: float = NOW, secret: str = HOOK_SECRET
) -> httpx2.Response:
    headers = sign(secret, message_id=number, now=now, body=body)
    return client.post("/confirm/hook", content=body, headers=headers)


def test_the_signature_is_the_one_of_the_standards_own_example() -> None:
    """The example that the libraries of Standard Webhooks are tested with."""
    headers = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        now=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_every_event_is_sent_once_and_signed(receiver: Receiver, scene: Notified) -> None:
    request = scene.submit(details={"table": "orders", "token": SECRET})
    scene.send_due("hook")
    scene.book.decide(scene.mira, request.id, approve=False, reason="not today")
    scene.send_due("hook")
    assert receiver.events == [("confirm.submitted", request.id), ("confirm.decided", request.id)]
    assert all(map(receiver.is_genuine, receiver.heard)) and len(set(receiver.ids)) == 2
    first, last = (one.value["data"] for one in receiver.heard)
    assert (first["status"], first["digest"], first["details"]["table"]) == ("pending", request.digest, "orders")
    assert SECRET not in receiver.heard[0].body.decode() and first["is_exact"] is False
    assert (last["status"], last["reason"], last["resolved_by"]) == ("denied", "not today", "mira")


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        (Mood(500), "answered 500"),
        (Mood(drops=True), "no connection"),
        (Mood(wait_seconds=1.0), "no answer within"),
        (Mood(429, headers={"retry-after": "9"}), "answered 429"),
        (Mood(drips=True), "no answer within"),
        (Mood(is_endless=True), "longer than 64 kB"),
    ],
    ids=["error", "hang-up", "time-out", "too many", "drips", "endless"],
)
def test_a_failed_webhook_is_sent_again_under_the_same_id(
    receiver: Receiver, scene: Notified, mood: Mood, words: str
) -> None:
    scene.submit()
    receiver.moods = [mood]
    scene.send_due("hook", answer_seconds=0.2)
    (row,) = scene.rows()
    assert words in row["last_error"]
    assert row["next_at"] == NOW + (9 if mood.status == 429 else 2)
    scene.clock.now = row["next_at"]
    scene.send_due("hook")
    assert scene.rows() == [] and len(set(receiver.ids)) == 1 and len(receiver.ids) == 2


def test_a_redirect_is_not_followed(receiver: Receiver, scene: Notified) -> None:
    scene.submit()
    with Receiver(OUT_KEY) as elsewhere:
        receiver.moods = [Mood(307, headers={"location": elsewhere.url})]
        scene.send_due("hook")
        assert elsewhere.heard == [] and "final address" in scene.rows()[0]["last_error"]


def test_a_person_decides_by_webhook(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    answer = _send(client, _ruling(request.id, approve=False, reason="no"))
    assert (answer.status_code, answer.json()["outcome"], answer.json()["status"]) == (200, "decided", "denied")
    decided = scene.look(request)
    assert (decided.resolved_by, decided.reason, decided.votes[0].via) == ("mira", "no", "webhook")


def test_malformed_webhook_fails_closed(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    good = json.loads(_ruling(request.id))
    bodies = [
        b"",
        b"{",
        b"null",
        b"[" * 5000,
        b"\xff",
        *(json.dumps({**good, **change}).encode() for change in ({"approve": "yes"}, {"approve": 1}, {"extra": 1})),
        *(json.dumps({name: good[name] for name in good if name != missing}).encode() for missing in good),
        json.dumps({**good, "channel": "phone"}).encode(),
        json.dumps({**good, "reason": "x\x00"}).encode(),
    ]
    for number, body in enumerate(bodies):
        answer = _send(client, body, number=f"m{number}")
        assert answer.status_code == 400, body
        assert answer.json()["error"]
    assert _send(client, b"x" * 300_000).status_code == 413
    assert scene.look(request).status == "pending"


def test_an_unsigned_stale_or_forged_webhook_decides_nothing(scene: Notified, client: httpx2.Client) -> None:
    request = scene.submit()
    body = _ruling(request.id)
    good = sign(HOOK_SECRET, message_id="m1", now=NOW, body=body)
    forged: list[Any] = [
        {},
        {**good, "webhook-id": "m2"},
        {**good, "webhook-id": ""},
        {**good, "webhook-timestamp": str(int(NOW) + 1)},
        {**good, "webhook-timestamp": "soon"},
        {**good, "webhook-timestamp": "-1"},
        {**good, "webhook-signature": ""},
        {**good, "webhook-signature": "v1,"},
        {**good, "webhook-signature": good["webhook-signature"].replace("v1,", "v1a,")},
        [*good.items(), ("webhook-id", "m2")],
        sign(HOOK_SECRET, message_id="m1", now=NOW - 301, body=body),
        sign(HOOK_SECRET, message_id="m1", now=NOW + 301, body=body),
        # The secret that we sign with is none to decide with.
        sign("whsec_" + base64.b64encode(OUT_KEY).decode(), message_id="m1", now=NOW, body=body),
    ]
    for headers in forged:
        assert client.post("/confirm/hook", content=body, headers=headers).status_code == 401
    assert client.post("/confirm/hook", content=body + b" ", headers=good).status_code == 401
    assert scene.look(request).status == "pending"


def test_duplicate_webhook_idempotent(receiver: Receiver, tmp_path: Path) -> None:
    with Notified(Config(home=tmp_path / "two"), {"hook": _way(receiver)}, approvals=2) as scene:
        request = scene.submit()
        with scene.served() as client:
            first = _send(client, _ruling(request.id))
            assert first.json()["outcome"] == "counted"
            assert _send(client, _ruling(request.id), now=NOW + 20).status_code == 403, "the same message again"
            assert _send(client, _ruling(request.id), number="m2").status_code == 403, "same person again"
            assert len(scene.look(request).votes) == 1
            assert _send(client, _ruling(request.id, person=NOOR), number="m3").json()["status"] == "approved"
            late = _send(client, _ruling(request.id, person=NOOR, approve=False), number="m4")
            assert late.status_code in (403, 409)
        assert scene.look(request).status == "approved"


def test_a_weak_secret_is_refused_with_what_to_do() -> None:
    def check(secret: str) -> None:
        with pytest.raises(UsageError, match="secret"):
            sign(secret, message_id="m", now=NOW, body=b"")

    check_each(["short", "whsec_%%%", "whsec_c2hvcnQ="], check)


def test_what_was_refused_before_the_phone_was_unlocked_never_counts_later(
    scene: Notified, client: httpx2.Client
) -> None:
    """A webhook that was overheard could be sent again within its five minutes."""
    request = scene.submit()
    scene.phones._known.clear()
    assert _send(client, _ruling(request.id)).json()["sentence"].startswith("Locked")
    scene.clock.now += 10
    mira = unlock(scene.book.database, "mira", now=scene.clock.now)
    scene.phones.add(scene.book.database, mira, now=scene.clock.now)
    assert _send(client, _ruling(request.id)).json()["sentence"].startswith("Locked")
    assert scene.look(request).status == "pending"
    assert _send(client, _ruling(request.id), now=scene.clock.now, number="m2").json()["outcome"] == "decided"
