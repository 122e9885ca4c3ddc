"""Sends an answer to every destination of its job, and remembers which of them still need it.

Answers that could not be delivered are tried again, and given up after a while.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import msgspec

from seasoned.config import Config
from seasoned.config import secret as find_secret
from seasoned.errors import CannotDo, Refused, SeasonedError, UsageError
from seasoned.schedule.job import DeliveryResult, Job, JobRun
from seasoned.schedule.job_table import job_from_row, key_of, run_from_row
from seasoned.schedule.times import local
from seasoned.store import Database

# The limits are 4,096 and 2,000; the servers do not count every character as one.
TELEGRAM_CHARACTERS = 4_000
DISCORD_CHARACTERS = 1_900
_MOST_PARTS = 5
_REST = "\n… the whole answer: seasoned cron history"
# Where to, with which headers, what, and the secret that no message about it may repeat.
_Post = tuple[str, dict[str, str], list[bytes], str]
_TAIL_CHARACTERS = 1_500
_SAID = {
    "ok": "",
    "empty": "The run ended without an answer.",
    "failed": "The run failed.",
    "unknown": "It is not known how the run ended.",
}


class DeliveryMessage(msgspec.Struct, frozen=True, kw_only=True):
    """The text of an answer, for people and for programs."""

    # The same for every try, so that the other side can know a copy.
    id: str
    title: str
    text: str
    # The same for programs.
    data: dict[str, Any]


def message_of(job: Job, record: JobRun) -> DeliveryMessage:
    """The message about a run: its answer alone if it went well, else first what went wrong."""
    parts = [_SAID[record.outcome], record.reason, record.output.strip()]
    if record.outcome == "failed" and record.fault in ("script", "timeout") and record.script_output.strip():
        tail = record.script_output.strip()[-_TAIL_CHARACTERS:]
        parts.append(f"The script printed:\n{tail}")
    time = local(record.scheduled_at, job.zone)
    state = "" if record.outcome == "ok" else f" – {record.outcome}{f' ({record.fault})' if record.fault else ''}"
    return DeliveryMessage(
        id=record.slot.session_id,
        title=f"{job.name}{state} – {time:%Y-%m-%d %H:%M}",
        text="\n\n".join(part for part in parts if part),
        data={
            "job": {"id": job.id, "name": job.name},
            "scheduled_at": record.scheduled_at,
            "outcome": record.outcome,
            "fault": record.fault,
            "reason": record.reason,
            "output": record.output,
            "session": record.session,
        },
    )


# Where relative paths begin, in the home folder.
REPORTS_FOLDER = "reports"


def print_message(message: DeliveryMessage, out: TextIO) -> None:
    """Write it to the terminal, without control characters."""
    text = f"── {message.title}\n{message.text}\n"
    shown = "".join([c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text])
    try:
        out.write(shown.encode(out.encoding or "utf-8", "replace").decode(out.encoding or "utf-8"))
        out.flush()
    except (OSError, ValueError) as error:
        raise CannotDo(f"cannot write to the terminal ({error}).") from error


def append_message(message: DeliveryMessage, address: str, *, home: Path) -> None:
    """Append it to a file. Links are not followed; a new file is readable by its owner only."""
    path = home / REPORTS_FOLDER / Path(address).expanduser()
    if not Path(address).expanduser().is_absolute():
        if not path.resolve().is_relative_to((home / REPORTS_FOLDER).resolve()):
            raise Refused(
                f"{address!r} leads out of {str(home / REPORTS_FOLDER)!r}. "
                "Give an absolute path, or one inside that folder."
            )
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = f"## {message.title}\n\n{message.text}\n\n"
    # Without O_NONBLOCK, opening a named pipe would wait for a reader.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f"{str(path)!r} is a symbolic link. Give the file itself.") from error
        raise CannotDo(f"{str(path)!r} cannot be written: {error.strerror or error}.") from error


_GIVEN_UP = " (given up)"
# Client errors that may be gone at the next try.
_WAITS_FOR = (408, 409, 425, 429)


class AnswerSender:
    """Delivers at least once: an interrupted try is repeated with the same id."""

    def __init__(
        self,
        config: Config,
        *,
        out: TextIO | None = None,
        clock: Callable[[], float] = time.time,
        find: Callable[[str], str | None] | None = None,
    ) -> None:
        self._config = config
        self._out = out
        self._clock = clock
        self._find = find or (lambda name: find_secret(name, config.home))

    def __call__(self, job: Job, record: JobRun) -> DeliveryResult:
        """Send the answer to every destination that has not received it."""
        message = message_of(job, record)
        lines = record.delivery_error.splitlines()
        waiting = [one for one in job.delivery if one != "none"]
        # After a first try, there is a line for each destination that has not received it.
        errors = [line for line in lines if _GIVEN_UP in line]
        todo = [one for one in waiting if not lines or any(line.startswith(f"{one}: ") for line in lines)]
        is_pending = False
        for destination in dict.fromkeys(todo):
            try:
                self._send(destination, message)
            except SeasonedError as error:
                is_final = _is_final(error)
                is_pending = is_pending or not is_final
                reason = " ".join(str(error).split())
                errors.append(f"{destination}{_GIVEN_UP if is_final else ''}: {reason}")
        if not errors:
            return DeliveryResult("delivered" if waiting else "none")
        return DeliveryResult("pending" if is_pending else "failed", "\n".join(errors))

    def _send(self, destination: str, message: DeliveryMessage) -> None:
        kind, _, address = destination.partition(":")
        if kind == "stdout":
            print_message(message, self._out or sys.stdout)
        elif kind == "file":
            append_message(message, address, home=self._config.home)
        else:
            self._send_over_http(kind, address, message)

    def _send_over_http(self, kind: str, address: str, message: DeliveryMessage) -> None:
        # Imported here: most jobs need no client, and it comes with an extra.
        from seasoned.confirm.notify.http import call, open_client

        url, headers, bodies, hide = {
            "webhook": self._webhook,
            "telegram": self._telegram,
            "discord": self._discord,
        }[kind](address, message)
        with open_client() as client:
            for body in bodies:
                call(client, "POST", url, body=body, headers=headers, hide=hide)

    def _webhook(self, address: str, message: DeliveryMessage) -> _Post:
        """Signed if there is a secret; a copy has the same `webhook-id`."""
        from seasoned.confirm.notify.http import sign

        config = self._config
        url = address or _needed(config.webhook_url, "webhook_url")
        # A secret that is shared with one receiver signs nothing for another.
        secret = self._find("webhook_secret") if url == config.webhook_url else None
        payload = {"schema": "seasoned/schedule-run/1", "type": "schedule.run", "title": message.title}
        body = msgspec.json.encode({**payload, "text": message.text, "data": message.data})
        if secret is None:
            return url, {"webhook-id": message.id}, [body], ""
        return url, sign(secret, message_id=message.id, now=self._clock(), body=body), [body], secret

    def _telegram(self, address: str, message: DeliveryMessage) -> _Post:
        """Plain text, in several messages if it is long, without previews of links."""
        chat = address or _needed(self._config.telegram_chat, "telegram_chat")
        token = self._token("telegram_token")
        fixed = {"chat_id": chat, "link_preview_options": {"is_disabled": True}}
        bodies = [msgspec.json.encode({**fixed, "text": part}) for part in parts_of(message, TELEGRAM_CHARACTERS)]
        return f"{self._config.telegram_url}/bot{token}/sendMessage", {}, bodies, token

    def _discord(self, address: str, message: DeliveryMessage) -> _Post:
        """The text never notifies anyone."""
        channel = address or _needed(self._config.discord_channel, "discord_channel")
        token = self._token("discord_token")
        # No previews of links. Discord drops a second message with the same nonce; it may have 25 characters.
        fixed = {"allowed_mentions": {"parse": []}, "flags": 1 << 2, "enforce_nonce": True}
        bodies = [
            msgspec.json.encode({**fixed, "content": part, "nonce": f"{message.id[-20:]}-{number}"})
            for number, part in enumerate(parts_of(message, DISCORD_CHARACTERS))
        ]
        headers = {"authorization": f"Bot {token}", "user-agent": "DiscordBot (seasoned, 1)"}
        return f"{self._config.discord_url}/channels/{channel}/messages", headers, bodies, token

    def _token(self, name: str) -> str:
        found = self._find(name)
        if found is None:
            raise UsageError(f"the secret {name} is missing. Put it into the file 'secrets/{name}' in the home folder.")
        return found


def _needed(value: str | None, name: str) -> str:
    if value is None:
        raise UsageError(f"the delivery has no address. Set {name}, or add the address to the job's delivery.")
    return value


def _is_final(error: SeasonedError) -> bool:
    """Whether retrying is pointless until a setting is changed."""
    status = getattr(error, "status", None)
    if isinstance(status, int):
        return 300 <= status < 500 and status not in _WAITS_FOR
    return not isinstance(error, CannotDo)


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


TRIES = 8
FIRST_WAIT_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 3600.0


class PendingDelivery(msgspec.Struct, frozen=True):
    """An answer that is due."""

    job: Job
    record: JobRun
    # Including this one.
    tries: int


def due_deliveries(database: Database, *, now: float, limit: int = 10) -> list[PendingDelivery]:
    """The answers that are due."""
    found: list[PendingDelivery] = []
    for row in database.rows("schedule.due_deliveries", {"now": now, "limit": limit}):
        job = database.row("schedule.job", {"id": row["job_id"]})
        if job is not None:
            found.append(PendingDelivery(job_from_row(job).job, run_from_row(row), int(row["delivery_attempts"]) + 1))
    return found


def settle_delivery(
    database: Database, pending: PendingDelivery, delivered: DeliveryResult, *, now: float
) -> DeliveryResult:
    """Store the result of one try: delivered, to be tried again later, or given up."""
    settled = delivered
    if delivered.state == "pending" and pending.tries >= TRIES:
        settled = DeliveryResult("failed", f"given up after {TRIES} tries: {delivered.error}")
    wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (pending.tries - 1))
    values = {
        **key_of(pending.record.slot),
        "delivery": settled.state,
        "delivery_error": settled.error,
        "delivery_at": now + wait,
    }
    with database.write():
        database.run("schedule.set_delivery", values)
    return settled
