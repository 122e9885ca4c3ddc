"""Telegram, Discord and webhooks: what is sent, whose word counts, and that nothing of it decides by accident."""

from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from seasoned.config import Config
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.notify.chat import Poller, Telegram, receive_update
from seasoned.confirm.notify.http import NotSent, open_client, sign
from seasoned.confirm.notify.message import ConfiguredChannel, DecisionReply, decide_for
from seasoned.confirm.people.credential import MOST_SECONDS, UnlockedPhones
from seasoned.confirm.request.request import Request
from seasoned.errors import UsageError
from tests.confirm.keys import make_person, revoke, unlock, unlocked_phones
from tests.confirm.other_side import DiscordServer, Mood, Receiver, TelegramServer, closed_url
from tests.confirm.people import MIRA, NOOR, NOW, PEOPLE, SECRET, STRANGER, Notified
from tests.each_case import check_each

ROOM = "880088"
OUT_KEY = b"outgoing-key-of-the-test-0123456"
HOOK_SECRET = "whsec_" + base64.b64encode(b"incoming-key-of-the-test-0123456").decode()


@dataclass
class Side:
    """A channel of one kind: the server at its other end, the book, and what people do there."""

    server: Any
    scene: Notified
    client: httpx2.Client
    presses: int = 0

    def send_due(self, **more: Any) -> int:
        return self.scene.send_due("way", **more)

    def post(self, body: bytes, headers: Any) -> httpx2.Response:
        kind = "discord" if isinstance(self.server, DiscordServer) else "hook"
        return self.client.post(f"/confirm/{kind}", content=body, headers=headers)

    def say(self, said: Any, *, number: str = "m1", now: float = NOW) -> httpx2.Response:
        """Signed as Discord or a webhook's sender signs it."""
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        return self.post(body, _signed(self.server, body, number=number, now=now))

    def press(self, data: str, sender: str = MIRA, *, room: str = ROOM, is_bot: bool = False) -> str:
        """A press of a button in a chat; what the one who pressed it is told."""
        self.presses += 1
        if isinstance(self.server, TelegramServer):
            at = {"sender": int(sender), "chat": int(room), "update_id": self.presses, "is_bot": is_bot}
            update = json.dumps(self.server.press(data, **at)).encode()  # type: ignore[arg-type]
            reply = receive_update(self.scene.book, list(self.scene.channels.values()), update)
            assert reply is not None and reply["method"] == "answerCallbackQuery"
            return str(reply["text"])
        press = self.server.press(data, sender=sender, channel=room, number=f"{self.presses}")
        press["member"]["user"]["bot"] = is_bot
        return _whispered(self.say(press, now=self.scene.clock.now))

    def shown(self) -> tuple[str, list[str]]:
        """What stands in the only message, its title in bold, and what its buttons send."""
        (said,) = self.server.messages.values()
        if isinstance(self.server, TelegramServer):
            rows, text, name = said["reply_markup"]["inline_keyboard"], said["text"], "callback_data"
        else:
            (embed,) = said["embeds"]
            rows = [row["components"] for row in said["components"]]
            text, name = f"<b>{embed['title']}</b>\n{embed['description']}".replace("\\", ""), "custom_id"
        return text, [one[name] for row in rows for one in row]


def _whispered(answer: httpx2.Response) -> str:
    said = answer.json()
    assert (said["type"], said["data"]["flags"]) == (4, 64), "only the one who pressed sees it"
    return str(said["data"]["content"]).replace("\\", "")


def _signed(server: Any, body: bytes, *, number: str = "m1", now: float = NOW) -> dict[str, str]:
    if isinstance(server, DiscordServer):
        return server.sign(body, now)
    return sign(HOOK_SECRET, message_id=number, now=now, body=body)


