"""Opens what a caller works on: stores, histories at a path, the shared database, memory and skills, the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.atomic_write import make_private_folder
from seasoned.begin.memory import project_folder
from seasoned.config import Config
from seasoned.errors import NotFound, SourceError, StoreError
from seasoned.history.discover import ACP, discover
from seasoned.redact.key import Secrecy, load_key, new_key
from seasoned.scan.rows import Learner
from seasoned.scan.scan import ScanReport, ScanTarget, scan
from seasoned.session import Session
from seasoned.store import Database, DatabaseRow, Store, open_database, open_store
from seasoned.store.database import open_temporary
from seasoned.store.project import find_project, project_key
from seasoned.store.search import find_session

if TYPE_CHECKING:
    import logging

    from seasoned.live import RunningSessions
    from seasoned.redact.redactor import Redactor
    from seasoned.review.journal import ChangeJournal

# The log rotates: at most 4 MB on disk, however long a server runs.
_LOG_BYTES = 1_000_000
_OLD_LOGS = 3
# Learning again from a large history takes long: the newest sessions come first, and the next scan or recall continues.
_FILL_SECONDS = 60.0

TellProgress = Callable[[int, int], None]
Progress = Callable[[], AbstractContextManager[TellProgress]]


class Histories(msgspec.Struct, frozen=True):
    """The sessions that a command works on, and the files that were passed over when they were read."""

    store: Store
    passed_over: tuple[tuple[str, str], ...] = ()  # paths, and why
    ids: tuple[int, ...] = ()
    note: str = ""  # for people: where the sessions come from


def no_progress() -> AbstractContextManager[TellProgress]:
    """Progress that shows nothing."""
    return nullcontext(lambda done, total: None)


def read_secrecy(config: Config) -> Secrecy:
    """The redaction for what is only shown or sent: where there is no key yet, one for this once, and no file."""
    has_key = (config.home / "redact.key").exists()
    return Secrecy(load_key(config.home) if has_key else new_key(), config.redact)


def make_redactor(config: Config) -> Redactor:
    """A redactor for what is shown or sent; it writes no key."""
    return read_secrecy(config).redactor()


def kept_secrecy(config: Config) -> Secrecy:
    """The redaction for everything that is written; creates the key if there is none."""
    return Secrecy(load_key(config.home), config.redact)


def own_paths(config: Config) -> list[Path]:
    """Where this user's agents keep their histories; if nowhere, the files that were scanned before."""
    found = discover(config) or scanned_files(config)
    if not found and not has_sessions(config):
        raise NotFound(
            "No histories found where agents keep them (`seasoned doctor` lists the places). Give a path, or try "
            "`seasoned up`."
        )
    return found


def has_sessions(config: Config) -> bool:
    """Whether the user's store holds any session."""
    if not config.store_path.exists():
        return False
    with open_store(config.store_path) as store:
        row = store.row("source.last_read")
    return row is not None and bool(row["has_sessions"])


def scanned_files(config: Config) -> list[Path]:
    """The histories that were scanned into the store and still exist."""
    if not config.store_path.exists():
        return []
    with open_store(config.store_path) as store:
        known = [Path(row["path"]) for row in store.rows("source.paths")]
    return [path for path in known if path.exists()]


def scan_into_store(
    config: Config,
    paths: Sequence[Path],
    *,
    progress: Progress = no_progress,
    by_person: bool = True,
) -> tuple[ScanReport, Store | None]:
    """Read the paths into the user's store and index what is new for recall; no store where nothing was found.

    `by_person`: after everything was forgotten, sessions that had ended by then are read again.
    """
    secrecy = kept_secrecy(config)
    # The store appears with the first session: a scan that finds nothing leaves none.
    target = ScanTarget(config.store_path)
    known = target.existing() if by_person else None
    if known is not None and known.row("session.forgot_ended") is not None:
        with known.write():
            known.run("session.read_ended")
            known.run("source.read_again")
    report = _scan(config, target, paths, secrecy, progress, make_learner)
    store = target.existing()
    if store is not None and (report.sessions or count_waiting(store)):
        report = msgspec.structs.replace(report, waiting=learn_rest(store))
    if store is not None and (report.unreadable or report.failures):
        _log(config, store, report, secrecy)
    return report, store


def learn_rest(store: Store) -> int:
    """Learn from new sessions what the readers could not; returns how many sessions still wait."""
    # Imported here: most scans find nothing new.
    from seasoned.lesson.storage import refresh

    refresh(store, within_seconds=_FILL_SECONDS)
    _suspend_outdated(store)
    return count_waiting(store)


def count_waiting(store: Store) -> int:
    """How many sessions were read and not learned from yet."""
    row = store.row("lesson.count_waiting")
    return 0 if row is None else int(row["sessions"])


