"""Failing open: a failure in our own code is counted and logged, and the request goes on without that part."""

from __future__ import annotations

import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_log = logging.getLogger("seasoned.gateway")
_QUIET_SECONDS = 60.0


class Failures:
    """Counts failures by part. A part that keeps failing is logged once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.counts: Counter[str] = Counter()
        self._clock = clock
        self._told: dict[str, float] = {}

    @contextmanager
    def shield(self, part: str) -> Iterator[None]:
        """Catch and count every failure inside: the request goes on without this part."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one request, which our own parts must not stop
            self.add(part, error)

    def add(self, part: str, error: Exception) -> None:
        """Count a failure. Its type and place are logged, not its text, which may contain parts of a conversation."""
        self.counts[part] += 1
        now = self._clock()
        if now - self._told.get(part, float("-inf")) < _QUIET_SECONDS:
            return
        self._told[part] = now
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
        _log.error("%s failed (%s at %s); requests go on without it", part, type(error).__name__, place)