def _way(server: Any, **more: Any) -> ConfiguredChannel:
    given = {"name": "way", "to": ROOM, "url": server.url, "people": PEOPLE}
    if isinstance(server, Receiver):
        given |= {"kind": "webhook", "to": server.url, "token": server.secret, "incoming_secret": HOOK_SECRET}
    elif isinstance(server, DiscordServer):
        given |= {"kind": "discord", "token": server.token, "incoming_secret": server.public_key}
    else:
        given |= {"kind": "telegram", "token": server.token}
    return ConfiguredChannel(**{**given, **more})


Open = Callable[..., Side]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a channel of a kind, behind a real server; all is closed at the end."""
    makers: dict[str, Callable[[], Any]] = {
        "telegram": TelegramServer,
        "discord": DiscordServer,
        "webhook": lambda: Receiver(OUT_KEY),
    }
    with ExitStack() as stack:

        def begin(kind: str, *, people: dict[str, str] = PEOPLE, **policy: Any) -> Side:
            server = stack.enter_context(makers[kind]())
            way = _way(server, people=people)
            scene = stack.enter_context(Notified(Config(home=tmp_path / "home"), {"way": way}, **policy))
            return Side(server, scene, stack.enter_context(scene.served()))

        yield begin


@pytest.fixture(params=["telegram", "discord"])
def chat(opened: Open, request: pytest.FixtureRequest) -> Side:
    return opened(request.param)


@pytest.fixture
def telegram(opened: Open) -> Side:
    return opened("telegram")


@pytest.fixture
def discord(opened: Open) -> Side:
    return opened("discord")


@pytest.fixture
def hook(opened: Open) -> Side:
    return opened("webhook")


def test_a_request_is_shown_with_all_that_matters_and_two_buttons_and_without_secrets(chat: Side) -> None:
    request = chat.scene.submit(description=f"Remove old rows with {SECRET}", label="nightly")
    assert (chat.send_due(), chat.scene.rows()) == (1, [])
    text, buttons = chat.shown()
    for words in ("delete_data", "Remove old rows", "orders", "builder", "nightly", request.digest, request.id):
        assert words in text
    assert SECRET not in text and "redacted:" in text and "Secrets are shown as tags" in text
    assert buttons == [f"a:{request.id}", f"d:{request.id}"]
    assert all(len(one.encode()) <= 64 for one in buttons)


@pytest.mark.parametrize(("verb", "status", "title"), [("a", "approved", "Approved"), ("d", "denied", "Denied")])
def test_an_approver_decides_by_a_press_and_the_message_is_edited(
    chat: Side, verb: str, status: str, title: str
) -> None:
    request = chat.scene.submit()
    chat.send_due()
    assert chat.press(f"{verb}:{request.id}") == f"{title}: delete_data."
    decided = chat.scene.look(request)
    via = chat.scene.channels["way"].kind
    assert (decided.status, decided.resolved_by, decided.votes[0].via) == (status, "mira", via)
    chat.send_due()
    text, buttons = chat.shown()
    assert f"<b>{title}</b>" in text and "mira" in text and buttons == []


def test_nobody_but_an_approver_in_the_chat_decides_by_a_press(chat: Side) -> None:
    request = chat.scene.submit()
    chat.send_due()
    others: list[tuple[str, str, dict[str, Any]]] = [("a", STRANGER, {}), ("d", STRANGER, {})]
    others += [("a", MIRA, {"room": "5"}), ("a", MIRA, {"is_bot": True})]
    for verb, sender, more in others:
        assert chat.press(f"{verb}:{request.id}", sender, **more).startswith("Not allowed")
    assert (chat.scene.look(request).status, chat.send_due(), len(chat.shown()[1])) == ("pending", 0, 2)


def test_whoever_decides_may_decide_where_the_policy_lists_them(opened: Open) -> None:
    """An admin decides like an approver; an agent's credential decides nowhere."""
    telegram = opened("telegram", people={MIRA: "root", NOOR: "builder"})
    scene = telegram.scene
    make_person(scene.book.database, "root", "admin", now=NOW)
    scene.book.phones = unlocked_phones(scene.book.database, "root", now=NOW)
    request = scene.submit()
    assert telegram.press(f"a:{request.id}", NOOR).startswith("Not allowed")
    assert telegram.press(f"a:{request.id}") == "Approved: delete_data."
    assert scene.look(request).resolved_by == "root"


