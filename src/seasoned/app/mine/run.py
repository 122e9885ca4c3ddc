"""Mines histories into a folder of Parquet, takes one up into a store, and answers questions about it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from seasoned.app.extras import require
from seasoned.app.mine.forget import forgotten_sessions, note_folder
from seasoned.app.stores import Progress, kept_secrecy, learn_rest, no_progress, own_paths
from seasoned.config import Config
from seasoned.errors import CannotDo, NotFound, SeasonedError, UsageError
from seasoned.file_lock import locked
from seasoned.store import open_store

if TYPE_CHECKING:
    from seasoned.app.mine.push import MinedPush
    from seasoned.insight.report import Report
    from seasoned.mine.folder import MinedFolder
    from seasoned.mine.query import QueryAnswer
    from seasoned.mine.run import MineReport
    from seasoned.mine.take_up import TakenUp
    from seasoned.outcome.error_rate import Include

_TABLES = ("pyarrow", "fsspec")


def is_address(out: str) -> bool:
    """Whether a mined folder is behind an address of fsspec rather than on this machine."""
    return "://" in out


def mined_address(config: Config, out: str | None) -> str:
    """Where mined tables are: as the user says, else in the home folder."""
    if not out:
        return str(config.home / "mined")
    return out if is_address(out) else str(Path(out).expanduser().absolute())


def mine_into_folder(
    config: Config,
    paths: Sequence[str],
    *,
    out: str,
    engine: str = "pool",
    workers: int | None = None,
    scheduler: str | None = None,
    slow_seconds: float,
    progress: Progress = no_progress,
) -> MineReport:
    """Mine the paths, else the user's own histories, into a folder or address."""
    require("`seasoned mine`", "mine", *_TABLES, *(("distributed",) if engine == "dask" else ()))
    from seasoned.mine.engine import make_engine
    from seasoned.mine.run import mine
    from seasoned.mine.source import list_files

    if scheduler is not None and engine != "dask":
        raise UsageError("--scheduler is for --engine dask.")
    passed_over: list[tuple[str, SeasonedError]] = []
    found = list_files(paths or map(str, own_paths(config)), lambda path, why: passed_over.append((path, why)))
    if passed_over and not found:
        raise passed_over[0][1]
    secrecy = kept_secrecy(config)
    with ExitStack() as stack:
        if not is_address(out):
            # Two runs at once would merge into the same files.
            stack.enter_context(locked(Path(out) / "_lock", wait_seconds=1.0))
        running = make_engine(
            engine, workers or config.workers or os.cpu_count() or 1, address=scheduler, slow_seconds=slow_seconds
        )
        stack.callback(running.close)
        try:
            note_folder(config, out)
            with progress() as tell:
                return mine(found, out, secrecy, running, forgotten=forgotten_sessions(config), progress=tell)
        except OSError as error:
            raise CannotDo(f"{out!r} cannot be read or written: {error}.") from error


def is_server(into: str) -> bool:
    """Whether `--into` names the team's server rather than a store."""
    return into.startswith(("https://", "http://"))


def take_up_into(out: str, store_path: str) -> TakenUp:
    """Take a mined folder up into the store at a path, created if there is none, and learn from it."""
    if "://" in store_path:
        raise UsageError("--into takes the path of a store, or the http(s) address of your team's server.")
    path = Path(store_path).expanduser()
    folder = _mined_folder(out)
    from seasoned.mine.take_up import take_up

    with open_store(path / "seasoned.db" if path.is_dir() else path) as store:
        taken = take_up(folder, store)
        if taken.sessions:
            learn_rest(store)
        return taken


def push_into(config: Config, out: str, url: str, *, preview: Path | None = None) -> MinedPush:
    """Push a mined folder to the team's server; or write to a file what would be sent."""
    folder = _mined_folder(out)
    from seasoned.app.mine.push import push_mined

    with ExitStack() as stack:
        if not is_address(out):
            stack.enter_context(locked(Path(out) / "_lock", wait_seconds=1.0))
        return push_mined(config, folder.address, url, preview=preview)


def _mined_folder(out: str) -> MinedFolder:
    require("`seasoned mine`", "mine", *_TABLES)
    from seasoned.mine.folder import MinedFolder

    folder = MinedFolder(out)
    if not folder.names("sources"):
        raise NotFound(f"{out!r} has not been mined into. Give paths to mine, or another --out.")
    return folder


def ask(out: str, sql: str, *, limit: int | None = None) -> QueryAnswer:
    """The answer to a SELECT about a mined folder."""
    require("`seasoned query`", "query", *_TABLES, "duckdb")
    from seasoned.mine.folder import MinedFolder
    from seasoned.mine.query import query

    return query(MinedFolder(out), sql, limit=limit)


def report_on_folder(
    config: Config, out: str, *, agent: str | None, project: str | None, lengths: Sequence[int], include: Include
) -> Report:
    """The report on a mined folder."""
    require("`seasoned report --mined`", "query", *_TABLES, "duckdb")
    from seasoned.mine.folder import MinedFolder
    from seasoned.mine.report import report_on_mined

    folder = MinedFolder(mined_address(config, out))
    return report_on_mined(folder, made_at=time.time(), agent=agent, project=project, lengths=lengths, include=include)
