"""A regular expression that is compiled when it is first used: importing a module must cost next to nothing."""

from __future__ import annotations

import re
from functools import cached_property


class LazyRegex:
    """A pattern and its flags; `compiled` is made once, on first use."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)
