"""Which histories a command works on: paths given, this user's own, or what the store already has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path

from seasoned.config import Config, load
from seasoned.errors import CannotDo, NotFound, StoreError, UsageError
from seasoned.history.discover import discover, homes
from seasoned.redact.key import Secrecy, load_key, new_key
from seasoned.scan.rows import Mode
from seasoned.scan.scan import ScanReport, ScanTarget, scan
from seasoned.store import Store, open_store
from seasoned.store.search import find_session

_FILL_SECONDS = 5.0
"""After a scan; of a very long history the rest is looked at by the next one, or when something is recalled."""

TellProgress = Callable[[int, int], None]
Progress = Callable[[], AbstractContextManager[TellProgress]]


def no_progress() -> AbstractContextManager[TellProgress]:
    """For callers who show nothing while histories are read."""
    return nullcontext(lambda done, total: None)


def key_of(config: Config) -> tuple[bytes, Callable[[], None]]:
    """The user's redaction key, and what keeps a new one: it is written only when something else is."""
    if (config.home / "redact.key").exists():
        return load_key(config.home), lambda: None
    key = new_key()

    def keep() -> None:
        if load_key(config.home, proposed=key) != key:
            raise StoreError("Another command made the redaction key at the same moment: run this one again.")

    return key, keep


def own_paths(config: Config) -> list[Path]:
    """Where this user's agents keep their histories."""
    found = discover(config)
    if not found:
        places = ", ".join(str(path) for _, path in homes(config))
        raise NotFound(f"No histories were found (looked at {places}): give a path, or try `seasoned up`.")
    return found


def scan_into_store(
    config: Config, paths: Sequence[Path], *, verbose: bool = False, progress: Progress = no_progress
) -> tuple[ScanReport, Store | None]:
    """Read the paths into the user's store, with a progress bar where it takes long."""
    key, keep = key_of(config)
    target = ScanTarget(config.store_path, before_first_write=keep)
    report = _scan(config, target, paths, key, "full", progress)
    store = target.existing()
    if store is not None and report.sessions:
        # Imported here: most scans find nothing new.
        from seasoned.template.recall.index import fill

        fill(store, within_seconds=_FILL_SECONDS)
    if store is not None and (verbose or report.unreadable or report.failures):
        _log(config, store, report, Secrecy(key, config.redact), verbose=verbose)
    return report, store


def _log(config: Config, store: Store, report: ScanReport, secrecy: Secrecy, *, verbose: bool) -> None:
    # Imported here: most scans have nothing to say.
    from seasoned.app.log import open_log

    log = open_log(config, secrecy, verbose=verbose)
    log.info("read %d files, %d sessions, %d calls", report.read, report.sessions, report.calls)
    for path, reason in report.failures:
        log.warning("left out %s: %s", path, reason)
    for row in store.rows("source.unreadable") if report.unreadable else ():
        log.warning("unreadable %s, %s: %s", row["path"], row["place"], row["reason"])


def look(
    config: Config,
    paths: Sequence[Path],
    *,
    mode: Mode = "full",
    path: Path | None = None,
    progress: Progress = no_progress,
) -> tuple[ScanReport, Store]:
    """Read the paths into a store that is gone afterwards, or into one at another path than the user's own."""
    target = ScanTarget(path)
    report = _scan(config, target, paths, key_of(config)[0], mode, progress)
    return report, target.open()


def stored(config: Config) -> Store:
    """The user's store as it is."""
    if not config.store_path.exists():
        raise StoreError(f"There is no store at {str(config.store_path)!r} yet: run `seasoned scan` first.")
    return open_store(config.store_path)


def store_for(
    paths: Sequence[Path] | None, *, use_store: bool, config: Config | None = None, progress: Progress = no_progress
) -> Store:
    """What a reading command reads: the paths, else the store if asked for, else the user's own histories."""
    config = config or load()
    if use_store and not paths:
        return stored(config)
    return look(config, list(paths or ()), progress=progress)[1]


@contextmanager
def sessions_for(
    text: str, paths: Sequence[Path] = (), *, progress: Progress = no_progress
) -> Iterator[tuple[Store, list[int]]]:
    """A store and the row ids of what is meant: a session by its id, or all that a path holds."""
    if not text.strip():
        raise UsageError("An empty text names no session: give the id of a session, or a path.")
    config = load()
    if not paths and exists(text):
        with look(config, [Path(text)], progress=progress)[1] as store:
            yield store, [row["id"] for row in store.rows("session.all_ids")]
        return
    if not paths and text.startswith(("/", "./", "../", "~")):
        raise NotFound(f"{text!r} does not exist: check the path, or give the id of a session.")
    with (
        look(config, paths, progress=progress)[1]
        if paths or not config.store_path.exists()
        else stored(config) as store
    ):
        yield store, [find_session(store, text)["id"]]


def exists(text: str) -> bool:
    """Whether there is a file or folder of this name; a text that could be none is none."""
    try:
        return bool(text.strip()) and Path(text).exists()
    except (OSError, ValueError):
        return False


def missing_numbers() -> list[str]:
    """The libraries of the extra `insight` that are not installed."""
    return [name for name in ("numpy", "scipy", "jinja2") if find_spec(name) is None]


def need_numbers(command: str) -> None:
    """Refuse in one sentence what cannot be computed here."""
    missing = missing_numbers()
    if missing:
        raise CannotDo(f"`seasoned {command}` needs {', '.join(missing)}: pip install 'seasoned[insight]'.")


def _scan(
    config: Config, target: ScanTarget, paths: Sequence[Path], key: bytes, mode: Mode, progress: Progress
) -> ScanReport:
    with progress() as tell:
        return scan(
            target,
            paths or own_paths(config),
            Secrecy(key, config.redact),
            mode=mode,
            discovered=not paths,
            workers=config.workers,
            progress=tell,
        )
