"""Values that are made at their first use: regular expressions, and properties of an object."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any


class LazyRegex:
    """A pattern and its flags; `compiled` is made once, on first use: most commands need few of them."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.text, self.flags)


# A property that is computed at its first use, and then is a plain attribute.
if TYPE_CHECKING or sys.version_info >= (3, 12):
    lazy_property = cached_property
else:

    class lazy_property:
        """`cached_property` without the lock that it takes before Python 3.12.

        A scan computes ten such values for each call, and the lock takes longer than most of them.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self._compute = compute
            self._name = compute.__name__
            self.__doc__ = compute.__doc__

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # The attribute hides this descriptor from now on.
            found = instance.__dict__[self._name] = self._compute(instance)
            return found
