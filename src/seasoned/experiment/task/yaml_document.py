"""A YAML file as entries that know their line, so that an error names file, line and what is expected."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seasoned.errors import CannotDo, NotFound, UsageError

if TYPE_CHECKING:
    import yaml

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_SHOWN_CHARS = 60
# An alias may refer to its own parent, which would never end.
_DEEPEST = 40


def read_document(path: Path) -> YamlEntry:
    """The only document of a file."""
    try:
        import yaml
    except ImportError:
        raise CannotDo("Task files need PyYAML: pip install 'seasoned[experiment]'.") from None
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise NotFound(f"{str(path)!r} does not exist: give a task file, a folder of them, or a set by name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read as text ({error}): a task file is YAML in UTF-8.") from error
    try:
        # Composed, not loaded: nodes know their line, and YAML 1.1 would turn `no` into False and dates into objects.
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        problem = getattr(error, "problem", None) or str(error) or "nested too deeply"
        raise UsageError(f"{path}:{line}: this is not valid YAML ({problem}): expected keys and values.") from error
    if node is None:
        raise UsageError(f"{path}:1: the file is empty: expected a mapping.")
    return YamlEntry(str(path), node, "the file")


class YamlEntry:
    """One value of a file, with its line."""

    def __init__(self, file: str, node: yaml.Node, name: str) -> None:
        self._file = file
        self._node = node
        self.name = name

    @property
    def place(self) -> str:
        return f"{self._file}:{self._node.start_mark.line + 1}"

    def fail(self, expected: str) -> UsageError:
        """An error that says what is here and what is expected."""
        return UsageError(f"{self.place}: {self.name} is {self._shown()}: expected {expected}.")

    def fields(self, known: Collection[str], *, needed: Collection[str] = ()) -> YamlFields:
        """The fields of a mapping. An unknown one is an error: it is probably a typo."""
        found = YamlFields(self.named(f"a mapping with {_listed(needed or known)}"))
        for name, entry in found.items():
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}" if near else f"known are {_listed(known)}"
                raise UsageError(f"{entry.place}: {self.name} has an unknown field {name!r}: {hint}?")
        missing = [name for name in needed if name not in found]
        if missing:
            raise UsageError(f"{self.place}: {self.name} has no field {missing[0]!r}: expected {_listed(needed)}.")
        return found

    def named(self, expected: str = "a mapping of names and values") -> dict[str, YamlEntry]:
        """The values of a mapping by name, whatever the names are."""
        if self._node.id != "mapping":
            raise self.fail(expected)
        found: dict[str, YamlEntry] = {}
        for key, value in self._node.value:
            if key.id != "scalar":
                raise YamlEntry(self._file, key, "a name").fail("a text")
            entry = YamlEntry(self._file, value, repr(key.value))
            if key.value in found:
                raise UsageError(f"{entry.place}: {self.name} has {key.value!r} twice: expected it once.")
            found[key.value] = entry
        return found

    def items(self, *, alone: bool = False) -> list[YamlEntry]:
        """The items of a list; with `alone` a single value counts as a list of one."""
        if self._node.id == "sequence":
            return [YamlEntry(self._file, node, f"an item of {self.name}") for node in self._node.value]
        if alone:
            return [self]
        raise self.fail("a list")

    def is_mapping(self) -> bool:
        return bool(self._node.id == "mapping")

    def text(self) -> str:
        """A text; an unquoted number or date is taken as it is written."""
        if self._node.id != "scalar" or (self._node.style is None and self._node.value in ("", "~", "null")):
            raise self.fail("a text")
        return str(self._node.value)

    def texts(self) -> tuple[str, ...]:
        return tuple(entry.text() for entry in self.items(alone=True))

    def number(self, least: int = 0) -> int:
        value = self.value()
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.fail(f"a whole number of at least {least}")
        return value

    def choice(self, among: Collection[str]) -> str:
        text = self.text()
        if text not in among:
            raise self.fail(f"one of {_listed(among)}")
        return text

    def pattern(self) -> str:
        """A regular expression that compiles."""
        text = self.text()
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise self.fail(f"a regular expression ({error})") from error
        return text

    def value(self) -> Any:
        """The value as JSON would have it. Dates, `yes` and `no` stay the texts that they are written as."""
        return _value(self, self._node, _DEEPEST)

    def _shown(self) -> str:
        if self._node.id != "scalar":
            return "a mapping" if self._node.id == "mapping" else "a list"
        text = self._node.value
        return repr(text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…")


class YamlFields(dict[str, YamlEntry]):
    """The fields of a mapping by name, with defaults for those that are not there."""

    def text(self, name: str, default: str = "") -> str:
        return self[name].text() if name in self else default

    def texts(self, name: str) -> tuple[str, ...]:
        return self[name].texts() if name in self else ()

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        return self[name].number(least) if name in self else default

    def choice(self, name: str, among: Collection[str], default: Any = None) -> Any:
        return self[name].choice(among) if name in self else default


def _value(entry: YamlEntry, node: yaml.Node, depth: int) -> Any:
    if depth == 0:
        raise entry.fail("less nesting")
    if node.id == "mapping":
        return {str(key.value): _value(entry, value, depth - 1) for key, value in node.value}
    if node.id == "sequence":
        return [_value(entry, item, depth - 1) for item in node.value]
    return node.value if node.style is not None else _scalar(node.value)


def _scalar(text: str) -> Any:
    """A plain scalar by the core schema of YAML 1.2, without its other spellings."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _NUMBER.match(text) else text


def _listed(names: Collection[str]) -> str:
    return ", ".join(repr(name) for name in _ordered(names))


def _ordered(names: Collection[str]) -> Iterator[str]:
    yield from names if isinstance(names, tuple | list) else sorted(names)
