"""Puts our hooks into the hook settings of an agent, which Claude Code and Codex write alike.

JSON is edited by splicing: every other byte stays as the user wrote it. Comments and trailing commas are refused:
both agents ignore a file that has them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.config import Config
from seasoned.connect.plan import PARTS, Part, decode_text, newline_of
from seasoned.errors import CannotDo

# A byte order mark counts as space: editors on Windows write one.
_SPACE = re.compile(r"[ \t\r\n\ufeff]+")
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


def read_json(text: str) -> JsonNode:
    """The whole text as a node; raises CannotDo with the line if it is not JSON or has a key twice."""
    reader = _JsonReader(text)
    node = reader.value(reader.skip(0), 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise reader.wrong(end, "unexpected text after the end")
    return node


def add_member(text: str, parent: JsonNode, key: str, value: object) -> str:
    """The text with one more member at the end of an object."""
    return _add(text, parent, value, f"{json.dumps(key, ensure_ascii=False)}: ")


def add_element(text: str, parent: JsonNode, value: object) -> str:
    """The text with one more element at the end of an array."""
    return _add(text, parent, value, "")


def replace_value(text: str, node: JsonNode, value: object) -> str:
    """The text with the value of a node replaced."""
    is_wide = "\n" in text[node.start : node.end]
    written = _written(text, value, _indent_at(text, node.start), is_wide=is_wide)
    return text[: node.start] + written + text[node.end :]


def remove_child(text: str, parent: JsonNode, at: int) -> str:
    """The text without one child, its comma, and the line that it leaves empty."""
    start = parent.key_starts[at] if parent.kind == "object" else parent.children[at].start
    end = parent.children[at].end
    if at + 1 < len(parent.children):
        end = _JsonReader(text).skip(end) + 1  # behind the comma
        end, start = _whole_lines(text, start, end)
        return text[:start] + text[end:]
    if at > 0:
        # The last one: the comma before it goes too.
        comma = _JsonReader(text).skip(parent.children[at - 1].end)
        end, start = _whole_lines(text, start, end)
        return text[:comma] + text[comma + 1 : start].rstrip(" \t") + text[end:]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def _add(text: str, parent: JsonNode, value: object, label: str) -> str:
    own = _indent_at(text, parent.start)
    if not parent.children:
        inner, line = own + _unit(text), newline_of(text)
        written = f"{line}{inner}{label}{_written(text, value, inner, is_wide=True)}"
        rest = text[parent.start + 1 :]
        return text[: parent.start + 1] + written + (rest if _begins_line(rest) else line + own + rest)
    first = parent.key_starts[0] if parent.kind == "object" else parent.children[0].start
    last = parent.children[-1].end
    if "\n" in text[parent.start : first]:
        inner = _indent_at(text, first)
        written = f",{newline_of(text)}{inner}{label}{_written(text, value, inner, is_wide=True)}"
    else:
        written = f", {label}{_written(text, value, '', is_wide=False)}"
    return text[:last] + written + text[last:]


def _begins_line(rest: str) -> bool:
    return rest.lstrip(" \t")[:1] in ("\n", "\r")


def _written(text: str, value: object, indent: str, *, is_wide: bool) -> str:
    if not is_wide:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{newline_of(text)}{indent}".join(lines)


def _unit(text: str) -> str:
    """The indentation of one level, as this text uses it."""
    found = re.search(r'\n([ \t]+)["{\[/]', text)
    return found[1] if found else _UNIT


def _indent_at(text: str, place: int) -> str:
    """The space at the beginning of the line in which a place lies."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t\ufeff"))].replace("\ufeff", "")


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """End and start, widened to the line break before where nothing else stands on the lines."""
    before = text[:start].rstrip(" \t")
    if before.endswith("\n") and _begins_line(text[end:] or "\n"):
        begin = len(before) - 1
        return end, begin - 1 if text[begin - 1 : begin] == "\r" else begin
    return end, start


