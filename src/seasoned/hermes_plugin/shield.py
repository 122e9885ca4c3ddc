"""Keeps our failures ours: whatever breaks inside is logged, and Hermes goes on as if we were not there."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from seasoned.errors import SeasonedError

log = logging.getLogger("seasoned.hermes_plugin")
_QUIET_SECONDS = 60.0


class Shield:
    """Around every part that Hermes calls. A part that goes on failing is told once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What fails inside is left undone."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one call of Hermes: no part of ours may stop it
            self._tell(name, error)

    def _tell(self, name: str, error: Exception) -> None:
        now = self._clock()
        if now - self._told.get(name, float("-inf")) < _QUIET_SECONDS:
            return
        self._told[name] = now
        log.warning("%s was left out: %s", name, words_of(error))


def words_of(error: Exception) -> str:
    """An error of ours in its own words. Of any other only kind and place: its text may hold what somebody said."""
    if isinstance(error, SeasonedError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {place}"