def test_an_expired_request_is_edited_and_no_press_revives_it(chat: Side) -> None:
    request = chat.scene.submit()
    chat.send_due()
    chat.scene.clock.now = request.expires_at + 1
    assert chat.press(f"a:{request.id}").startswith("Nothing was changed")
    chat.send_due()
    text, buttons = chat.shown()
    assert "<b>Expired</b>" in text and buttons == []


@pytest.mark.parametrize(
    ("kind", "mood", "words", "wait"),
    [
        ("telegram", Mood(403, b'{"ok": false, "description": "bot was blocked"}'), "bot was blocked", 2),
        ("telegram", Mood(body=b"<html>hotel wifi</html>"), "not from Telegram's", 2),
        ("telegram", Mood(body=b'{"ok": true, "result": true}'), "no message_id", 2),
        ("discord", Mood(429, b'{"message": "You are being rate limited.", "retry_after": 6.5}'), "rate limited", 6.5),
        ("discord", Mood(500), "500", 2),
        ("webhook", Mood(500), "answered 500", 2),
        ("webhook", Mood(drops=True), "no connection", 2),
        ("webhook", Mood(wait_seconds=1.0), "no answer within", 2),
        ("webhook", Mood(429, headers={"retry-after": "9"}), "answered 429", 9),
        ("webhook", Mood(drips=True), "no answer within", 2),
        ("webhook", Mood(is_endless=True), "longer than 64 kB", 2),
        ("webhook", Mood(307, headers={"location": "http://127.0.0.1:9/elsewhere"}), "final address", 2),
    ],
)
def test_what_goes_wrong_is_kept_and_sent_again_in_its_time(
    opened: Open, kind: str, mood: Mood, words: str, wait: float
) -> None:
    side = opened(kind)
    side.scene.submit()
    side.server.moods = [mood]
    side.send_due(answer_seconds=0.3)
    (row,) = side.scene.rows()
    assert words in row["last_error"] and (row["attempts"], row["next_at"]) == (1, NOW + wait)
    assert side.send_due() == 0, "not before its time"
    side.scene.clock.now = row["next_at"]
    assert side.send_due() == 1
    assert side.scene.rows() == []
    if kind == "webhook":
        assert len(side.server.ids) == 2 and len(set(side.server.ids)) == 1
    else:
        assert len(side.server.messages) == 1


def test_a_forged_or_stale_word_decides_nothing(opened: Open) -> None:
    def check(kind: str, identity: str, timestamp: str, signature: str, broken: list[str]) -> None:
        side = opened(kind)
        request = side.scene.submit()
        press = side.server.press(f"a:{request.id}", sender=MIRA, channel=ROOM) if kind == "discord" else None
        body = json.dumps(press).encode() if press else _ruling(request.id)
        good = _signed(side.server, body)
        forged: list[Any] = [
            {},
            *({**good, signature: one} for one in broken),
            *({**good, timestamp: one} for one in (str(int(NOW) + 1), "x", "-1")),
            {signature: good[signature]},
            [*good.items(), (identity, "00")],
            *(_signed(side.server, body, now=NOW + away) for away in (-301, 301)),
        ]
        if kind == "webhook":
            forged += [{**good, identity: one} for one in ("m2", "")]
            # The secret that we sign with is none to decide with.
            forged.append(sign(side.server.secret, message_id="m1", now=NOW, body=body))
        else:
            with DiscordServer() as other:
                forged.append(other.sign(body, NOW))
        for headers in forged:
            assert side.post(body, headers).status_code == 401, headers
        assert side.post(body + b" ", good).status_code == 401
        assert side.scene.look(request).status == "pending"

    ed = "x-signature-ed25519"
    check_each(
        [
            ("discord", ed, "x-signature-timestamp", ed, ["00" * 64, "zz"]),
            ("webhook", "webhook-id", "webhook-timestamp", "webhook-signature", ["", "v1,", "v1a,AAAA"]),
        ],
        check,
    )


