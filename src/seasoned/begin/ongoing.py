"""A session that is under way: whether its arm holds help back, and what has to be retracted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import msgspec

from seasoned.begin.settings import BeginSettings
from seasoned.config import Config
from seasoned.store import Database, Store, open_database

if TYPE_CHECKING:
    from seasoned.template.library.storage import Library

OpenDatabase = Callable[[], AbstractContextManager[Database]]


class Retraction(msgspec.Struct, frozen=True):
    """A line for the model, and the examples that it retracts."""

    text: str
    example_ids: tuple[str, ...]


@contextmanager
def experiment_database(config: Config, store: Store) -> Iterator[Database]:
    """Where assignments are kept: the PostgreSQL database that several machines share, or else the store."""
    if config.database_url is None:
        yield store
        return
    database = open_database(config)
    try:
        yield database
    finally:
        database.close()


def is_held_back(database: OpenDatabase, session: str, settings: BeginSettings, *, now: float) -> bool:
    """Whether the session is in an arm that shows nothing, so that other help must be withheld as well."""
    if settings.experiment is None:
        return False
    from seasoned.experiment.live.assignment import enrol

    with database() as opened:
        enrolled = enrol(opened, settings.experiment, session, now=now, begins=False)
    return enrolled is not None and not enrolled.is_warm


def find_retraction(library: Library, example_ids: Collection[str], told: Collection[str] = ()) -> Retraction | None:
    """What has to be said to a session that was shown these examples; None if none is suspended that was not `told`."""
    from seasoned.template.library.guard import retraction
    from seasoned.template.library.storage import find_example

    found = [
        find_example(library, one)
        for one in sorted(set(example_ids) - set(told))
        if library.state_of(one) == "suspended"
    ]
    return Retraction(retraction(found), tuple(example.id for example in found)) if found else None
