"""Regular expressions that are compiled when they are first used, and kept compiled beside Python's bytecode.

Compiling is written in Python and takes a tenth of a command. Python keeps no result of it, so this does, in the same
folder and under the same conditions as the bytecode of the package: for one version of Python, and not if it is set to
write none. What cannot be kept is compiled as usual.
"""

from __future__ import annotations

import atexit
import marshal
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

_engine: Any = None
# Another Python than CPython may not have these.
with suppress(ImportError):
    import _sre as _engine  # type: ignore[import-not-found, no-redef]
    from re import _compiler, _parser  # type: ignore[attr-defined]

# An expression as the engine takes it: flags, code, number of groups, their numbers by name, their names by number.
_Parts = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]
# Expressions of earlier versions of this package stay in the file until it has this many.
_MOST = 4000


class LazyRegex:
    """A pattern and its flags; `compiled` is made once, on first use."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text = text
        self.flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return compile_or_load(self.text, int(self.flags))


class KeptExpressions:
    """Compiled expressions in a file, which is read when the first one is needed; without a path none are kept."""

    def __init__(self, path: str | None) -> None:
        self.path = path if _engine is not None else None
        self._known: dict[tuple[str, int], _Parts] | None = None
        self._new: dict[tuple[str, int], _Parts] = {}

    def compiled(self, text: str, flags: int = 0) -> re.Pattern[str]:
        """The expression, from the file if it is there."""
        if self.path is None:
            return re.compile(text, flags)
        if self._known is None:
            self._known = _read(self.path)
        try:
            parts = self._known.get((text, flags))
            if parts is None:
                parts = _parts(text, flags)
                if not sys.dont_write_bytecode:
                    self._keep(text, flags, parts)
            return _pattern(text, parts)
        except (AttributeError, TypeError, ValueError, RuntimeError):
            # The functions behind this are Python's own, and another version may have others.
            return re.compile(text, flags)

    def _keep(self, text: str, flags: int, parts: _Parts) -> None:
        if not self._new:
            atexit.register(self.save)
        self._new[text, flags] = parts

    def save(self) -> None:
        """Add what this process compiled to the file. Of two that save at once, one has to do it again next time."""
        if not self._new or self.path is None:
            return
        known = _read(self.path)
        content = marshal.dumps({**known, **self._new} if len(known) < _MOST else self._new)
        self._new = {}
        beside = f"{self.path}.{os.getpid()}"
        with suppress(OSError):
            with open(beside, "wb") as file:  # noqa: PTH123 (hooks have no time for pathlib)
                file.write(_header(content) + content)
            os.replace(beside, self.path)  # noqa: PTH105


def _read(path: str) -> dict[tuple[str, int], _Parts]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read()
    except OSError:
        return {}
    content = data[len(_header(b"")) :]
    # Anything else is the file of another Python, or damaged.
    return marshal.loads(content) if data.startswith(_header(content)) else {}


def _header(content: bytes) -> bytes:
    """What a file begins with: the Python that it is for, and a checksum."""
    # Imported here: every hook imports this module, and some need no expression.
    from zlib import crc32

    version = f"{sys.version} {_engine.MAGIC}".encode()
    return crc32(version).to_bytes(4, "little") + crc32(content).to_bytes(4, "little")


def _parts(text: str, flags: int) -> _Parts:
    """Compile an expression as `re.compile` does, up to what is handed to the engine."""
    parsed = _parser.parse(text, flags)
    code, state = _compiler._code(parsed, flags), parsed.state
    names: list[str | None] = [None] * state.groups
    for name, number in state.groupdict.items():
        names[number] = name
    words = b"".join([word.to_bytes(4, sys.byteorder) for word in code])
    return flags | state.flags, words, state.groups - 1, dict(state.groupdict), tuple(names)


def _pattern(text: str, parts: _Parts) -> re.Pattern[str]:
    flags, code, groups, numbers, names = parts
    found: re.Pattern[str] = _engine.compile(text, flags, memoryview(code).cast("I").tolist(), groups, numbers, names)
    return found


_CACHED: str | None = getattr(__spec__, "cached", None)
_EXPRESSIONS = KeptExpressions(None if _CACHED is None else f"{_CACHED}.expressions")
compile_or_load = _EXPRESSIONS.compiled
save_compiled = _EXPRESSIONS.save


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