class _JsonReader:
    """Finds values in a text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def wrong(self, place: int, why: str) -> CannotDo:
        line = self._text.count("\n", 0, place) + 1
        return CannotDo(f"line {line}: {why}")

    def skip(self, place: int) -> int:
        """The place after spaces; raises CannotDo for a comment."""
        found = _SPACE.match(self._text, place)
        place = found.end() if found else place
        if self._text.startswith(("//", "/*", "#"), place):
            raise self.wrong(place, f"a comment, {_UNREAD}")
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
        return JsonNode("plain", place, found.end(), self._decoded(found))

    def _decoded(self, found: re.Match[str]) -> Any:
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
        key = self._decoded(found)
        # Programs disagree about which of the two counts, so no edit would be safe.
        if key in keys:
            raise self.wrong(place, f"{key!r} stands there twice")
        keys.append(key)
        key_starts.append(place)
        colon = self.skip(found.end())
        if self._text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is expected")
        return self.skip(colon + 1)


PROGRAM = "seasoned-hook"
WAIT_SECONDS = 300  # how long a call of high risk waits for a person


class Hook(msgspec.Struct, frozen=True):
    """The command that answers an event."""

    event: str
    command: str
    timeout: int  # seconds
    matcher: str | None = None
    status: str | None = None  # what the agent shows while the hook runs

    @property
    def group(self) -> dict[str, Any]:
        """As it is written in the file."""
        own: dict[str, Any] = {"type": "command", "command": self.command, "timeout": self.timeout}
        if self.status is not None:
            own["statusMessage"] = self.status
        return {**({} if self.matcher is None else {"matcher": self.matcher}), "hooks": [own]}


def command_of(config: Config, programs: Path, *words: str) -> str:
    """The command for a hook with its absolute path, so that it works with any PATH and environment."""
    return " ".join(shlex.quote(word) for word in command_words(config, programs, *words))


def guarded(command: str) -> str:
    """A command that stops the call if it fails in any way: agents run the call if a hook cannot start or is killed."""
    return f"{command} || exit 2"


def learns(parts: Collection[Part]) -> bool:
    """Whether sessions are learned from when they end: what is shown rests on that, and so do reviews."""
    return not {"warm", "hints", "reviews"}.isdisjoint(parts)


def waiting_status(config: Config) -> str | None:
    """What an agent shows while a call may wait for a person elsewhere: where that is answered."""
    url = config.confirm_url
    if url is None:
        return None
    where = "with `seasoned confirm`" if url.startswith("unix:") else f"at {url}"
    return f"Seasoned: a call that needs a person can be confirmed {where}"


def command_words(config: Config, programs: Path, *words: str) -> list[str]:
    """The same, word by word."""
    program = programs / PROGRAM
    if not program.is_file():
        raise CannotDo(f"{str(program)!r} is missing. Install Seasoned with pip, which installs its programs too.")
    is_elsewhere = config.origins.get("home", "default") != "default"
    return [str(program), *(["--home", str(config.home.absolute())] if is_elsewhere else []), *words]


def with_hooks(data: bytes | None, hooks: tuple[Hook, ...], path: Path) -> bytes:
    """The file with exactly these hooks of ours."""
    if data is None or not data.strip():
        return (_new_file(hooks) + "\n").encode()
    text = decode_text(data, path)
    for event, groups in _by_event(hooks).items():
        text = _with_groups(text, event, groups, path)
    # Events that an earlier version used and this one does not.
    for event in set(_events(text, path)) - {hook.event for hook in hooks}:
        text = _without_hook(text, event, path)
    return text.encode()


def hooks_part(
    data: bytes | None, hooks: tuple[Hook, ...], path: Path, parts: Collection[Part]
) -> tuple[bytes | None, str]:
    """The file with these hooks of ours, also if there are none, and why it changes."""
    if hooks:
        return with_hooks(data, hooks, path), ", ".join(
            PARTS[part] for part in PARTS if part in parts and part != "mcp"
        )
    return None if data is None else without_hooks(data, path), "without hooks"


def without_hooks(data: bytes, path: Path) -> bytes | None:
    """The file without any hook of ours; None where nothing else is left."""
    text = decode_text(data, path)
    for event in _events(text, path):
        text = _without_hook(text, event, path)
    root = read_object(text, path)
    held = root.child("hooks")
    if held is not None and not held.children and text != decode_text(data, path):
        text = remove_child(text, root, root.keys.index("hooks"))
        root = read_object(text, path)
    # Only a file that held nothing but our hooks is removed; one that was empty already stays.
    is_bare = not root.children and text.replace("{", "").replace("}", "").strip() == ""
    return None if is_bare and text != decode_text(data, path) else text.encode()


def _new_file(hooks: tuple[Hook, ...]) -> str:
    return add_member("{}", read_json("{}"), "hooks", _by_event(hooks))


def _by_event(hooks: tuple[Hook, ...]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks:
        found.setdefault(hook.event, []).append(hook.group)
    return found


def read_object(text: str, path: Path) -> JsonNode:
    """A file that holds a JSON object; raises CannotDo if it is anything else."""
    try:
        root = read_json(text)
    except CannotDo as error:
        raise CannotDo(f"{str(path)!r} is not valid JSON ({error}). Fix it and try again.") from error
    if root.kind != "object":
        raise CannotDo(f"{str(path)!r} must hold a JSON object. Fix it or move it away.")
    return root


def _held(root: JsonNode, path: Path) -> JsonNode | None:
    """The object with all hooks, checked: a file of another structure is not touched."""
    held = root.child("hooks")
    if held is None:
        return None
    if held.kind != "object":
        raise CannotDo(f"{str(path)!r}: 'hooks' is not an object. Fix it and try again.")
    for event, groups in zip(held.keys, held.children, strict=True):
        if groups.kind != "array" or any(group.kind != "object" for group in groups.children):
            raise CannotDo(f"{str(path)!r}: the hooks of {event!r} are not a list of objects. Fix them and try again.")
    return held


def _with_groups(text: str, event: str, groups: list[dict[str, Any]], path: Path) -> str:
    """The text with exactly these groups of ours for an event, each in the place of an older one among the others."""
    root = read_object(text, path)
    held = _held(root, path)
    if held is None:
        return add_member(text, root, "hooks", {event: groups})
    present = held.child(event)
    if present is None:
        return add_member(text, held, event, groups)
    own = [node for node in present.children if is_ours(node.value)]
    # One step, then again from the new text: every edit moves the places of what follows.
    if len(own) > len(groups):
        text = remove_child(text, present, present.children.index(own[-1]))
    elif old := next((pair for pair in zip(own, groups, strict=False) if pair[0].value != pair[1]), None):
        text = replace_value(text, *old)
    elif len(own) < len(groups):
        text = add_element(text, present, groups[len(own)])
    else:
        return text
    return _with_groups(text, event, groups, path)


def _without_hook(text: str, event: str, path: Path) -> str:
    held = _held(read_object(text, path), path)
    groups = held.child(event) if held is not None else None
    if held is None or groups is None:
        return text
    own = [at for at, group in enumerate(groups.children) if is_ours(group.value)]
    if not own:
        return text
    if len(own) == len(groups.children):
        return remove_child(text, held, held.keys.index(event))
    return _without_hook(remove_child(text, groups, own[-1]), event, path)


def _events(text: str, path: Path) -> list[str]:
    """Events for which there is a hook of ours."""
    held = _held(read_object(text, path), path)
    if held is None:
        return []
    pairs = zip(held.keys, held.children, strict=True)
    return [event for event, groups in pairs if any(is_ours(group.value) for group in groups.children)]


def is_ours(group: Mapping[str, Any]) -> bool:
    """Whether a group holds nothing but our program; one that the user added to is not touched."""
    hooks = group.get("hooks")
    if not isinstance(hooks, list) or not hooks:
        return False
    return all(isinstance(one, dict) and _runs_ours(one.get("command")) for one in hooks)


def _runs_ours(command: object) -> bool:
    if not isinstance(command, str):
        return False
    try:
        # As the shell would read it: the path of the program may be quoted because of spaces.
        words = shlex.split(command)
    except ValueError:
        return False
    return bool(words) and Path(words[0]).name == PROGRAM
