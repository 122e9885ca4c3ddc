"""The outbox: what was written arrives, once where it can be known, after crashes too, and holds up nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.confirm.notify.http import open_client
from seasoned.confirm.notify.message import ConfiguredChannel, load_channels
from seasoned.confirm.notify.notifier import ATTEMPTS, LEASE_SECONDS, Notifier, unsent
from seasoned.confirm.policy import Channel, Policy
from tests.confirm.other_side import Mood, Receiver, TelegramServer
from tests.confirm.people import PEOPLE, Notified

KEY = b"outgoing-key-of-the-test-0123456"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(KEY) as server:
        yield server


@pytest.fixture
def scene(receiver: Receiver, database_config: Config) -> Iterator[Notified]:
    with Notified(database_config, {"hook": _way(receiver)}) as scene:
        yield scene


def _way(receiver: Receiver, name: str = "hook", **more: Any) -> ConfiguredChannel:
    given = {"to": receiver.url, "url": receiver.url, "token": receiver.secret, "people": PEOPLE, **more}
    return ConfiguredChannel(name=name, kind="webhook", **given)


def test_it_is_given_up_after_the_stated_number_with_the_error_visible(receiver: Receiver, scene: Notified) -> None:
    request = scene.submit()
    receiver.moods = [Mood(500)] * ATTEMPTS
    for _ in range(ATTEMPTS + 3):
        scene.send_due("hook")
        scene.clock.now += 300
    assert len(receiver.heard) == ATTEMPTS
    (left,) = unsent(scene.book.database, limit=9)
    assert (left.request_id, left.attempts, left.is_given_up) == (request.id, ATTEMPTS, True)
    assert left.last_error is not None and "answered 500" in left.last_error


def test_a_receiver_that_is_gone_for_good_is_given_up_at_once(receiver: Receiver, scene: Notified) -> None:
    scene.submit()
    receiver.moods = [Mood(410)]
    scene.send_due("hook")
    scene.clock.now += 10_000
    assert scene.send_due("hook") == 0
    assert unsent(scene.book.database, limit=9)[0].is_given_up


def test_two_services_do_not_send_one_notification_twice(receiver: Receiver, scene: Notified) -> None:
    requests = [scene.submit().id for _ in range(24)]
    begin = threading.Barrier(4)
    counts: list[int] = []

    def send() -> None:
        book = scene.open_book()
        with open_client() as client:
            outbox = scene.outbox("hook", client, book=book)
            begin.wait()
            counts.append(outbox.send_due())
        book.database.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 24
    assert sorted(request for _, request in receiver.events) == sorted(requests)


def test_a_sender_that_vanished_is_replaced_after_its_lease(receiver: Receiver, scene: Notified) -> None:
    scene.submit()
    with open_client() as client:
        first = scene.outbox("hook", client)
        row = first._claim()
        assert row is not None
        assert scene.send_due("hook") == 0, "it is somebody's"
        scene.clock.now += LEASE_SECONDS
        assert scene.send_due("hook") == 1
        assert receiver.ids == [row["id"]]
        first._try(row)
    assert receiver.ids == [row["id"]] * 2, "late, and known as a copy by its id"
    assert scene.rows() == []


_CHILD = """
import sys
from pathlib import Path
from seasoned.config import Config
from seasoned.confirm.notify.message import ConfiguredChannel
from tests.confirm.people import Notified, PEOPLE

home, url, receiver, secret, how = sys.argv[1:]
way = ConfiguredChannel(name="hook", kind="webhook", to=receiver, url=receiver, token=secret, people=PEOPLE)
scene = Notified(Config(home=Path(home), database_url=url or None), {"hook": way})
request = scene.submit()
print(request.id, flush=True)
if how == "sending":
    scene.send_due("hook", answer_seconds=60.0)
else:
    sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["written", "sending"])
