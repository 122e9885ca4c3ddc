"""Answers that go out over HTTP: a signed webhook, Telegram's and Discord's bots."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

import httpx2
import msgspec

from seasoned.confirm.notify.http import NotSent, call, check
from seasoned.confirm.notify.webhook import sign
from seasoned.errors import UsageError
from seasoned.schedule.delivery import DeliveryMessage

# The limits are 4,096 and 2,000; the servers do not count every character as one.
TELEGRAM_CHARACTERS = 4_000
DISCORD_CHARACTERS = 1_900
_MOST_PARTS = 5
_REST = "\n… the whole answer: seasoned cron history"


def send_webhook(client: httpx2.Client, url: str, message: DeliveryMessage, *, secret: str | None, now: float) -> None:
    """Send it to an address, signed if there is a secret; a copy has the same `webhook-id`."""
    payload = {
        "schema": "seasoned/schedule-run/1",
        "type": "schedule.run",
        "title": message.title,
        "text": message.text,
    }
    body = msgspec.json.encode({**payload, "data": message.data})
    headers = {"webhook-id": message.id}
    if secret is not None:
        headers = sign(secret, message_id=message.id, now=now, body=body)
    check(call(client, "POST", url, body=body, headers=headers, hide=secret or ""), hide=secret or "")


def send_telegram(client: httpx2.Client, url: str, chat: str, message: DeliveryMessage, *, token: str) -> None:
    """Send it to a chat as plain text, in several messages if it is long, without previews of links."""
    for part in parts_of(message, TELEGRAM_CHARACTERS):
        payload = {"chat_id": chat, "text": part, "link_preview_options": {"is_disabled": True}}
        address = f"{url}/bot{token}/sendMessage"
        check(call(client, "POST", address, body=msgspec.json.encode(payload), hide=token), hide=token)


def send_discord(client: httpx2.Client, url: str, channel: str, message: DeliveryMessage, *, token: str) -> None:
    """Send it to a Discord channel; the text never notifies anyone."""
    headers = {"authorization": f"Bot {token}", "user-agent": "DiscordBot (seasoned, 1)"}
    for number, part in enumerate(parts_of(message, DISCORD_CHARACTERS)):
        payload = {
            "content": part,
            "allowed_mentions": {"parse": []},
            # No previews of links.
            "flags": 1 << 2,
            # Discord drops a second message with the same nonce; it may have 25 characters.
            "nonce": f"{message.id[-20:]}-{number}",
            "enforce_nonce": True,
        }
        address = f"{url}/channels/{channel}/messages"
        check(call(client, "POST", address, body=msgspec.json.encode(payload), headers=headers, hide=token), hide=token)


def parts_of(message: DeliveryMessage, most: int) -> Iterator[str]:
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


MAIL_SECONDS = 15.0
_PORTS = {"smtp": 25, "smtps": 465}


def send_mail(url: str, sender: str, to: str, message: DeliveryMessage, *, password: str | None, now: float) -> None:
    """Send it to one or more addresses, with commas between them."""
    mail = build_mail(sender, to, message, now=now)
    try:
        with _connected(url, password) as server:
            refused = server.send_message(mail)
    except smtplib.SMTPRecipientsRefused as error:
        code = max((code for code, _ in error.recipients.values()), default=0)
        raise NotSent(f"the mail server refuses {to!r} ({code}).", status=_status(code)) from None
    except smtplib.SMTPResponseException as error:
        answer = (
            error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
        )
        raise NotSent(
            f"the mail server answered {error.smtp_code}: {_hidden(answer, password)[:200]!r}.",
            status=_status(error.smtp_code),
        ) from None
    except (smtplib.SMTPException, OSError) as error:
        reason = _hidden(str(error), password)[:200]
        raise NotSent(f"the mail server does not answer ({type(error).__name__}: {reason}). Check smtp_url.") from None
    if refused:
        raise NotSent(f"the mail server refuses {', '.join(map(repr, refused))}.", status=400)


def build_mail(sender: str, to: str, message: DeliveryMessage, *, now: float) -> EmailMessage:
    """Build the mail; line breaks in names or addresses cannot add headers."""
    mail = EmailMessage()
    mail["Subject"] = " ".join(message.title.split())
    mail["From"] = _address(sender)
    mail["To"] = [_address(one) for one in to.split(",") if one.strip()]
    mail["Date"] = formatdate(now)
    mail["Message-ID"] = f"<{message.id}@seasoned.invalid>"
    # So that no out-of-office reply comes back.
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(message.text or message.title)
    return mail


@contextmanager
def _connected(url: str, password: str | None) -> Iterator[smtplib.SMTP]:
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise UsageError(
            "smtp_url is not a valid mail server address. Write smtp://user@host:587 or smtps://user@host."
        )
    port = parts.port or _PORTS[parts.scheme]
    trust = ssl.create_default_context()
    server: smtplib.SMTP
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(parts.hostname, port, timeout=MAIL_SECONDS, context=trust)
    else:
        server = smtplib.SMTP(parts.hostname, port, timeout=MAIL_SECONDS)
    with server:
        server.ehlo()
        # A password is never sent unencrypted to another machine.
        is_safe = parts.scheme == "smtps" or _is_this_machine(parts.hostname)
        if parts.scheme == "smtp" and server.has_extn("starttls"):
            server.starttls(context=trust)
            server.ehlo()
            is_safe = True
        if parts.username and password:
            if not is_safe:
                raise UsageError("the mail server offers no encryption, so the password was not sent. Use smtps://.")
            server.login(unquote(parts.username), password)
        yield server


def _address(text: str) -> Address:
    try:
        return Address(addr_spec=text.strip())
    except (ValueError, IndexError, AttributeError) as error:
        raise UsageError(f"{text!r} is not a valid e-mail address. Write it like name@example.org.") from error


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _status(code: int) -> int:
    """An HTTP status for a code of SMTP: 400 if it is final, 503 if a retry may help."""
    return 400 if 500 <= code < 600 else 503


def _hidden(text: str, password: str | None) -> str:
    return text.replace(password, "…") if password else text
