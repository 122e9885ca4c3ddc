"""The ledger of used requests: a file beside the database that only grows, so that a restored backup reuses nothing.

A line for each request that was redeemed or denied, or has expired, chained like the audit. The database is the truth;
what a crash left out is added at the next start of a service. Its head is exported together with that of the audit.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from seasoned.atomic_write import make_private_folder
from seasoned.confirm.request.canonical_json import canonical, digest_of
from seasoned.errors import CannotDo
from seasoned.file_lock import locked
from seasoned.store import Database

NAME = "confirm-used.jsonl"
# Held while a service runs, so that no backup is restored under it.
SERVICE_LOCK = "confirm-service.lock"
FIRST = "0" * 64
Outcome = Literal["redeemed", "denied", "expired"]
# Longer than any line.
_TAIL = 4096
_log = logging.getLogger("seasoned.confirm")


class UsedRequest(msgspec.Struct, frozen=True):
    """One line: a request that can never be used again, and the hash of the line before."""

    number: int
    id: str
    outcome: Outcome
    at: float
    previous: str
    hash: str = ""


class UsedLedger:
    """The ledger in a file. Several processes may add to it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def outcome_of(self, request_id: str) -> Outcome | None:
        """How a request was used up; None if it was not."""
        data = self._read()
        # The whole file is searched, not parsed: only a request that is about to be used is looked up.
        at = data.find(b'"id":"%s"' % request_id.encode("ascii", "replace"))
        if at < 0:
            return None
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        try:
            return msgspec.json.decode(data[start : len(data) if end < 0 else end], type=UsedRequest).outcome
        except msgspec.DecodeError:
            # A damaged line still names the request.
            return "redeemed"

    def add(self, used: Iterable[tuple[str, Outcome, float]]) -> None:
        """Add lines. They are not synced: the database has them, and `complete` adds what a power failure took."""
        make_private_folder(self.file.parent)
        with locked(self.file.with_name(f"{self.file.name}.lock")):
            last = self._last()
            lines = []
            for request_id, outcome, at in used:
                last = _chained(UsedRequest(last.number + 1, request_id, outcome, at, last.hash))
                lines.append(msgspec.json.encode(last) + b"\n")
            if not lines:
                return
            handle = os.open(self.file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            try:
                os.write(handle, b"".join(lines))
            finally:
                os.close(handle)

    def note(self, used: Iterable[tuple[str, Outcome, float]]) -> None:
        """`add` after the database has committed: a file that cannot be written must not undo what happened."""
        try:
            self.add(used)
        except (OSError, CannotDo) as error:
            _log.error("the ledger of used requests was not written, the next start adds it: %s", error)

    def complete(self, database: Database) -> int:
        """Add what the database knows and the ledger does not; returns how many."""
        known = {one.id for one in self.entries()}
        missing: list[tuple[str, Outcome, float]] = []
        for row in database.each("confirm.used_up"):
            if str(row["id"]) not in known:
                status = str(row["status"])
                outcome: Outcome = "denied" if status == "denied" else "expired" if status == "expired" else "redeemed"
                missing.append((str(row["id"]), outcome, float(row["at"])))
        self.add(missing)
        return len(missing)

    def head(self) -> tuple[int, str]:
        """The number and hash of the last line."""
        last = self._last()
        return last.number, last.hash

    def entries(self) -> list[UsedRequest]:
        """All lines; CannotDo if one is not a line of the ledger."""
        try:
            return [msgspec.json.decode(line, type=UsedRequest) for line in self._read().splitlines() if line]
        except msgspec.DecodeError as error:
            raise CannotDo(f"{str(self.file)!r} has a line that is not of the ledger: {error}") from error

    def problems(self, database: Database) -> list[str]:
        """What was changed outside the service: in the ledger itself, or in the database it describes."""
        try:
            entries = self.entries()
        except CannotDo as error:
            return [str(error)]
        before = _none()
        for one in entries:
            if one.number != before.number + 1 or one.previous != before.hash or _chained(one).hash != one.hash:
                return [f"line {before.number + 1} of {str(self.file)!r} was changed, or lines before it are missing"]
            before = one
        in_database = {str(row["id"]): row for row in database.each("confirm.used_up")}
        return [
            f"the ledger of used requests says that {one.id!r} was {one.outcome}, but the database does not: the "
            "database was set back"
            for one in entries
            if one.id not in in_database
        ]

    def head_problem(self, count: int, last_hash: str) -> str | None:
        """Why an exported head of the ledger does not belong to it; None if it does."""
        if count == 0:
            return None
        entries = self.entries()
        if len(entries) < count:
            return f"the ledger of used requests ends at line {len(entries)}, line {count} was exported: it was cut off"
        return None if entries[count - 1].hash == last_hash else f"line {count} of the ledger is not the exported one"

    def _last(self) -> UsedRequest:
        try:
            with self.file.open("rb") as handle:
                handle.seek(0, os.SEEK_END)
                handle.seek(max(0, handle.tell() - _TAIL))
                lines = [line for line in handle.read().splitlines() if line]
            return msgspec.json.decode(lines[-1], type=UsedRequest) if lines else _none()
        except FileNotFoundError:
            return _none()
        except (OSError, msgspec.DecodeError) as error:
            raise CannotDo(f"the ledger of used requests {str(self.file)!r} cannot be read: {error}") from error

    def _read(self) -> bytes:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise CannotDo(f"the ledger of used requests {str(self.file)!r} cannot be read: {error}") from error


def ledger_of(home: Path, database_file: Path | None = None) -> UsedLedger:
    """The ledger of the store in a home folder, or of a database file given on the command line."""
    return UsedLedger(home / NAME if database_file is None else database_file.with_name(f"{database_file.name}.used"))


def _none() -> UsedRequest:
    return UsedRequest(0, "", "expired", 0.0, "", FIRST)


def _chained(one: UsedRequest) -> UsedRequest:
    body = {name: getattr(one, name) for name in ("number", "id", "outcome", "at", "previous")}
    return msgspec.structs.replace(one, hash=digest_of(canonical(body, field="line")))