def test_a_kill_before_or_while_it_is_sent_loses_nothing(receiver: Receiver, database_config: Config, how: str) -> None:
    """Kill -9 when nothing of it is sent, or while the receiver has the notification and has not answered."""
    receiver.moods = [Mood(wait_seconds=60.0)] if how == "sending" else []
    where = (str(database_config.home), database_config.database_url or "", receiver.url, receiver.secret)
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, *where, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdin is not None and child.stdout is not None
    with child.stdin, child.stdout:
        request_id = child.stdout.readline().strip()
        if how == "sending":
            receiver.wait_for(lambda: len(receiver.heard) == 1)
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    before = len(receiver.heard)
    with Notified(database_config, {"hook": _way(receiver)}) as scene:
        (row,) = scene.rows()
        assert (row["request_id"], row["attempts"]) == (request_id, before)
        scene.clock.now = row["next_at"]
        notifier = Notifier(scene.open_book, scene.channels)
        notifier.start()
        receiver.wait_for(lambda: len(receiver.heard) == before + 1)
        notifier.stop()
        assert receiver.events[-1] == ("confirm.submitted", request_id)
        assert set(receiver.ids) == {row["id"]}


def test_a_slow_receiver_holds_up_no_decision_and_no_other_channel(database_config: Config) -> None:
    with Receiver(KEY) as slow, Receiver(KEY) as swift:
        ways = {"slow": _way(slow, "slow"), "swift": _way(swift, "swift")}
        with Notified(database_config, ways) as scene:
            slow.moods = [Mood(wait_seconds=30.0)]
            notifier = Notifier(scene.open_book, ways)
            notifier.start()
            request = scene.submit()
            notifier.wake()
            slow.wait_for(lambda: len(slow.heard) == 1)
            began = time.monotonic()
            scene.book.decide(scene.mira, request.id, approve=True)
            notifier.wake()
            swift.wait_for(lambda: len(swift.heard) == 2)
            assert time.monotonic() - began < 3.0
            assert len(slow.heard) == 1
            slow.let_go()
            notifier.stop()


def test_what_is_decided_while_it_is_being_sent_is_shown_as_decided(tmp_path: Path) -> None:
    with TelegramServer() as telegram, _chat(telegram, tmp_path) as scene:
        request = scene.submit()
        send = telegram.answer

        def decide_meanwhile(heard: Any) -> Any:
            answer = send(heard)
            if heard.path.endswith("sendMessage"):
                book = scene.open_book()
                book.decide(scene.mira, request.id, approve=True)
                book.database.close()
                _send_decision(scene)
            return answer

        telegram.answer = decide_meanwhile
        scene.send_due("phone")
        assert "<b>Approved</b>" in telegram.messages[1]["text"]
        assert telegram.messages[1]["reply_markup"] == {"inline_keyboard": []}


def _send_decision(scene: Notified) -> None:
    """As another thread of the service does: it finds no message to bring up to date yet."""
    book = scene.open_book()
    with open_client() as client:
        assert scene.outbox("phone", client, book=book).send_due() == 1
    book.database.close()


def _chat(telegram: TelegramServer, tmp_path: Path) -> Notified:
    way = ConfiguredChannel(
        name="phone", kind="telegram", to="5", url=telegram.url, token=telegram.token, people=PEOPLE
    )
    return Notified(Config(home=tmp_path / "home"), {"phone": way})


def test_a_way_is_a_channel_of_the_policy_with_its_secrets(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from-the-file\n")
    policy = Policy(
        channel={
            "phone": Channel(kind="telegram", to="5", token_file=file, people={"1": "mira"}),
            "ops": Channel(kind="discord", to="6", public_key="ab"),
            "hook": Channel(kind="webhook", to="https://h.test/x"),
        }
    )
    environment = {"SEASONED_DISCORD_TOKEN": "d", "SEASONED_WEBHOOK_SECRET": "w"}
    ways = load_channels(policy, Config(home=tmp_path), environment)
    phone, ops, hook = ways["phone"], ways["ops"], ways["hook"]
    assert (phone.token, phone.url) == ("from-the-file", "https://api.telegram.org")
    assert (ops.token, ops.incoming_secret) == ("d", "ab")
    assert (hook.token, hook.url, hook.incoming_secret) == ("w", "https://h.test/x", "")
    assert "from-the-file" not in repr(ways)
