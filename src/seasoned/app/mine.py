"""Mines histories into a folder of Parquet and answers questions about it."""

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

if TYPE_CHECKING:
    from seasoned.mine.run import Engine, MineReport, QueryAnswer

_FOLDERS = "mined-folders.json"


def mined_address(config: Config, out: str | None) -> str:
    """Where mined tables are: as the user says, else in the home folder."""
    if not out:
        return str(config.home / "mined")
    return out if "://" in out else str(Path(out).expanduser().absolute())


def make_engine(config: Config, name: str, *, scheduler: str | None = None) -> Engine:
    """Where the work is done: `inline`, `pool` or `dask`."""
    require("`seasoned mine`", "distributed" if name == "dask" else "pyarrow")
    from seasoned.mine.run import Engine

    if scheduler is not None and name != "dask":
        raise UsageError("--scheduler is for --engine dask.")
    return Engine(name, config.workers or os.cpu_count() or 1, scheduler)  # type: ignore[arg-type]


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
    known = mined_folders(config)
    if out not in known:
        content = msgspec.json.encode(sorted({*known, out}))
        write_atomic(config.home / _FOLDERS, content, unfinished=config.home / "unfinished")


def mined_folders(config: Config) -> list[str]:
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
