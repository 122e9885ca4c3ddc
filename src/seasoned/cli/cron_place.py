"""What the commands of `cron` share: the database of the jobs, and this machine's time zone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from seasoned.config import Config, load
from seasoned.errors import CannotDo
from seasoned.store import Database, open_database

_LOCALTIME = Path("/etc/localtime")


@contextmanager
def jobs_database(config: Config | None = None) -> Iterator[Database]:
    """The database that holds the jobs."""
    if find_spec("cronsim") is None:
        raise CannotDo("The schedule needs cronsim: pip install 'seasoned[schedule]'.")
    database = open_database(config or load(), durable=True)
    try:
        yield database
    finally:
        database.close()


def own_zone() -> str:
    """The time zone of this machine, where its name can be told; else UTC."""
    from seasoned.errors import UsageError
    from seasoned.schedule.when import find_zone

    try:
        name = str(_LOCALTIME.resolve(strict=True)).partition("zoneinfo/")[2]
        return find_zone(name).key if name else "UTC"
    except (OSError, RuntimeError, UsageError):
        return "UTC"
