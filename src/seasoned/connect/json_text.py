"""Edits hand-written JSON by splicing, so that every other byte stays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.connect.plan import newline_of
from seasoned.errors import CannotDo

# A byte order mark counts as space: editors on Windows write one.
_SPACE = re.compile(r"[ \t\r\n\ufeff]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
# JSON's own numbers and words only: Python's parser would also accept NaN and Infinity.
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
# The reader is recursive, and would otherwise end in a RecursionError.
_DEEPEST = 100
_UNIT = "  "
_UNREAD = "with which the agent ignores the file"


class JsonNode(msgspec.Struct, frozen=True):
    """A value and its place in the text. Children of an object have keys."""

    kind: Literal["object", "array", "plain"]
    start: int
    end: int
    value: Any
    keys: tuple[str, ...] = ()
    key_starts: tuple[int, ...] = ()
    children: tuple[JsonNode, ...] = ()

    def child(self, key: str) -> JsonNode | None:
        """The member of this name."""
        return self.children[self.keys.index(key)] if key in self.keys else None


def read_json(text: str, *, comments: bool = False) -> JsonNode:
    """The whole text as a node; raises CannotDo with the line if it is not JSON or has a key twice.

    `comments`: the program that the file belongs to allows them.
    """
    reader = _JsonReader(text, comments=comments)
    node = reader.value(reader.skip(0), 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise reader.wrong(end, "unexpected text after the end")
    return node


def read_object(text: str, path: Path, *, comments: bool = False) -> JsonNode:
    """A file that holds a JSON object; raises CannotDo if it is anything else."""
    try:
        root = read_json(text, comments=comments)
    except CannotDo as error:
        raise CannotDo(f"{str(path)!r} is not valid JSON ({error}). Fix it and try again.") from error
    if root.kind != "object":
        raise CannotDo(f"{str(path)!r} must hold a JSON object. Fix it or move it away.")
    return root


def add_member(text: str, parent: JsonNode, key: str, value: object) -> str:
    """The text with one more member at the end of an object."""
    return _add(text, parent, value, f"{json.dumps(key, ensure_ascii=False)}: ")


def add_element(text: str, parent: JsonNode, value: object) -> str:
    """The text with one more element at the end of an array."""
    return _add(text, parent, value, "")


def replace_value(text: str, node: JsonNode, value: object) -> str:
    """The text with the value of a node replaced."""
    is_wide = "\n" in text[node.start : node.end]
    written = _render(text, value, _indent_at(text, node.start), is_wide=is_wide)
    return text[: node.start] + written + text[node.end :]


def keep_empty(before: str, present: str, left: str, path: Path) -> str:
    """What is left of a file, with the empty objects and lists that the user had before we filled them."""
    own, now = (read_object(text, path, comments=True) for text in (before, present))
    for key, child in zip(own.keys, own.children, strict=True):
        # At the top, and one level below it: an event without hooks.
        empty = [
            (name, one.value) for name, one in zip(child.keys, child.children, strict=False) if one.value in ({}, [])
        ]
        held = now.child(key)
        for name, value in [("", child.value)] if child.value in ({}, []) else empty:
            root = read_object(left, path, comments=True)
            there = root.child(key)
            if held is None or (name and held.child(name) is None):
                continue
            if there is None:
                left = add_member(left, root, key, {name: value} if name else value)
            elif name and there.child(name) is None:
                left = add_member(left, there, name, value)
    return left


def remove_child(text: str, parent: JsonNode, at: int) -> str:
    """The text without one child, its comma, and the line that it leaves empty."""
    start = parent.key_starts[at] if parent.kind == "object" else parent.children[at].start
    end = parent.children[at].end
    if at + 1 < len(parent.children):
        end = _JsonReader(text, comments=True).skip(end) + 1  # after the comma
        end, start = _whole_lines(text, start, end)
        return text[:start] + text[end:]
    if at > 0:
        # The last one: the comma before it goes too.
        comma = _JsonReader(text, comments=True).skip(parent.children[at - 1].end)
        end, start = _whole_lines(text, start, end)
        return text[:comma] + text[comma + 1 : start].rstrip(" \t") + text[end:]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def _add(text: str, parent: JsonNode, value: object, label: str) -> str:
    own = _indent_at(text, parent.start)
    if not parent.children:
        inner, line = own + _unit(text), newline_of(text)
        written = f"{line}{inner}{label}{_render(text, value, inner, is_wide=True)}"
        rest = text[parent.start + 1 :]
        return text[: parent.start + 1] + written + (rest if _begins_line(rest) else line + own + rest)
    first = parent.key_starts[0] if parent.kind == "object" else parent.children[0].start
    last = parent.children[-1].end
    if "\n" in text[parent.start : first]:
        inner = _indent_at(text, first)
        written = f",{newline_of(text)}{inner}{label}{_render(text, value, inner, is_wide=True)}"
    else:
        written = f", {label}{_render(text, value, '', is_wide=False)}"
    return text[:last] + written + text[last:]


def _begins_line(rest: str) -> bool:
    return rest.lstrip(" \t")[:1] in ("\n", "\r")


def _render(text: str, value: object, indent: str, *, is_wide: bool) -> str:
    if not is_wide:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{newline_of(text)}{indent}".join(lines)


def _unit(text: str) -> str:
    """The indentation of one level, as this text uses it."""
    found = re.search(r'\n([ \t]+)["{\[/]', text)
    return found[1] if found else _UNIT


def _indent_at(text: str, place: int) -> str:
    """The indentation of the line at a position."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t\ufeff"))].replace("\ufeff", "")


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """End and start, widened to the preceding line break if nothing else is on these lines."""
    before = text[:start].rstrip(" \t")
    if before.endswith("\n") and _begins_line(text[end:] or "\n"):
        begin = len(before) - 1
        return end, begin - 1 if text[begin - 1 : begin] == "\r" else begin
    return end, start


