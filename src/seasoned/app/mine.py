"""Mines histories into a folder of Parquet, loads it into a store, answers questions, and forgets sessions in it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.app.extras import require
from seasoned.app.stores import Progress, kept_secrecy, learn_rest, no_progress, own_paths
from seasoned.atomic_write import write_atomic
from seasoned.config import Config
from seasoned.errors import CannotDo, NotFound, SeasonedError, UsageError
from seasoned.file_lock import locked
from seasoned.store import open_store
from seasoned.text import plural

if TYPE_CHECKING:
    from seasoned.insight.report import Report
    from seasoned.mine.folder import MinedFolder
    from seasoned.mine.query import QueryAnswer
    from seasoned.mine.run import MineReport, TakenUp
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
    from seasoned.mine.read import list_files
    from seasoned.mine.run import mine

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


def take_up_into(out: str, store_path: str) -> TakenUp:
    """Take a mined folder up into the store at a path, created if there is none, and learn from it."""
    if "://" in store_path:
        raise UsageError("--into takes the path of a store on this machine.")
    path = Path(store_path).expanduser()
    folder = _mined_folder(out)
    from seasoned.mine.run import take_up

    with open_store(path / "seasoned.db" if path.is_dir() else path) as store:
        taken = take_up(folder, store)
        if taken.sessions:
            learn_rest(store)
        return taken


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
    from seasoned.mine.query import report_on_mined

    folder = MinedFolder(mined_address(config, out))
    return report_on_mined(folder, made_at=time.time(), agent=agent, project=project, lengths=lengths, include=include)


_FOLDERS = "mined-folders.json"


def note_folder(config: Config, out: str) -> None:
    """Keep in mind that something is mined into a folder."""
    known = _folders(config)
    if out not in known:
        content = msgspec.json.encode(sorted({*known, out}))
        write_atomic(config.home / _FOLDERS, content, unfinished=config.home / "unfinished")


def forgotten_sessions(config: Config) -> list[tuple[str, str]]:
    """The sessions that were forgotten, by agent and id."""
    if not config.store_path.exists():
        return []
    with open_store(config.store_path) as store:
        return [(row["agent"], row["native_id"]) for row in store.rows("session.forgotten") if row["agent"] != "*"]


def find_mined(config: Config, what: str) -> str | None:
    """The session, as agent:id, that mined folders hold under an id or the beginning of one; None if none does."""
    found: set[str] = set()
    for out in _folders(config):
        require("Looking into a mined folder", "mine", "pyarrow", "fsspec")
        from seasoned.mine.folder import MinedFolder

        try:
            folder = MinedFolder(out)
            for project in {one for each in folder.sources()["projects"].to_pylist() for one in each}:
                sessions = folder.sessions(project)
                refs = zip(sessions["agent"].to_pylist(), sessions["native_id"].to_pylist(), strict=True)
                found |= {f"{agent}:{native_id}" for agent, native_id in refs if native_id.startswith(what)}
        except (SeasonedError, OSError):
            continue  # out of reach now; the session may be in another folder
    whole = {ref for ref in found if ref.partition(":")[2] == what}
    if len(whole or found) > 1:
        raise UsageError(f"{what!r} is the beginning of {plural(len(found), 'mined session')}. Give the whole id.")
    return next(iter(whole or found), None)


def forget_mined(config: Config, refs: Sequence[str], *, is_everything: bool) -> list[str]:
    """Remove sessions, named as agent:id, from mined folders; sentences about where they still are."""
    left = []
    for out in _folders(config):
        try:
            require("Forgetting in a mined folder", "mine", "pyarrow", "fsspec")
            if "://" in out and is_everything:
                left.append(f"The mined folder {out}, which others may use too. Remove it if it is yours alone.")
            else:
                _forget_in(config, out, refs, is_everything=is_everything)
        except (SeasonedError, OSError) as error:
            left.append(f"Rows in the mined folder {out}, until the next `seasoned mine --out {out}`. {error}")
    return left


def remember_mined(config: Config, refs: Sequence[tuple[str, str]]) -> None:
    """Let the next run read forgotten sessions again."""
    for out in _folders(config):
        require("Remembering in a mined folder", "mine", "pyarrow", "fsspec")
        from seasoned.mine.folder import MinedFolder
        from seasoned.mine.run import remember

        remember(MinedFolder(out), refs)


def _folders(config: Config) -> list[str]:
    """Folders that were mined into and still exist, and addresses, which cannot be checked from here."""
    file = config.home / _FOLDERS
    noted = msgspec.json.decode(file.read_bytes(), type=list[str]) if file.exists() else []
    return [out for out in sorted({*noted, str(config.home / "mined")}) if "://" in out or Path(out).is_dir()]


def _forget_in(config: Config, out: str, refs: Sequence[str], *, is_everything: bool) -> None:
    from seasoned.mine.engine import InlineEngine
    from seasoned.mine.folder import MinedFolder
    from seasoned.mine.run import mine

    with locked(Path(out) / "_lock", wait_seconds=1.0) if "://" not in out else nullcontext():
        if is_everything:
            MinedFolder(out).clear()
        else:
            named = [(agent, native_id) for agent, _, native_id in (ref.partition(":") for ref in refs)]
            mine([], out, kept_secrecy(config), InlineEngine(), forgotten=named)
