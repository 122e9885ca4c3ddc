"""A regular expression that is compiled when it is first used: importing a module must cost next to nothing."""

from __future__ import annotations

import re
from functools import cached_property
from typing import ClassVar


class LazyRegex:
    """A pattern and its flags; `compiled` is made once, on first use."""

    _made: ClassVar[list[LazyRegex]] = []

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags
        self._made.append(self)

    @classmethod
    def compile_all(cls) -> None:
        """Compile all that exist, so that processes which are forked afterwards need not do it once each."""
        for one in cls._made:
            _ = one.compiled

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)