class _JsonReader:
    """Finds values in a text."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._comments = comments

    def wrong(self, place: int, why: str) -> CannotDo:
        line = self._text.count("\n", 0, place) + 1
        return CannotDo(f"line {line}: {why}")

    def skip(self, place: int) -> int:
        """The place after spaces and comments; raises CannotDo for a comment where none is allowed."""
        while True:
            found = _SPACE.match(self._text, place) or (_COMMENT.match(self._text, place) if self._comments else None)
            if found is None:
                break
            place = found.end()
        if self._text.startswith(("//", "/*", "#"), place):
            raise self.wrong(place, "a comment without an end" if self._comments else f"a comment, {_UNREAD}")
        return place

    def value(self, place: int, depth: int) -> JsonNode:
        if depth > _DEEPEST:
            raise self.wrong(place, "it is nested too deeply")
        letter = self._text[place : place + 1]
        if letter == "{":
            return self._container(place, depth, "object", "}")
        if letter == "[":
            return self._container(place, depth, "array", "]")
        found = _STRING.match(self._text, place) or _PLAIN.match(self._text, place)
        if found is None:
            raise self.wrong(place, f"a value is expected, not {self._text[place : place + 10]!r}")
        return JsonNode("plain", place, found.end(), self._decode(found))

    def _decode(self, found: re.Match[str]) -> Any:
        try:
            return json.loads(found[0])
        except ValueError as error:
            raise self.wrong(found.start(), str(error)) from error

    def _container(self, start: int, depth: int, kind: Literal["object", "array"], closing: str) -> JsonNode:
        keys: list[str] = []
        key_starts: list[int] = []
        children: list[JsonNode] = []
        place = self.skip(start + 1)
        has_comma = False
        while has_comma or self._text[place : place + 1] != closing:
            if children and not has_comma:
                raise self.wrong(place, f"a comma or {closing} is expected")
            if has_comma and self._text[place : place + 1] == closing:
                raise self.wrong(place, f"a comma before {closing}, {_UNREAD}")
            if kind == "object":
                place = self._key(place, keys, key_starts)
            children.append(self.value(place, depth + 1))
            place = self.skip(children[-1].end)
            has_comma = self._text[place : place + 1] == ","
            if has_comma:
                place = self.skip(place + 1)
        values = [one.value for one in children]
        value = dict(zip(keys, values, strict=True)) if kind == "object" else values
        return JsonNode(kind, start, place + 1, value, tuple(keys), tuple(key_starts), tuple(children))

    def _key(self, place: int, keys: list[str], key_starts: list[int]) -> int:
        found = _STRING.match(self._text, place)
        if found is None:
            raise self.wrong(place, f"a name in double quotes is expected, not {self._text[place : place + 10]!r}")
        key = self._decode(found)
        # Programs disagree about which of the two counts, so no edit would be safe.
        if key in keys:
            raise self.wrong(place, f"{key!r} occurs twice")
        keys.append(key)
        key_starts.append(place)
        colon = self.skip(found.end())
        if self._text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is expected")
        return self.skip(colon + 1)
