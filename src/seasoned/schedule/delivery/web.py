"""Answers that go out over HTTP: a signed webhook, Telegram's and Discord's bots."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import msgspec

from seasoned.confirm.notify.http import call, check
from seasoned.confirm.notify.webhook import sign
from seasoned.schedule.delivery.message import Message

TELEGRAM_CHARACTERS = 4_000
DISCORD_CHARACTERS = 1_900
_MOST_PARTS = 5
_REST = "\n… the whole answer: seasoned cron history"


def send_webhook(client: httpx2.Client, url: str, message: Message, *, secret: str | None, now: float) -> None:
    """Tell an address, signed where there is a secret; the receiver knows a copy by its `webhook-id`."""
    said = {"schema": "seasoned/schedule-run/1", "type": "schedule.run", "title": message.title, "text": message.text}
    body = msgspec.json.encode({**said, "data": message.data})
    headers = {"webhook-id": message.id}
    if secret is not None:
        headers = sign(secret, message_id=message.id, now=now, body=body)
    check(call(client, "POST", url, body=body, headers=headers, hide=secret or ""), hide=secret or "")


def send_telegram(client: httpx2.Client, url: str, chat: str, message: Message, *, token: str) -> None:
    """Plain text, in as many messages as it takes, without previews of what it links to."""
    for part in parts_of(message, TELEGRAM_CHARACTERS):
        said = {"chat_id": chat, "text": part, "link_preview_options": {"is_disabled": True}}
        address = f"{url}/bot{token}/sendMessage"
        check(call(client, "POST", address, body=msgspec.json.encode(said), hide=token), hide=token)


def send_discord(client: httpx2.Client, url: str, channel: str, message: Message, *, token: str) -> None:
    """The same for a channel; whatever the text says, it calls nobody."""
    headers = {"authorization": f"Bot {token}", "user-agent": "DiscordBot (seasoned, 1)"}
    for number, part in enumerate(parts_of(message, DISCORD_CHARACTERS)):
        said = {
            "content": part,
            "allowed_mentions": {"parse": []},
            "flags": 1 << 2,
            "nonce": f"{message.id[-20:]}-{number}",
            "enforce_nonce": True,
        }
        address = f"{url}/channels/{channel}/messages"
        check(call(client, "POST", address, body=msgspec.json.encode(said), headers=headers, hide=token), hide=token)


def parts_of(message: Message, most: int) -> Iterator[str]:
    """The text in pieces that fit, cut between lines where that is possible; the last one says where the rest is."""
    rest = f"{message.title}\n\n{message.text}".strip()
    for number in range(1, _MOST_PARTS + 1):
        if len(rest) <= most:
            yield rest
            return
        if number == _MOST_PARTS:
            yield rest[: most - len(_REST)] + _REST
            return
        at = rest.rfind("\n", most // 2, most)
        end = at if at > 0 else most
        yield rest[:end]
        rest = rest[end:].lstrip("\n")
