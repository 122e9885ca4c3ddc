"""Mines histories into a folder of Parquet, answers questions about it, and forgets sessions in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.app.stores import Progress, kept_secrecy, no_progress, own_paths
from seasoned.atomic_write import write_atomic
from seasoned.config import Config
from seasoned.errors import CannotDo, SeasonedError, UsageError, require
from seasoned.file_lock import locked
from seasoned.store import open_store
from seasoned.text import plural

if TYPE_CHECKING:
    from seasoned.mine.run import Engine, MinedFolder, MineReport, QueryAnswer

_FOLDERS = "mined-folders.json"


def mined_address(config: Config, out: str | None) -> str:
    """Where mined tables are: as the user says, else in the home folder."""
    if not out:
        return str(config.home / "mined")
    return out if "://" in out else str(Path(out).expanduser().absolute())


def make_engine(config: Config, name: str, *, workers: int | None = None, scheduler: str | None = None) -> Engine:
    """Where the work is done: `inline`, `pool` or `dask`."""
    require("`seasoned mine`", "distributed" if name == "dask" else "pyarrow")
    from seasoned.mine.run import Engine

    if scheduler is not None and name != "dask":
        raise UsageError("--scheduler is for --engine dask.")
    return Engine(name, workers or config.workers or os.cpu_count() or 1, scheduler)  # type: ignore[arg-type]


def mine_into_folder(
    config: Config, paths: Sequence[str], *, out: str, engine: Engine, progress: Progress = no_progress
) -> MineReport:
    """Mine the paths, else the user's own histories, into a folder or address."""
    from seasoned.mine.read import list_files
    from seasoned.mine.run import mine

    passed_over: list[tuple[str, SeasonedError]] = []
    found = list_files(paths or map(str, own_paths(config)), lambda path, why: passed_over.append((path, why)))
    if passed_over and not found:
        raise passed_over[0][1]
    _note_folder(config, out)
    with _writing(out), progress() as tell:
        try:
            forgotten = _forgotten_sessions(config)
            return mine(found, out, kept_secrecy(config), engine, forgotten=forgotten, progress=tell)
        except OSError as error:
            raise CannotDo(f"{out!r} cannot be read or written: {error}.") from error


def ask(out: str, sql: str, *, limit: int | None = None) -> QueryAnswer:
    """The answer to a SELECT about a mined folder."""
    require("`seasoned query`", "duckdb")
    from seasoned.mine.run import MinedFolder, query

    return query(MinedFolder(out), sql, limit=limit)


def find_mined(config: Config, what: str) -> str | None:
    """The session, as agent:id, that mined folders hold under an id or the beginning of one; None if none does."""
    found: set[str] = set()
    for out in _folders(config):
        try:
            found |= {f"{agent}:{native_id}" for agent, native_id in _open(out).refs() if native_id.startswith(what)}
        except (SeasonedError, OSError):
            continue  # out of reach now; the session may be in another folder
    whole = {ref for ref in found if ref.partition(":")[2] == what}
    if len(whole or found) > 1:
        raise UsageError(f"{what!r} is the beginning of {plural(len(found), 'mined session')}. Give the whole id.")
    return next(iter(whole or found), None)


def forget_mined(config: Config, refs: Sequence[str], *, is_everything: bool) -> list[str]:
    """Remove sessions, named as agent:id, from mined folders; sentences about where they still are."""
    left = []
    named = {(agent, native_id) for agent, _, native_id in (ref.partition(":") for ref in refs)}
    for out in _folders(config):
        if "://" in out and is_everything:
            left.append(f"The mined folder {out}, which others may use too. Remove it if it is yours alone.")
            continue
        try:
            with _writing(out):
                if is_everything:
                    _open(out).clear()
                else:
                    _open(out).forget(named)
        except (SeasonedError, OSError) as error:
            left.append(f"Rows in the mined folder {out}. {error}")
    return left


def _open(out: str) -> MinedFolder:
    require("A mined folder", "pyarrow")
    from seasoned.mine.run import MinedFolder

    return MinedFolder(out)


@contextmanager
def _writing(out: str) -> Iterator[None]:
    """Two runs at once would write the same list of files."""
    if "://" in out:
        yield
    else:
        with locked(Path(out) / "_lock", wait_seconds=1.0):
            yield


def _note_folder(config: Config, out: str) -> None:
    """Keep in mind that something is mined into a folder."""
    known = _folders(config)
    if out not in known:
        content = msgspec.json.encode(sorted({*known, out}))
        write_atomic(config.home / _FOLDERS, content, unfinished=config.home / "unfinished")


def _folders(config: Config) -> list[str]:
    """Folders that were mined into and still exist, and addresses, which cannot be checked from here."""
    file = config.home / _FOLDERS
    noted = msgspec.json.decode(file.read_bytes(), type=list[str]) if file.exists() else []
    return [out for out in sorted({*noted, str(config.home / "mined")}) if "://" in out or Path(out).is_dir()]


def _forgotten_sessions(config: Config) -> list[tuple[str, str]]:
    """The sessions that were forgotten, by agent and id."""
    if not config.store_path.exists():
        return []
    with open_store(config.store_path) as store:
        return [(row["agent"], row["native_id"]) for row in store.rows("session.forgotten") if row["agent"] != "*"]
