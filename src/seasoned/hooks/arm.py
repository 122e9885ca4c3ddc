"""The arm of a session in the experiment that runs (`experiment` in gateway.toml), as the gateway would give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from seasoned.config import Config

if TYPE_CHECKING:
    from seasoned.experiment.live.assignment import Enrolled

_SETTINGS = "gateway.toml"


def arm_of(config: Config, session: str, *, now: float, begins: bool) -> Enrolled | None:
    """The arm of a session; one that begins is assigned. None where no experiment runs, or it began without one."""
    if not (config.home / _SETTINGS).exists():
        return None
    from seasoned.experiment.live.assignment import enrol
    from seasoned.gateway.settings import load_settings
    from seasoned.store import open_database

    name = load_settings(config.home / _SETTINGS).experiment
    if name is None:
        return None
    database = open_database(config)
    try:
        return enrol(database, name, session, now=now, begins=begins)
    finally:
        database.close()


def log_shown(config: Config, session: str, arm: Enrolled, example_ids: Sequence[str], *, now: float) -> None:
    """Note what the session was really shown."""
    from seasoned.experiment.live.assignment import log_exposure
    from seasoned.store import open_database

    database = open_database(config)
    try:
        log_exposure(database, arm.experiment, session, arm=arm.arm, example_ids=example_ids, now=now)
    finally:
        database.close()


def log_not_shown(
    config: Config, session: str, arm: Enrolled, by_arm: Mapping[str, Sequence[str]], *, now: float
) -> None:
    """Note what a session of the control would have been shown, so that each example can be compared."""
    from seasoned.experiment.live.assignment import log_foregone
    from seasoned.store import open_database

    database = open_database(config)
    try:
        for name, ids in by_arm.items():
            log_foregone(database, arm.experiment, session, arm=name, example_ids=ids, now=now)
    finally:
        database.close()
