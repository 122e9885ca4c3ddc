"""Regular expressions that are compiled when first used, so that importing costs nothing."""

from __future__ import annotations

import re
from typing import NamedTuple


class Pattern:
    """A regular expression in waiting."""

    __slots__ = ("_compiled", "flags", "source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def re(self) -> re.Pattern[str]:
        """The compiled expression."""
        if self._compiled is None:
            self._compiled = re.compile(self.source, self.flags)
        return self._compiled


class Hit(NamedTuple):
    """What kind of secret it looks like, and where it stands."""

    kind: str
    start: int
    end: int