def test_long_polling_hears_presses_and_answers_them(telegram: Side) -> None:
    scene, server = telegram.scene, telegram.server
    request = scene.submit()
    stop = threading.Event()
    poller = Poller(list(scene.channels.values()), scene.open_book, poll_seconds=1)
    server.moods = [Mood(500)]
    thread = threading.Thread(target=poller.run, args=(stop,))
    thread.start()
    try:
        with server.changed:
            server.updates = [
                server.press(f"a:{request.id}", sender=int(STRANGER), chat=int(ROOM), update_id=31),
                {"update_id": 32, "message": {"text": "hello"}},
                server.press(f"a:{request.id}", sender=int(MIRA), chat=int(ROOM), update_id=33),
            ]
            server.changed.notify_all()
        server.wait_for(lambda: len(server.answers) == 2)
        server.wait_for(lambda: server.heard[-1].path.endswith("getUpdates"))
    finally:
        stop.set()
        server.let_go()
        thread.join()
    assert [one["text"].split(":")[0] for one in server.answers] == ["Not allowed", "Approved"]
    assert server.heard[-1].value["offset"] == 34
    assert scene.look(request).status == "approved"


def test_the_token_is_in_no_log_and_no_error(telegram: Side, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    telegram.scene.submit()
    token = telegram.server.token
    telegram.server.moods = [Mood(500, f"failed: /bot{token}/sendMessage".encode())]
    telegram.send_due()
    kept = telegram.scene.rows()[0]["last_error"]
    way = telegram.scene.channels["way"]
    with open_client() as client, pytest.raises(NotSent) as refused:
        Telegram(_way(telegram.server, url=closed_url()), client).ask("getMe", {})
    said = caplog.text + kept + str(refused.value) + repr(way)
    assert token not in said and token.partition(":")[2] not in said


def test_hostile_text_calls_nobody_and_fits(discord: Side) -> None:
    discord.scene.submit(description="@everyone <@1> [x](http://evil.test) " + "`*" * 2000, details={"a": "*" * 9000})
    discord.send_due()
    (said,) = discord.server.messages.values()
    text = said["embeds"][0]["description"]
    assert len(text) <= 4096 and said["allowed_mentions"] == {"parse": []}
    assert "@everyone" not in text.replace("\\@everyone", "") and "](http" not in text
    assert "read all of it before you approve" in text


def test_a_malformed_interaction_fails_closed_and_a_ping_is_answered(discord: Side) -> None:
    request = discord.scene.submit()
    assert discord.say({"id": "1", "type": 1}).json() == {"type": 1}
    nobody = discord.server.press(f"a:{request.id}", sender=MIRA, channel=ROOM)
    del nobody["member"]

    def check(said: Any) -> None:
        answer = discord.say(said)
        assert answer.status_code == 400 or _whispered(answer).startswith("Not allowed")

    strange = [b"", b"[]", b"{", {"id": "1", "type": 3}, {"id": "1", "type": 99}, {"id": 1, "type": 3}, {"type": "1"}]
    odd = {"id": "\0", "type": 3, "channel_id": ROOM, "data": {"custom_id": "a:x"}}
    check_each([*strange, odd, nobody], check)
    assert discord.scene.look(request).status == "pending"


def test_a_crash_after_sending_leaves_one_message(discord: Side) -> None:
    """Discord drops a second message with the same nonce, and the nonce is the id of the row."""
    discord.scene.submit()
    discord.server.moods = [Mood(drops=True)]
    discord.send_due()
    discord.scene.clock.now += 2
    discord.send_due()
    first, second = (one.value for one in discord.server.heard)
    assert first["nonce"] == second["nonce"] and first["enforce_nonce"] is True
    assert len(first["nonce"]) <= 25


def test_the_signature_is_the_one_of_the_standards_own_example() -> None:
    """The example that the libraries of Standard Webhooks are tested with."""
    headers = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        now=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    for weak in ("short", "whsec_%%%", "whsec_c2hvcnQ="):
        with pytest.raises(UsageError, match="secret"):
            sign(weak, message_id="m", now=NOW, body=b"")


def test_every_event_is_sent_once_and_signed(hook: Side) -> None:
    scene, receiver = hook.scene, hook.server
    request = scene.submit(details={"table": "orders", "token": SECRET})
    hook.send_due()
    scene.book.decide(scene.mira, request.id, approve=False, reason="not today")
    hook.send_due()
    assert receiver.events == [("confirm.submitted", request.id), ("confirm.decided", request.id)]
    assert all(map(receiver.is_genuine, receiver.heard)) and len(set(receiver.ids)) == 2
    first, last = (one.value["data"] for one in receiver.heard)
    assert (first["status"], first["digest"], first["details"]["table"]) == ("pending", request.digest, "orders")
    assert SECRET not in receiver.heard[0].body.decode() and first["is_exact"] is False
    assert (last["status"], last["reason"], last["resolved_by"]) == ("denied", "not today", "mira")


def _ruling(request_id: str, **more: Any) -> bytes:
    return json.dumps({"request": request_id, "person": MIRA, "approve": True, **more}).encode()


def test_a_person_decides_by_webhook(hook: Side) -> None:
    request = hook.scene.submit()
    answer = hook.say(_ruling(request.id, approve=False, reason="no"))
    assert (answer.status_code, answer.json()["outcome"], answer.json()["status"]) == (200, "decided", "denied")
    decided = hook.scene.look(request)
    assert (decided.resolved_by, decided.reason, decided.votes[0].via) == ("mira", "no", "webhook")


def test_malformed_webhook_fails_closed(hook: Side) -> None:
    request = hook.scene.submit()
    good = json.loads(_ruling(request.id))
    changes = ({"approve": "yes"}, {"approve": 1}, {"extra": 1}, {"channel": "phone"}, {"reason": "x\x00"})
    bodies = [b"", b"{", b"null", b"[" * 5000, b"\xff", *(json.dumps({**good, **one}).encode() for one in changes)]
    bodies += [json.dumps({name: good[name] for name in good if name != missing}).encode() for missing in good]
    for number, body in enumerate(bodies):
        answer = hook.say(body, number=f"m{number}")
        assert answer.status_code == 400 and answer.json()["error"], body
    assert hook.say(b"x" * 300_000).status_code == 413
    assert hook.scene.look(request).status == "pending"


def test_duplicate_webhook_idempotent(opened: Open) -> None:
    hook = opened("webhook", approvals=2)
    request = hook.scene.submit()
    assert hook.say(_ruling(request.id)).json()["outcome"] == "counted"
    assert hook.say(_ruling(request.id), now=NOW + 20).status_code == 403, "the same message again"
    assert hook.say(_ruling(request.id), number="m2").status_code == 403, "same person again"
    assert len(hook.scene.look(request).votes) == 1
    assert hook.say(_ruling(request.id, person=NOOR), number="m3").json()["status"] == "approved"
    assert hook.say(_ruling(request.id, person=NOOR, approve=False), number="m4").status_code in (403, 409)
    assert hook.scene.look(request).status == "approved"


def test_what_was_refused_before_the_phone_was_unlocked_never_counts_later(hook: Side) -> None:
    """A webhook that was overheard could be sent again within its five minutes."""
    scene = hook.scene
    request = scene.submit()
    scene.phones._known.clear()
    assert hook.say(_ruling(request.id)).json()["sentence"].startswith("Locked")
    scene.clock.now += 10
    mira = unlock(scene.book.database, "mira", now=scene.clock.now)
    scene.phones.add(scene.book.database, mira, now=scene.clock.now)
    assert hook.say(_ruling(request.id)).json()["sentence"].startswith("Locked")
    assert scene.look(request).status == "pending"
    assert hook.say(_ruling(request.id), now=scene.clock.now, number="m2").json()["outcome"] == "decided"


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
