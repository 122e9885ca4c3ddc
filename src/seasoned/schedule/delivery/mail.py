"""Answers by e-mail, over SMTP; a password is never sent in the clear."""

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

from seasoned.confirm.notify.http import NotSent
from seasoned.errors import UsageError
from seasoned.schedule.delivery.message import Message

SECONDS = 15.0
_PORTS = {"smtp": 25, "smtps": 465}


def send_mail(url: str, sender: str, to: str, message: Message, *, password: str | None, now: float) -> None:
    """Send it to one or more addresses, with commas between them."""
    mail = build_mail(sender, to, message, now=now)
    try:
        with _connected(url, password) as server:
            refused = server.send_message(mail)
    except smtplib.SMTPRecipientsRefused as error:
        code = max((code for code, _ in error.recipients.values()), default=0)
        raise NotSent(f"the mail server refuses {to!r} ({code}).", status=_status(code)) from None
    except smtplib.SMTPResponseException as error:
        said = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
        raise NotSent(
            f"the mail server answered {error.smtp_code}: {_hidden(said, password)[:200]!r}.",
            status=_status(error.smtp_code),
        ) from None
    except (smtplib.SMTPException, OSError) as error:
        reason = _hidden(str(error), password)[:200]
        raise NotSent(f"no mail server answers ({type(error).__name__}: {reason}); check smtp_url.") from None
    if refused:
        raise NotSent(f"the mail server refuses {', '.join(map(repr, refused))}.", status=400)


def build_mail(sender: str, to: str, message: Message, *, now: float) -> EmailMessage:
    """The mail; a line break in a name or an address starts no header of its own."""
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
        raise UsageError("smtp_url is no mail server: write smtp://user@host:587 or smtps://user@host.")
    port = parts.port or _PORTS[parts.scheme]
    trust = ssl.create_default_context()
    server: smtplib.SMTP
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(parts.hostname, port, timeout=SECONDS, context=trust)
    else:
        server = smtplib.SMTP(parts.hostname, port, timeout=SECONDS)
    with server:
        server.ehlo()
        is_safe = parts.scheme == "smtps" or _is_this_machine(parts.hostname)
        if parts.scheme == "smtp" and server.has_extn("starttls"):
            server.starttls(context=trust)
            server.ehlo()
            is_safe = True
        if parts.username and password:
            if not is_safe:
                raise UsageError("the mail server offers no encryption, so the password is not sent: use smtps://.")
            server.login(unquote(parts.username), password)
        yield server


def _address(text: str) -> Address:
    try:
        return Address(addr_spec=text.strip())
    except (ValueError, IndexError, AttributeError) as error:
        raise UsageError(f"{text!r} is no e-mail address: write it like name@example.org.") from error


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _status(code: int) -> int:
    """A refusal for good, or one for now."""
    return 400 if 500 <= code < 600 else 503


def _hidden(text: str, password: str | None) -> str:
    return text.replace(password, "…") if password else text
