"""Channels with their secrets, and requests as short text for people, in which no part can imitate another."""

from __future__ import annotations

import html
import json
import logging
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import msgspec

from seasoned.command.action import action_words
from seasoned.config import Config, secret
from seasoned.confirm.people.credential import Credential, find
from seasoned.confirm.policy import Channel, ChannelKind, Policy
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request, Status
from seasoned.confirm.request.row import kept_details
from seasoned.errors import CannotDo, Conflict, NotFound, Refused, StoreError, UsageError
from seasoned.redact.redactor import Redactor


class ConfiguredChannel(msgspec.Struct, frozen=True, kw_only=True):
    """One channel with its secrets, which its repr leaves out."""

    name: str
    kind: ChannelKind
    # The chat, the channel, or for a webhook the address.
    to: str
    # The address of the API; for a webhook the address again.
    url: str
    # The bot's token, or what a webhook is signed with.
    token: str
    # What proves an incoming call: an incoming webhook's secret, or Discord's public key.
    incoming_secret: str = ""
    people: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"ConfiguredChannel(name={self.name!r}, kind={self.kind!r})"


def load_channels(
    policy: Policy, config: Config, environment: Mapping[str, str] | None = None
) -> dict[str, ConfiguredChannel]:
    """Every channel of the policy with its secrets, from their files or the environment."""
    return {name: _load(name, channel, config, environment) for name, channel in policy.channel.items()}


def _load(name: str, channel: Channel, config: Config, environment: Mapping[str, str] | None) -> ConfiguredChannel:
    secret_name = "webhook_secret" if channel.kind == "webhook" else f"{channel.kind}_token"
    token = _read(channel.token_file) or secret(secret_name, config.home, environment)
    if not token:
        raise UsageError(
            f"channel {name!r} of the policy lacks a token (`token_file`, or the secret {secret_name!r}); "
            "add it, or remove the channel."
        )
    apis = {"telegram": config.telegram_url, "discord": config.discord_url}
    # Discord signs with a key pair: the key that checks its calls is public, so it may be in the policy.
    is_discord = channel.kind == "discord"
    incoming = channel.public_key if is_discord else secret("hook_secret", config.home, environment)
    return ConfiguredChannel(
        name=name,
        kind=channel.kind,
        to=channel.to,
        url=channel.to if channel.kind == "webhook" else apis[channel.kind].rstrip("/"),
        token=token,
        incoming_secret=incoming or "",
        people=dict(channel.people),
    )


def _read(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the token file {str(file)!r} cannot be read ({error}); check its path and permissions."
        ) from error


# Telegram and Discord take 4,096 characters, and escaping can double a text.
MOST_DESCRIPTION = 500
MOST_DETAILS = 1000
_MOST_NAME = 80
_MOST_REASON = 200
_MOST_FINDING = 300
# Unicode categories that are invisible, or that reorder or break lines.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_TITLES = {
    "approved": "Approved",
    "denied": "Denied",
    "expired": "Expired",
    "auto_approved": "Approved by the allow-list",
}


class LabelledText(msgspec.Struct, frozen=True):
    """One line of a message: our label, and text that may come from an agent."""

    label: str
    text: str


class MessageText(msgspec.Struct, frozen=True):
    """A message before it is formatted."""

    title: str
    parts: tuple[LabelledText, ...]
    # Our notes about what is not shown.
    notes: tuple[str, ...]


def compose(request: Request, redactor: Redactor) -> MessageText:
    """The text of a request for a chat. Secrets become tags: the chat's server must not see them."""
    described = redactor.text(request.description)
    details = redactor.value(kept_details(request.details))
    description, is_short = shorten(visible(described), MOST_DESCRIPTION)
    shown, is_cut = shorten(visible(json.dumps(details, ensure_ascii=False, sort_keys=True, default=str)), MOST_DETAILS)
    parts = [LabelledText("Action", request.action), LabelledText("Description", description)]
    if request.details:
        parts.append(LabelledText("Details", shown))
    if request.finding:
        parts.append(LabelledText("Warning", shorten(visible(redactor.text(request.finding)), _MOST_FINDING)[0]))
    parts += [LabelledText("Asked by", _name(request)), *_outcome(request, redactor)]
    parts += [LabelledText("Digest", request.digest), LabelledText("Request", request.id)]
    notes = []
    if request.status == "pending":
        if is_short or is_cut:
            notes.append("Shortened: read all of it before you approve.")
        if described != request.description or details != request.details:
            notes.append("Secrets are shown as tags; the digest covers the original.")
    # The requester is the name of a credential, which holds plain characters only.
    question = f"May {request.requester} {action_words(request.action)}?"
    return MessageText(_TITLES.get(request.status, question), tuple(parts), tuple(notes))


def visible(text: str) -> str:
    """The text with invisible and reordering characters spelled out, so that it cannot look like something else."""
    return "".join(
        f"\\u{{{ord(each):x}}}" if unicodedata.category(each) in _HIDDEN and each not in "\n\t" else each
        for each in text
    )


def shorten(text: str, most: int) -> tuple[str, bool]:
    """The start of a text with the number of missing characters, and whether any are missing."""
    if len(text) <= most:
        return text, False
    return f"{text[:most]}… ({len(text) - most} more characters)", True


