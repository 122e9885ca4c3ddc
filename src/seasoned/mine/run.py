"""Mines files into a folder: reads those that are new or changed, each by itself, on any engine.

Nothing is lost if it stops: a file counts as mined once its rows are written, and the next run continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial

import msgspec

from seasoned.mine.engine import Engine
from seasoned.mine.folder import MinedFolder, without_sessions
from seasoned.mine.read import manner_of, read_file
from seasoned.mine.table import MinedTables, SourceFile, mined_tables
from seasoned.redact.key import Secrecy
from seasoned.scan.rows import NOT_A_HISTORY

Progress = Callable[[int, int], None]


class MineTask(msgspec.Struct, frozen=True):
    """What is the same for every file of a run."""

    out: str
    secrecy: Secrecy
    forgotten: frozenset[tuple[str, str]]  # sessions that are left out, by agent and id


class MinedFile(msgspec.Struct, frozen=True):
    """A file of a history that was mined, or why it was not."""

    file: SourceFile
    format: str = NOT_A_HISTORY
    unreadable: int = 0
    sessions: int = 0
    calls: int = 0
    names: list[str] = []  # the files of the folder that hold its rows
    failure: str | None = None


class MineReport(msgspec.Struct, frozen=True):
    """What mining did."""

    files: int
    read: int
    unchanged: int
    no_history: int
    sessions: int
    calls: int
    unreadable: int
    failures: tuple[tuple[str, str], ...]  # files that could not be read, and why
    bytes: int
    seconds: float


def mine_into(task: MineTask, file: SourceFile) -> MinedFile:
    """Read a file and write its rows. Runs in workers."""
    try:
        found = read_file(file, task.secrecy)
        if found.failure is not None:
            return MinedFile(file, failure=found.failure)
        tables = mined_tables([(file, found.rows)])
        if task.forgotten:
            tables = MinedTables(*[without_sessions(one, task.forgotten) for one in tables])
        names = MinedFolder(task.out).write_tables(file.address, tables)
        return MinedFile(file, found.format, found.unreadable, len(tables.sessions), len(tables.calls), names)
    except Exception as error:  # noqa: BLE001 - one file: whatever breaks it, the others go on
        return MinedFile(file, failure=f"{type(error).__name__}: {error}")


def mine(
    files: Sequence[SourceFile],
    out: str,
    secrecy: Secrecy,
    engine: Engine,
    *,
    forgotten: Collection[tuple[str, str]] = (),
    progress: Progress = lambda done, total: None,
) -> MineReport:
    """Bring a folder up to date with the files. Files that are gone keep their rows."""
    begun = time.perf_counter()
    folder = MinedFolder(out)
    manner = manner_of(secrecy)
    known = {row["address"]: row for row in folder.sources()}
    fields = SourceFile.__struct_fields__
    current = {SourceFile(*[row[name] for name in fields]) for row in known.values() if row["manner"] == manner}
    new = [one for one in files if one not in current]
    total, done = sum(one.size for one in new), 0
    found: list[MinedFile] = []
    try:
        for one in engine.run(partial(mine_into, MineTask(out, secrecy, frozenset(forgotten))), new):
            found.append(one)
            done += one.file.size
            progress(done, total)
            if one.failure is None:
                earlier = known.get(one.file.address, {}).get("files", ())
                for name in set(earlier) - set(one.names):
                    folder.remove(name)
                about = {"format": one.format, "unreadable": one.unreadable, "manner": manner, "files": one.names}
                known[one.file.address] = {**msgspec.structs.asdict(one.file), **about}
    finally:
        # Also if it is interrupted: the next run goes on from here.
        if any(one.failure is None for one in found):
            folder.write_sources(list(known.values()))
    read = [one for one in found if one.failure is None]
    return MineReport(
        files=len(files),
        read=sum(one.format != NOT_A_HISTORY for one in read),
        unchanged=len(files) - len(new),
        no_history=sum(one.format == NOT_A_HISTORY for one in read),
        sessions=sum(one.sessions for one in read),
        calls=sum(one.calls for one in read),
        unreadable=sum(one.unreadable for one in read),
        failures=tuple(sorted((one.file.address, one.failure) for one in found if one.failure is not None)),
        bytes=total,
        seconds=time.perf_counter() - begun,
    )


def remember(folder: MinedFolder) -> None:
    """Have the next run read every file again, so that sessions come back that were forgotten."""
    folder.write_sources([{**row, "manner": ""} for row in folder.sources()])