def make_learner() -> Learner:
    """What learns from sessions while they are read."""
    # Imported here: most scans find nothing new.
    from seasoned.lesson.learner import SessionLearner

    return SessionLearner()


def _suspend_outdated(store: Store) -> None:
    """Stop showing examples that the sessions just read contradict, without waiting for templates to be rebuilt."""
    if store.row("template.newest_name") is None:
        return
    from seasoned.example.library.storage import snapshot
    from seasoned.example.library.upkeep import settle

    now = time.time()
    settle(store, snapshot(store, now=now), now=now)


def check_readable(report: ScanReport) -> None:
    """Raise if there were files to read and all of them failed."""
    if report.failures and not report.read and not report.unchanged:
        # Single failures are listed with the result; here there is no result to list them with.
        raise SourceError(f"Nothing could be read. {report.failures[0][1]}")


def _log(config: Config, store: Store, report: ScanReport, secrecy: Secrecy) -> None:
    log = open_log(config, secrecy)
    log.info("read %d files, %d sessions, %d calls", report.read, report.sessions, report.calls)
    for path, reason in report.failures:
        log.warning("left out %s: %s", path, reason)
    for row in store.rows("source.unreadable") if report.unreadable else ():
        log.warning("unreadable %s, %s: %s", row["path"], row["place"], row["reason"])


def read_histories(
    config: Config,
    paths: Sequence[Path],
    *,
    progress: Progress = no_progress,
) -> tuple[ScanReport, Store]:
    """Read the paths into a store that is deleted afterwards."""
    target = ScanTarget(None)
    report = _scan(config, target, paths, read_secrecy(config), progress)
    check_readable(report)
    return report, target.open()


def read_samples(config: Config, *, path: Path | None = None) -> tuple[ScanReport, Store]:
    """The sample histories that come with the package, indexed for recall."""
    target = ScanTarget(path)
    folder = Path(__file__).parents[1] / "samples"
    report = _scan(config, target, [folder], read_secrecy(config), no_progress, make_learner)
    store = target.open()
    from seasoned.lesson.storage import refresh

    refresh(store)
    return report, store


def own_store(config: Config) -> Store:
    """The user's store, which must exist."""
    # Opening would create it, and an empty answer would look like a real one.
    if not config.store_path.exists():
        raise StoreError(f"There is no store at {str(config.store_path)!r} yet. Run `seasoned scan` first.")
    return open_store(config.store_path)


def user_store(config: Config) -> Store:
    """The user's store, created if there is none: for servers, to which an empty store is an answer too."""
    return open_store(config.store_path)


@contextmanager
def store_or_empty(config: Config) -> Iterator[Store]:
    """The user's store, or an empty temporary one if there is none yet."""
    with open_store(config.store_path) if config.store_path.exists() else open_temporary() as store:
        yield store


def uses_store(config: Config, paths: Sequence[Path]) -> bool:
    """Where a command finds its sessions: in the paths; without any, in the store if it has sessions.

    If it has none, the user's own histories are read; but what was forgotten must not come back in that way.
    """
    if paths or has_sessions(config):
        return not paths
    with store_or_empty(config) as store:
        return store.row("session.forgotten") is not None


@contextmanager
def histories(
    config: Config,
    paths: Sequence[Path] = (),
    *,
    progress: Progress = no_progress,
) -> Iterator[Histories]:
    """The sessions that a command works on, found as `uses_store` says."""
    if uses_store(config, paths):
        with own_store(config) as store:
            yield Histories(store, note=_store_note(store))
        return
    report, read = read_histories(config, paths, progress=progress)
    with read as store:
        yield Histories(store, report.failures)


def _store_note(store: Store) -> str:
    """When the store was last updated: the user may expect newer sessions."""
    row = store.row("source.last_read")
    if row is None or row["scanned_at"] is None:
        return "From the store. `seasoned scan` adds the histories of your agents."
    at = datetime.fromtimestamp(row["scanned_at"]).astimezone()
    return f"From the store, last scan {at:%Y-%m-%d %H:%M}. `seasoned scan` reads what is new."


def exists(text: str) -> bool:
    """Whether a file or folder has this name, or it names a command that is asked for sessions."""
    try:
        return text.startswith(ACP) or (bool(text.strip()) and Path(text).exists())
    # Too long a name, or one with a NUL byte.
    except (OSError, ValueError):
        return False


@contextmanager
def shared_database(config: Config, *, durable: bool = False) -> Iterator[Database]:
    """The database of confirmations, jobs, assignments and usage: shared by machines, or the store itself.

    With `durable`, what was acknowledged outlives a crash of the machine.
    """
    database = open_database(config, durable=durable)
    try:
        yield database
    finally:
        database.close()