def as_html(wording: MessageText) -> str:
    """For Telegram's HTML mode."""
    lines = [f"<b>{html.escape(wording.title)}</b>"]
    lines += [f"<b>{part.label}:</b> {html.escape(part.text)}" for part in wording.parts]
    return "\n".join([*lines, *(f"<i>{html.escape(note)}</i>" for note in wording.notes)])


def as_markdown(wording: MessageText) -> str:
    """For Discord: all punctuation is escaped, so that mentions and links stay text."""
    lines = [f"**{part.label}:** {escape_markdown(part.text)}" for part in wording.parts]
    return "\n".join([*lines, *(f"*{escape_markdown(note)}*" for note in wording.notes)])


def escape_markdown(text: str) -> str:
    return _PUNCTUATION.sub(lambda found: f"\\{found[0]}", text)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _outcome(request: Request, redactor: Redactor) -> list[LabelledText]:
    if request.status == "pending":
        parts = [LabelledText("Expires", moment(request.expires_at))]
        if request.quorum > 1:
            agreed = sum(vote.approve for vote in request.votes)
            parts.append(LabelledText("Approvals", f"{agreed} of {request.quorum}"))
        return parts
    parts = [LabelledText("By", visible(request.resolved_by or ""))]
    if request.resolved_at is not None:
        parts.append(LabelledText("At", moment(request.resolved_at)))
    if request.reason:
        parts.append(LabelledText("Reason", shorten(visible(redactor.text(request.reason)), _MOST_REASON)[0]))
    return parts


def _name(request: Request) -> str:
    name = shorten(visible(request.requester), _MOST_NAME)[0]
    return f"{name} (calls itself {shorten(visible(request.label), _MOST_NAME)[0]!r})" if request.label else name


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """One notification, the same at every attempt to send it."""

    # The id of its outbox row, by which a receiver recognises a copy.
    id: str
    # submitted, decided or expired
    event: str
    request_id: str
    # Whether the request is still pending, so that buttons are of use.
    is_open: bool
    text: MessageText
    # The request for programs, with secrets as tags.
    data: dict[str, Any]


class ChannelSender(Protocol):
    """Sends notifications over one channel."""

    channel: ConfiguredChannel
    # Whether it keeps one message for each request and edits it, or sends every event.
    edits_message: bool

    def send(self, message: Notification, message_id: str | None) -> str | None:
        """Send, or edit the earlier message with this id; returns the message's id. NotSent if that failed."""


Outcome = Literal["decided", "counted", "already", "refused", "unknown"]
STATUS: dict[Outcome, int] = {"decided": 200, "counted": 200, "already": 409, "refused": 403, "unknown": 404}
NOT_ALLOWED = "Not allowed: you may not decide here. The request is unchanged."
LOCKED = (
    "Locked: this phone may not decide yet, and nothing was changed. Decide with your passphrase, or unlock the phone: "
    "`seasoned confirm phone`, or the page of confirmations."
)
_log = logging.getLogger("seasoned.confirm")


# Runs a function with a book, in a thread that may use one.
Ask = Callable[[Callable[[Book], Any]], Awaitable[Any]]


class DecisionReply(msgspec.Struct, frozen=True):
    """The outcome of an incoming decision, and the text for the person."""

    outcome: Outcome
    sentence: str
    # The status of the request, as far as the person may know.
    status: Status | None = None


def credential_of(book: Book, channel: str, person: str) -> Credential | None:
    """The credential of one who decides that the policy names for a person on a channel; None for others."""
    listed = book.policy.channel.get(channel)
    name = listed.people.get(person) if listed is not None else None
    if name is None:
        return None
    try:
        found = find(book.database, name)
    except NotFound:
        return None
    return found if found.role != "agent" and found.revoked_at is None else None


def decide_for(
    book: Book,
    channel: ConfiguredChannel,
    person: str,
    request_id: str,
    *,
    approve: bool,
    reason: str = "",
    sent_at: float | None = None,
) -> DecisionReply:
    """Decide for a person whom the policy names, and who has unlocked the phone with their passphrase.

    `sent_at`: when it was sent, if the channel proves that. A message that comes again changes nothing: a person votes
    once on a request, and a decision stands.
    """
    who = credential_of(book, channel.name, person)
    if who is None:
        _log.warning("channel %r: person %r tried to decide %r and may not", channel.name, person, request_id)
        return DecisionReply("refused", NOT_ALLOWED)
    signing = book.phones.find(who.name, now=book.clock(), sent_at=sent_at)
    if signing is None:
        return DecisionReply("refused", LOCKED)
    try:
        request = book.decide(signing, request_id, approve=approve, reason=reason, via=channel.kind)
    except NotFound:
        return DecisionReply("unknown", "Unknown request.")
    except Refused as error:
        return DecisionReply("refused", f"Not allowed: {error}")
    except StoreError:
        # The sender can try again later, unlike after the outcomes below.
        raise
    except CannotDo as error:
        return DecisionReply("refused", f"Not possible: {error}")
    except Conflict as error:
        return DecisionReply("already", f"Nothing was changed: {error}", cast("Status", error.status))
    return _reply_for(request)


def _reply_for(request: Request) -> DecisionReply:
    if request.status == "pending":
        agreed = sum(vote.approve for vote in request.votes)
        return DecisionReply("counted", f"Counted: {agreed} of {request.quorum} approvals.", request.status)
    return DecisionReply("decided", f"{request.status.capitalize()}: {request.action}.", request.status)
