"""Discord: what is sent, that only Discord's own signature is believed, and whose press counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from seasoned.config import Config
from seasoned.confirm.notify.message import ConfiguredChannel
from tests.confirm.other_side import DiscordServer, Mood
from tests.confirm.people import MIRA, NOW, PEOPLE, STRANGER, Notified
from tests.each_case import check_each

CHANNEL = "880088"


@pytest.fixture
def discord() -> Iterator[DiscordServer]:
    with DiscordServer() as server:
        yield server


@pytest.fixture
def scene(discord: DiscordServer, tmp_path: Path) -> Iterator[Notified]:
    with Notified(Config(home=tmp_path / "home"), {"ops": _way(discord)}) as scene:
        yield scene


@pytest.fixture
def client(scene: Notified) -> Iterator[httpx2.Client]:
    with scene.served() as client:
        yield client


def _way(discord: DiscordServer, **more: Any) -> ConfiguredChannel:
    given = {
        "name": "ops",
        "kind": "discord",
        "to": CHANNEL,
        "url": discord.url,
        "token": discord.token,
        "incoming_secret": discord.public_key,
        "people": PEOPLE,
    }
    return ConfiguredChannel(**{**given, **more})


def _send(
    client: httpx2.Client, discord: DiscordServer, said: Any, *, now: float = NOW, **headers: str
) -> httpx2.Response:
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    signed = {**discord.sign(body, now), **{name.replace("_", "-"): value for name, value in headers.items()}}
    return client.post("/confirm/discord", content=body, headers=signed)


def _is_whispered(answer: httpx2.Response, words: str) -> bool:
    said = answer.json()
    return said["type"] == 4 and said["data"]["flags"] == 64 and words in said["data"]["content"]


def test_a_request_is_shown_with_all_that_matters_and_two_buttons(discord: DiscordServer, scene: Notified) -> None:
    request = scene.submit()
    assert scene.send_due("ops") == 1
    assert discord.heard[0].path == f"/channels/{CHANNEL}/messages"
    (said,) = discord.messages.values()
    text = said["embeds"][0]["description"].replace("\\", "")
    for words in ("delete_data", "Remove old rows", "orders", request.digest, request.id):
        assert words in text
    buttons = said["components"][0]["components"]
    assert [one["custom_id"] for one in buttons] == [f"a:{request.id}", f"d:{request.id}"]
    assert said["allowed_mentions"] == {"parse": []}


def test_hostile_text_calls_nobody_and_fits(discord: DiscordServer, scene: Notified) -> None:
    scene.submit(description="@everyone <@1> [x](http://evil.test) " + "`*" * 2000, details={"a": "*" * 9000})
    scene.send_due("ops")
    text = next(iter(discord.messages.values()))["embeds"][0]["description"]
    assert len(text) <= 4096
    assert "@everyone" not in text.replace("\\@everyone", "") and "](http" not in text
    assert "read all of it before you approve" in text


def test_an_approver_decides_by_a_press_and_the_message_is_edited(
    discord: DiscordServer, scene: Notified, client: httpx2.Client
) -> None:
    request = scene.submit()
    scene.send_due("ops")
    answer = _send(client, discord, discord.press(f"a:{request.id}", sender=MIRA, channel=CHANNEL))
    assert _is_whispered(answer, "Approved")
    decided = scene.look(request)
    assert (decided.status, decided.resolved_by, decided.votes[0].via) == ("approved", "mira", "discord")
    scene.send_due("ops")
    (said,) = discord.messages.values()
    assert said["components"] == [] and said["embeds"][0]["title"] == "Approved"


def test_any_chat_member_pressing_the_button_leaves_it_pending(
    discord: DiscordServer, scene: Notified, client: httpx2.Client
) -> None:
    request = scene.submit()
    for number, verb in enumerate(("approve", "deny")):
        press = discord.press(f"{verb}:{request.id}", sender=STRANGER, channel=CHANNEL, number=f"{number}")
        assert _is_whispered(_send(client, discord, press), "Not allowed")
    elsewhere = discord.press(f"a:{request.id}", sender=MIRA, channel="1", number="9")
    assert _is_whispered(_send(client, discord, elsewhere), "Not allowed")
    by_bot = discord.press(f"a:{request.id}", sender=MIRA, channel=CHANNEL, number="10")
    by_bot["member"]["user"]["bot"] = True
    assert _is_whispered(_send(client, discord, by_bot), "Not allowed")
    nobody = discord.press(f"a:{request.id}", sender=MIRA, channel=CHANNEL, number="11")
    del nobody["member"]
    assert _is_whispered(_send(client, discord, nobody), "Not allowed")
    assert scene.look(request).status == "pending"


def test_a_ping_is_answered_only_when_it_is_signed(discord: DiscordServer, client: httpx2.Client) -> None:
    assert _send(client, discord, {"id": "1", "type": 1}).json() == {"type": 1}
    assert client.post("/confirm/discord", content=b'{"id": "1", "type": 1}').status_code == 401


def test_a_forged_or_stale_press_decides_nothing(
    discord: DiscordServer, scene: Notified, client: httpx2.Client
) -> None:
    request = scene.submit()
    press = discord.press(f"a:{request.id}", sender=MIRA, channel=CHANNEL)
    body = json.dumps(press).encode()
    with DiscordServer() as other:
        assert _send(client, other, body).status_code == 401
    good = discord.sign(body, NOW)
    forged = [
        {},
        {**good, "x-signature-ed25519": "00" * 64},
        {**good, "x-signature-ed25519": "zz"},
        {**good, "x-signature-timestamp": str(int(NOW) + 1)},
        {**good, "x-signature-timestamp": "x"},
        {"x-signature-ed25519": good["x-signature-ed25519"]},
        [*good.items(), ("x-signature-ed25519", "00")],
        discord.sign(body, NOW - 301),
        discord.sign(body, NOW + 301),
    ]
    for headers in forged:
        assert client.post("/confirm/discord", content=body, headers=headers).status_code == 401
    assert client.post("/confirm/discord", content=body + b" ", headers=good).status_code == 401
    assert scene.look(request).status == "pending"


def test_a_malformed_interaction_fails_closed(discord: DiscordServer, scene: Notified, client: httpx2.Client) -> None:
    def check(body: bytes) -> None:
        request = scene.submit()
        answer = _send(client, discord, body)
        assert answer.status_code == 400 or _is_whispered(answer, "Not allowed")
        assert scene.look(request).status == "pending"

    check_each(
        [
            b"",
            b"[]",
            b"{",
            b'{"id": "1", "type": 3}',
            b'{"id": "1", "type": 99}',
            b'{"id": 1, "type": 3}',
            b'{"type": "1"}',
            b'{"id": "\\u0000", "type": 3, "channel_id": "880088", "data": {"custom_id": "a:x"}}',
        ],
        check,
    )


def test_a_crash_after_sending_leaves_one_message(discord: DiscordServer, scene: Notified) -> None:
    """Discord drops a second message with the same nonce, and the nonce is the id of the row."""
    scene.submit()
    discord.moods = [Mood(drops=True)]
    scene.send_due("ops")
    scene.clock.now += 2
    scene.send_due("ops")
    first, second = (one.value for one in discord.heard)
    assert first["nonce"] == second["nonce"] and first["enforce_nonce"] is True
    assert len(first["nonce"]) <= 25


def test_what_discord_refuses_is_kept_and_its_wait_is_kept_to(discord: DiscordServer, scene: Notified) -> None:
    scene.submit()
    discord.moods = [Mood(429, b'{"message": "You are being rate limited.", "retry_after": 6.5}')]
    scene.send_due("ops")
    (row,) = scene.rows()
    assert row["next_at"] == NOW + 6.5 and "rate limited" in row["last_error"]
    scene.clock.now += 7
    discord.moods = [Mood(500), Mood(wait_seconds=1.0)]
    for _ in range(2):
        scene.send_due("ops", answer_seconds=0.2)
        scene.clock.now += 20
    assert scene.rows()[0]["attempts"] == 3 and discord.token not in scene.rows()[0]["last_error"]
    scene.send_due("ops")
    assert scene.rows() == [] and len(discord.messages) == 1