def _scan(
    config: Config,
    target: ScanTarget,
    paths: Sequence[Path],
    secrecy: Secrecy,
    progress: Progress,
    make_learner: Callable[[], Learner] | None = None,
) -> ScanReport:
    with progress() as tell:
        return scan(
            target,
            paths or own_paths(config),
            secrecy,
            discovered=not paths,
            workers=config.workers,
            progress=tell,
            make_learner=make_learner,
        )


def read_source(row: DatabaseRow) -> Session:
    """The session of a store's row with all its messages, read again from its file."""
    # Imported here: few commands need a session's messages, and the formats take 10 ms.
    from seasoned.history.formats import read_file

    ref = f"{row['agent']}:{row['native_id']}"
    # The path is empty for sources that were forgotten.
    if not row["path"] or not Path(row["path"]).exists():
        raise NotFound("The file it came from is gone.")
    path = Path(row["path"])
    # A database may be large, so one session is looked for first. In a repository it may have another id.
    for session in chain(read_file(path, {row["native_id"]}), read_file(path)):
        if str(session.ref) == ref:
            return session
    raise NotFound("The file it came from no longer holds it.")


def find_source(store: Store, text: str | None) -> Session:
    """A session of a store by its id, read from its file; without an id the newest."""
    if text is None:
        newest = store.row("review.newest_session")
        if newest is None:
            raise NotFound("There are no sessions yet. Run `seasoned scan` first, or give a path.")
        text = f"{newest['agent']}:{newest['native_id']}"
    row = find_session(store, text)
    try:
        return read_source(row)
    except NotFound as error:
        raise NotFound(f"{row['agent']}:{row['native_id']} cannot be read. {error}") from error


@contextmanager
def memory_and_skills(config: Config, *, memory: Path | None = None) -> Iterator[ChangeJournal]:
    """The user's memory, or that in another folder, and skills, with the store that records their changes."""
    with open_store(config.store_path) as store:
        yield memory_and_skills_in(config, store, memory=memory)


def memory_and_skills_in(
    config: Config,
    store: Store,
    *,
    memory: Path | None = None,
    redactor: Redactor | None = None,
) -> ChangeJournal:
    """Memory and skills with a store that is already open. Without a redactor, the redaction key is created."""
    # Imported here: only commands that change memory or skills need it.
    from seasoned.review.journal import ChangeJournal

    return ChangeJournal(
        store=store,
        redactor=redactor or kept_secrecy(config).redactor(),
        home=config.home,
        memory_folder=memory or config.home / config.memory_folder,
        skill_folder=config.home / config.skill_folder,
    )


def folder_of_project(config: Config, name: str) -> Path:
    """Where notes and skills of a project are kept; `name` is its name, key or folder."""
    with store_or_empty(config) as store:
        here = Path.cwd()
        own = project_key(store, str((here / name).resolve())) if (here / name).is_dir() else None
        return project_folder(config.home, own or find_project(store, name, base=str(here)).key)


def project_folder_at(config: Config, folder: Path) -> Path | None:
    """Where notes and skills of the project are kept that a folder belongs to."""
    with store_or_empty(config) as store:
        key = project_key(store, str(folder))
    return None if key is None else project_folder(config.home, key)


def live_sessions(config: Config, paths: Sequence[Path] = ()) -> RunningSessions:
    """The sessions that are running under these paths, or those of this user's agents."""
    from seasoned.live import LiveReader, RunningSessions

    return RunningSessions(tuple(paths) or own_paths(config), LiveReader(make_redactor(config)))


def open_log(config: Config, secrecy: Secrecy) -> logging.Logger:
    """The logger of this process, writing to the user's log folder."""
    # Imported here: most commands have nothing to log, and these take longer to load than a scan that finds nothing.
    import logging
    from logging.handlers import RotatingFileHandler

    from seasoned.redact.redactor import RedactingFormatter

    logger = logging.getLogger("seasoned")
    logger.setLevel(logging.INFO)
    # Otherwise a handler that a library put on the root logger would print lines that are not redacted.
    logger.propagate = False
    # A log that cannot be written, as on a full disk, must not cover what a command says with tracebacks.
    logging.raiseExceptions = False
    # Servers and tests open the log more than once in one process; each line must appear once.
    if not logger.handlers:
        make_private_folder(config.home)
        make_private_folder(config.log_folder)
        path = config.log_folder / "seasoned.log"
        # `delay`: no file until there is a line to write.
        handler = RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=_OLD_LOGS, encoding="utf-8", delay=True)
        handler.setFormatter(RedactingFormatter(secrecy.redactor()))
        logger.addHandler(handler)
    return logger
