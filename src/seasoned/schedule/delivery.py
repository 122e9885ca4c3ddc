"""Sends an answer to every destination of its job, and remembers which of them still need it.

Answers that still have to be delivered are claimed by one scheduler at a time, retried, and given up after a while.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from seasoned.config import Config
from seasoned.config import secret as find_secret
from seasoned.errors import CannotDo, Refused, SeasonedError, UsageError
from seasoned.schedule.job import DeliveryResult, Job, JobRun
from seasoned.schedule.job_table import job_from_row, key_of, run_from_row
from seasoned.schedule.times import local
from seasoned.store import Database

if TYPE_CHECKING:
    import httpx2

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
    parts = [_SAID.get(record.outcome, f"The run is {record.outcome}."), record.reason, record.output.strip()]
    if record.outcome == "failed" and record.fault in ("script", "timeout") and record.script_output.strip():
        tail = record.script_output.strip()[-_TAIL_CHARACTERS:]
        parts.append(f"The script printed:\n{tail}")
    if record.outcome in ("ok", "silent"):
        parts = [record.output.strip()]
    time = local(record.scheduled_at, job.zone)
    state = "" if record.outcome == "ok" else f" – {record.outcome}{f' ({record.fault})' if record.fault else ''}"
    return DeliveryMessage(
        id=record.slot.session_id(record.attempt),
        title=f"{job.name}{state} – {time:%Y-%m-%d %H:%M}",
        text="\n\n".join(part for part in parts if part),
        data={
            "job": {"id": job.id, "name": job.name},
            "scheduled_at": record.scheduled_at,
            "attempt": record.attempt,
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
    # Without O_NONBLOCK, opening a named pipe would wait for a reader; it is refused below.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        opened = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f"{str(path)!r} is a symbolic link. Give the file itself.") from error
        raise CannotDo(f"{str(path)!r} cannot be written: {error.strerror or error}.") from error
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise Refused(f"{str(path)!r} is not a regular file.")
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(opened, data) :]
    except OSError as error:
        raise CannotDo(f"{str(path)!r} cannot be written: {error.strerror or error}.") from error
    finally:
        os.close(opened)


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
        known = [one for one in waiting if any(line.startswith((f"{one}: ", f"{one}{_GIVEN_UP}: ")) for line in lines)]
        errors: list[str] = [line for line in lines if known and _GIVEN_UP in line]
        todo = [one for one in known if any(line.startswith(f"{one}: ") for line in lines)] if known else waiting
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
        elif kind == "email":
            self._mail(address, message)
        else:
            # Imported here: most jobs need no client.
            from seasoned.confirm.notify.http import open_client

            with open_client() as client:
                self._send_over_http(client, kind, address, message)

    def _mail(self, address: str, message: DeliveryMessage) -> None:
        from seasoned.schedule.remote_delivery import send_mail

        config = self._config
        if config.smtp_url is None or config.mail_from is None:
            raise UsageError("e-mail needs the settings smtp_url and mail_from. Set both.")
        password = self._find("smtp_password")
        send_mail(config.smtp_url, config.mail_from, address, message, password=password, now=self._clock())

    def _send_over_http(self, client: httpx2.Client, kind: str, address: str, message: DeliveryMessage) -> None:
        from seasoned.schedule.remote_delivery import send_discord, send_telegram, send_webhook

        config = self._config
        if kind == "webhook":
            url = address or _needed(config.webhook_url, "webhook_url")
            # A secret that is shared with one receiver signs nothing for another.
            is_own = not address or address == config.webhook_url
            secret = self._find("webhook_secret") if is_own else None
            send_webhook(client, url, message, secret=secret, now=self._clock())
        elif kind == "telegram":
            chat = address or _needed(config.telegram_chat, "telegram_chat")
            send_telegram(client, config.telegram_url, chat, message, token=self._token("telegram_token"))
        elif kind == "discord":
            channel = address or _needed(config.discord_channel, "discord_channel")
            send_discord(client, config.discord_url, channel, message, token=self._token("discord_token"))
        else:
            raise UsageError(f"{kind!r} is not a known destination.")

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


TRIES = 8
FIRST_WAIT_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 3600.0
# How long one try may take before another scheduler tries.
HOLD_SECONDS = 300.0


class PendingDelivery(msgspec.Struct, frozen=True):
    """An answer that this scheduler has claimed for delivery."""

    job: Job
    record: JobRun
    # Including this one.
    tries: int


def claim_deliveries(database: Database, *, now: float, limit: int = 10) -> list[PendingDelivery]:
    """Claim the answers that are due; no other scheduler gets them for a while."""
    due = database.rows("schedule.due_deliveries", {"now": now, "limit": limit})
    found: list[PendingDelivery] = []
    if not due:
        return found
    with database.write():
        for row in due:
            record = run_from_row(row)
            key = key_of(record.slot, record.attempt)
            # Changes a row only if no other scheduler has claimed it since it was read.
            if database.run(
                "schedule.claim_delivery", {**key, "until": now + HOLD_SECONDS, "seen_at": row["delivery_at"]}
            ):
                job = database.row("schedule.job", {"id": record.job_id})
                if job is not None:
                    found.append(PendingDelivery(job_from_row(job).job, record, int(row["delivery_attempts"]) + 1))
    return found


def claim_own(database: Database, job: Job, record: JobRun, *, now: float) -> PendingDelivery | None:
    """Claim the answer of a run that just ended here; None if there is none, or another scheduler has it."""
    values = {**key_of(record.slot, record.attempt), "until": now + HOLD_SECONDS, "seen_at": record.ended_at}
    with database.write():
        is_claimed = bool(database.run("schedule.claim_delivery", values))
    return PendingDelivery(job, record, 1) if is_claimed else None


def settle_delivery(
    database: Database, pending: PendingDelivery, delivered: DeliveryResult, *, now: float
) -> DeliveryResult:
    """Store the result of one try: delivered, to be tried again later, or given up."""
    settled = delivered
    if delivered.state == "pending" and pending.tries >= TRIES:
        settled = DeliveryResult("failed", f"given up after {TRIES} tries: {delivered.error}")
    wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (pending.tries - 1))
    values = {
        **key_of(pending.record.slot, pending.record.attempt),
        "delivery": settled.state,
        "delivery_error": settled.error,
        "delivery_at": now + wait,
    }
    with database.write():
        database.run("schedule.set_delivery", values)
    return settled


def next_delivery(database: Database) -> float | None:
    """When the next answer is to be delivered; None: there is none."""
    row = database.row("schedule.next_delivery")
    return None if row is None else row["delivery_at"]
