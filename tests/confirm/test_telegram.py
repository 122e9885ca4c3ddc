"""Telegram: what is sent, whose press counts, and that nothing of it decides by accident."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.confirm.notify.chat import Poller, Telegram, receive_update
from seasoned.confirm.notify.http import NotSent, open_client
from seasoned.confirm.notify.message import ConfiguredChannel
from tests.confirm.keys import make_person, unlocked_phones
from tests.confirm.other_side import Mood, TelegramServer, closed_url
from tests.confirm.people import MIRA, NOOR, NOW, PEOPLE, SECRET, STRANGER, Notified

CHAT = -100200


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


@pytest.fixture
def scene(telegram: TelegramServer, tmp_path: Path) -> Iterator[Notified]:
    with Notified(Config(home=tmp_path / "home"), {"phone": _way(telegram.url)}) as scene:
        yield scene


def _way(url: str, **more: Any) -> ConfiguredChannel:
    given = {
        "name": "phone",
        "kind": "telegram",
        "to": str(CHAT),
        "url": url,
        "token": TelegramServer.token,
        "people": PEOPLE,
    }
    return ConfiguredChannel(**{**given, **more})


def _press(telegram: TelegramServer, scene: Notified, data: str, sender: str, **more: Any) -> dict[str, Any]:
    update = telegram.press(data, sender=int(sender), chat=more.pop("chat", CHAT), **more)
    reply = receive_update(scene.book, list(scene.channels.values()), json.dumps(update).encode())
    assert reply is not None
    return reply


def test_a_request_is_shown_with_all_that_matters_and_two_buttons(telegram: TelegramServer, scene: Notified) -> None:
    request = scene.submit(label="nightly")
    assert scene.send_due("phone") == 1
    said = telegram.messages[1]
    for text in ("delete_data", "Remove old rows", "orders", "builder", "nightly", request.digest, request.id):
        assert text in said["text"]
    (row,) = said["reply_markup"]["inline_keyboard"]
    assert [one["text"] for one in row] == ["Approve", "Deny"]
    assert [one["callback_data"] for one in row] == [f"a:{request.id}", f"d:{request.id}"]
    assert all(len(one["callback_data"].encode()) <= 64 for one in row)
    assert scene.rows() == []


def test_secrets_leave_as_tags_and_the_message_says_so(telegram: TelegramServer, scene: Notified) -> None:
    scene.submit(description=f"push with {SECRET}", details={"env": {"GITHUB_TOKEN": SECRET}})
    scene.send_due("phone")
    text = telegram.messages[1]["text"]
    assert SECRET not in text and "redacted:" in text
    assert "Secrets are shown as tags" in text


@pytest.mark.parametrize(("verb", "status", "title"), [("a", "approved", "Approved"), ("d", "denied", "Denied")])
def test_an_approver_decides_by_a_press_and_the_message_is_edited(
    telegram: TelegramServer, scene: Notified, verb: str, status: str, title: str
) -> None:
    request = scene.submit()
    scene.send_due("phone")
    reply = _press(telegram, scene, f"{verb}:{request.id}", MIRA)
    assert (reply["method"], reply["text"]) == ("answerCallbackQuery", f"{title}: delete_data.")
    decided = scene.look(request)
    assert (decided.status, decided.resolved_by, decided.votes[0].via) == (status, "mira", "telegram")
    scene.send_due("phone")
    assert len(telegram.messages) == 1
    assert telegram.messages[1]["reply_markup"] == {"inline_keyboard": []}
    assert f"<b>{title}</b>" in telegram.messages[1]["text"] and "mira" in telegram.messages[1]["text"]


def test_nobody_but_an_approver_in_the_chat_decides_by_a_press(telegram: TelegramServer, scene: Notified) -> None:
    request = scene.submit()
    scene.send_due("phone")
    others: list[tuple[str, str, dict[str, Any]]] = [("a", STRANGER, {}), ("d", STRANGER, {})]
    others += [("a", MIRA, {"chat": -5}), ("a", MIRA, {"is_bot": True})]
    for verb, sender, more in others:
        assert _press(telegram, scene, f"{verb}:{request.id}", sender, **more)["text"].startswith("Not allowed")
    assert scene.look(request).status == "pending"
    assert scene.send_due("phone") == 0
    assert telegram.messages[1]["reply_markup"]["inline_keyboard"] != []


def test_whoever_decides_may_decide_where_the_policy_lists_them(telegram: TelegramServer, tmp_path: Path) -> None:
    """An admin decides like an approver; an agent's credential decides nowhere."""
    people = {MIRA: "root", NOOR: "builder"}
    with Notified(Config(home=tmp_path / "own"), {"phone": _way(telegram.url, people=people)}) as scene:
        make_person(scene.book.database, "root", "admin", now=NOW)
        scene.book.phones = unlocked_phones(scene.book.database, "root", now=NOW)
        request = scene.submit()
        assert _press(telegram, scene, f"a:{request.id}", NOOR)["text"].startswith("Not allowed")
        assert _press(telegram, scene, f"a:{request.id}", MIRA)["text"] == "Approved: delete_data."
        assert scene.look(request).resolved_by == "root"


