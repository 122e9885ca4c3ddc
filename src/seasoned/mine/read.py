"""Reads files into one Arrow table: the first of the two functions that every engine runs."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec
import pyarrow as pa

from seasoned.digest import short_digest
from seasoned.experience.learner import SessionLearner, learner_rules
from seasoned.mine.source import SourceFile, as_file, local_copy
from seasoned.mine.table import MINED, FileFacts, MinedFile, mined_table
from seasoned.outcome.verdict import JUDGE
from seasoned.redact.key import Secrecy
from seasoned.scan.file_reader import FileReader
from seasoned.scan.rows import NOT_A_HISTORY, CallRow, FileJob, SessionRows

# A reader remembers the words it redacted last, so each thread of a worker has its own.
_own = threading.local()


def mine_files(files: Iterable[SourceFile | str], secrecy: Secrecy) -> pa.Table:
    """The sessions of some files with their calls: judged, truncated, redacted, and learned from.

    The same files give the same table, on every machine and in every order of workers. The schema is `table.MINED`.
    """
    return mined_table([_mined(as_file(file), secrecy) for file in files])


@cache
def read_rules() -> str:
    """A digest of the rules by which this version reads, judges and learns, and of the columns that come out."""
    return short_digest(JUDGE, learner_rules(), MINED.to_string())


def _reader(secrecy: Secrecy) -> FileReader:
    """The reader of a scan; making one compiles the rules of redaction, so it is kept."""
    known: dict[Secrecy, FileReader] = _own.__dict__.setdefault("readers", {})
    if secrecy not in known:
        known.clear()
        known[secrecy] = FileReader(secrecy.redactor(), "full", SessionLearner())
    return known[secrecy]


def _mined(file: SourceFile, secrecy: Secrecy) -> MinedFile:
    rows: list[SessionRows] = []
    facts = FileFacts(file.address, file.size, file.mtime_ns, file.version, NOT_A_HISTORY, JUDGE)
    with local_copy(file) as path:
        for batch in _reader(secrecy).read(FileJob(str(path), file.size, file.mtime_ns, named=False)):
            rows += [one for one in batch.sessions if one.messages or one.calls]
            facts = msgspec.structs.replace(
                facts,
                format=batch.format,
                resume=batch.resume,
                check_digest=batch.check_digest,
                stamps=batch.stamps,
                unreadable=[*facts.unreadable, *batch.unreadable],
                failure=_named(batch.failure, path, file),
            )
    return MinedFile(facts, _learned_from(rows))


def _named(reason: str | None, path: Path, file: SourceFile) -> str | None:
    """A reason that names the address of a file, and not that of its copy."""
    return None if reason is None else reason.replace(str(path), file.address)


def _learned_from(rows: list[SessionRows]) -> list[SessionRows]:
    """Learn from sessions that were read in several stretches too: their last row gets what all of them show."""
    of_session: dict[tuple[str, str], list[int]] = {}
    for at, row in enumerate(rows):
        of_session.setdefault((row.agent, row.native_id), []).append(at)
    for places in of_session.values():
        if len(places) > 1:
            parts = [rows[at] for at in places]
            known: dict[str, CallRow] = {}
            for call in (call for part in parts for call in part.calls):
                # As the store keeps them: a later row of a call replaces an earlier one, unless it has lost the result.
                if call.result is not None or call.call_id not in known or known[call.call_id].result is None:
                    known[call.call_id] = call
            corrections = [message for part in parts for message in part.corrections]
            whole = msgspec.structs.replace(
                parts[-1], calls=list(known.values()), corrections=corrections, started=parts[0].started
            )
            rows[places[-1]] = msgspec.structs.replace(parts[-1], learned=SessionLearner().learn(whole))
    return rows
