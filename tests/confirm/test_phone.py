"""Buttons and webhooks decide only for people who unlocked their phone with the passphrase, for a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.notify.message import ConfiguredChannel, DecisionReply, decide_for
from seasoned.confirm.people.credential import MOST_SECONDS, UnlockedPhones
from seasoned.confirm.request.request import Request
from seasoned.errors import UsageError
from tests.confirm.keys import WORDS, revoke, unlock
from tests.confirm.people import MIRA, NOW, PEOPLE, Notified
from tests.confirm.serving import serving


def press(scene: Notified, request: Request) -> DecisionReply:
    return decide_for(scene.book, scene.channels["hook"], MIRA, request.id, approve=True)


def test_a_phone_decides_only_while_it_is_unlocked(tmp_path: Path) -> None:
    way = ConfiguredChannel(name="hook", kind="webhook", to="u", url="u", token="t", people=PEOPLE)
    with Notified(Config(home=tmp_path / "home"), {"hook": way}) as scene:
        book, request = scene.book, scene.submit()
        book.phones = UnlockedPhones()
        assert press(scene, request).sentence.startswith("Locked")
        book.phones.add(book.database, unlock(book.database, "mira", now=NOW), now=NOW, seconds=60)
        assert book.audit(1)[0].event == "phone_unlocked"
        assert press(scene, request).outcome == "decided"
        late = scene.submit()
        scene.clock.now += 60
        assert press(scene, late).sentence.startswith("Locked"), "its time is over"
        book.phones.add(book.database, unlock(book.database, "mira", now=NOW), now=scene.clock.now)
        revoke(book.database, "mira", now=scene.clock.now)
        assert press(scene, late).outcome == "refused"
        assert scene.book.look(scene.noor, late.id).status == "pending"
        assert verify(book.database).ok
        for seconds in (0, MOST_SECONDS + 1):
            with pytest.raises(UsageError, match="up to 30 days"):
                book.phones.add(book.database, unlock(book.database, "noor", now=NOW), now=NOW, seconds=seconds)


def test_a_phone_is_unlocked_over_http_with_the_passphrase_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as found, found.client("alice") as alice, found.client("agent") as agent:
        assert alice.post("/confirm/phone", json={"passphrase": "not the right words"}).status_code == 401
        assert agent.post("/confirm/phone", json={"passphrase": WORDS}).status_code == 401
        done = alice.post("/confirm/phone", json={"passphrase": WORDS, "seconds": 60}).json()
        assert (done["name"], done["channels"]) == ("alice", ["telegram", "discord", "webhook"])
        assert found.service is not None
        assert found.service.phones.until("alice", now=done["expires_at"] - 1) == done["expires_at"]