def test_an_expired_request_is_edited_and_no_press_revives_it(telegram: TelegramServer, scene: Notified) -> None:
    request = scene.submit()
    scene.send_due("phone")
    scene.clock.now = request.expires_at + 1
    assert _press(telegram, scene, f"a:{request.id}", MIRA)["text"].startswith("Nothing was changed")
    scene.send_due("phone")
    assert "<b>Expired</b>" in telegram.messages[1]["text"]
    assert telegram.messages[1]["reply_markup"] == {"inline_keyboard": []}


def test_long_polling_hears_presses_and_answers_them(telegram: TelegramServer, scene: Notified) -> None:
    request = scene.submit()
    stop = threading.Event()
    poller = Poller(list(scene.channels.values()), scene.open_book, poll_seconds=1)
    telegram.moods = [Mood(500)]
    thread = threading.Thread(target=poller.run, args=(stop,))
    thread.start()
    try:
        with telegram.changed:
            telegram.updates = [
                telegram.press(f"a:{request.id}", sender=int(STRANGER), chat=CHAT, update_id=31),
                {"update_id": 32, "message": {"text": "hello"}},
                telegram.press(f"a:{request.id}", sender=int(MIRA), chat=CHAT, update_id=33),
            ]
            telegram.changed.notify_all()
        telegram.wait_for(lambda: len(telegram.answers) == 2)
        telegram.wait_for(lambda: telegram.heard[-1].path.endswith("getUpdates"))
    finally:
        stop.set()
        telegram.close()
        thread.join()
    assert [one["text"].split(":")[0] for one in telegram.answers] == ["Not allowed", "Approved"]
    assert telegram.heard[-1].value["offset"] == 34
    assert scene.look(request).status == "approved"


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        (Mood(403, b'{"ok": false, "description": "bot was blocked"}'), "bot was blocked"),
        (Mood(body=b"<html>hotel wifi</html>"), "not from Telegram's"),
        (Mood(body=b'{"ok": true, "result": true}'), "no message_id"),
    ],
)
def test_what_goes_wrong_is_kept_and_tried_again(
    telegram: TelegramServer, scene: Notified, mood: Mood, words: str
) -> None:
    scene.submit()
    telegram.moods = [mood]
    scene.send_due("phone", answer_seconds=0.3)
    (row,) = scene.rows()
    assert words in row["last_error"] and row["attempts"] == 1
    assert scene.send_due("phone") == 0, "not before its time"
    scene.clock.now += 2
    assert scene.send_due("phone") == 1
    assert scene.rows() == [] and len(telegram.messages) == 1


def test_the_token_is_in_no_log_and_no_error(
    telegram: TelegramServer, scene: Notified, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    scene.submit()
    telegram.moods = [Mood(500, f"failed: /bot{telegram.token}/sendMessage".encode())]
    scene.send_due("phone")
    kept = scene.rows()[0]["last_error"]
    scene.clock.now += 2
    scene.send_due("phone")
    with open_client() as client, pytest.raises(NotSent) as refused:
        Telegram(_way(closed_url()), client).ask("getMe", {})
    said = caplog.text + kept + str(refused.value) + repr(scene.channels["phone"])
    assert telegram.token not in said and telegram.token.partition(":")[2] not in said
