"""Puts our hooks into the hook settings of an agent, which Claude Code and Codex write alike."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.connect.json_text import JsonNode, add_element, add_member, read_json, remove_child, replace_value
from seasoned.connect.plan import decode_text
from seasoned.errors import CannotDo

PROGRAM = "seasoned-hook"
WAIT_SECONDS = 300  # how long a call of high risk waits for a person


class Hook(msgspec.Struct, frozen=True):
    """The command that answers an event."""

    event: str
    command: str
    timeout: int  # seconds
    matcher: str | None = None

    @property
    def group(self) -> dict[str, Any]:
        """As it is written in the file."""
        own = {"type": "command", "command": self.command, "timeout": self.timeout}
        return {**({} if self.matcher is None else {"matcher": self.matcher}), "hooks": [own]}


def command_of(config: Config, programs: Path, *words: str) -> str:
    """The command for a hook with its absolute path, so that it works with any PATH and environment."""
    return " ".join(shlex.quote(word) for word in command_words(config, programs, *words))


def guarded(command: str) -> str:
    """A command that stops the call if it fails in any way: agents run the call if a hook cannot start or is killed."""
    return f"{command} || exit 2"


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
    for hook in hooks:
        text = _with_hook(text, hook, path)
    # Events that an earlier version used and this one does not.
    for event in set(_events(text, path)) - {hook.event for hook in hooks}:
        text = _without_hook(text, event, path)
    return text.encode()


def without_hooks(data: bytes, path: Path) -> bytes | None:
    """The file without any hook of ours; None where nothing else is left."""
    text = decode_text(data, path)
    for event in _events(text, path):
        text = _without_hook(text, event, path)
    root = _read(text, path)
    held = root.child("hooks")
    if held is not None and not held.children and text != decode_text(data, path):
        text = remove_child(text, root, root.keys.index("hooks"))
        root = _read(text, path)
    # Only a file that held nothing but our hooks is removed; one that was empty already stays.
    is_bare = not root.children and text.replace("{", "").replace("}", "").strip() == ""
    return None if is_bare and text != decode_text(data, path) else text.encode()


def _new_file(hooks: tuple[Hook, ...]) -> str:
    return add_member("{}", read_json("{}"), "hooks", {hook.event: [hook.group] for hook in hooks})


def _read(text: str, path: Path) -> JsonNode:
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


def _with_hook(text: str, hook: Hook, path: Path) -> str:
    root = _read(text, path)
    held = _held(root, path)
    if held is None:
        return add_member(text, root, "hooks", {hook.event: [hook.group]})
    groups = held.child(hook.event)
    if groups is None:
        return add_member(text, held, hook.event, [hook.group])
    own = [group for group in groups.children if is_ours(group.value)]
    if not own:
        return add_element(text, groups, hook.group)
    # Two versions of ours would both answer the event. The first is kept, in its place among the others.
    if len(own) > 1:
        at = groups.children.index(own[-1])
        return _with_hook(remove_child(text, groups, at), hook, path)
    return text if own[0].value == hook.group else replace_value(text, own[0], hook.group)


def _without_hook(text: str, event: str, path: Path) -> str:
    held = _held(_read(text, path), path)
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
    held = _held(_read(text, path), path)
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
