"""Puts our hooks and our MCP server into an agent's settings files. Most agents use Claude Code's format."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.connect.json_text import JsonNode, add_element, add_member, read_object, remove_child, replace_value
from seasoned.connect.plan import PARTS, Part, decode_text, guard_file, has_own_home
from seasoned.errors import CannotDo

PROGRAM = "seasoned-hook"
WAIT_SECONDS = 300  # how long a high-risk call waits for a person


class HookForm(msgspec.Struct, frozen=True):
    """How an agent writes a hook in its settings."""

    # Copilot CLI and Cursor list hooks directly below their event, the others in groups with a matcher.
    is_flat: bool = False
    has_type: bool = True
    command_key: str = "command"
    timeout_key: str = "timeout"
    units: int = 1  # of the time limit in a second
    has_status: bool = False  # whether it shows a line while a hook runs
    version: int | None = None  # that a file of hooks begins with
    comments: bool = False  # whether the agent reads a file with comments


class HookLayout(msgspec.Struct, frozen=True):
    """What an agent calls its events; None if it has none that we could use."""

    agent: str
    form: HookForm
    start: str
    before: str
    end: str
    stop: str | None = None  # the end of a turn
    prompt: str | None = None
    after: str | None = None  # it only says that a call ended
    # The tools that run commands, which may fail behind a pipe without the agent knowing. None: `after` comes for all.
    shells: str | None = None
    failure: str | None = None  # it says that a call failed
    hints_before: bool = False  # whether the model sees what a hook says before a call
    # Tools that only read or plan. If our program is missing, these still run; all others are refused.
    reading: str | None = None
    any_tool: str | None = None  # the matcher for all tools, if one is needed
    end_seconds: int = 10


class Hook(msgspec.Struct, frozen=True):
    """The command that answers an event."""

    event: str
    command: str
    timeout: int  # seconds
    matcher: str | None = None
    status: str | None = None  # what the agent shows while the hook runs

    def entry(self, form: HookForm) -> dict[str, Any]:
        """As it is written in the file."""
        own: dict[str, Any] = {"type": "command"} if form.has_type else {}
        own |= {form.command_key: self.command, form.timeout_key: self.timeout * form.units}
        if self.status is not None and form.has_status:
            own["statusMessage"] = self.status
        matcher = {} if self.matcher is None else {"matcher": self.matcher}
        return {**matcher, **own} if form.is_flat else {**matcher, "hooks": [own]}


def hooks_of(layout: HookLayout, config: Config, programs: Path, parts: Collection[Part]) -> tuple[Hook, ...]:
    """The hooks that an agent runs for these parts."""

    def hook(event: str, *words: str, matcher: str | None = None, seconds: int = 10) -> Hook:
        return Hook(event, command_of(config, programs, layout.agent, *words), seconds, matcher)

    found = []
    if "warm" in parts:
        found.append(hook(layout.start, "session-start"))
        if layout.prompt is not None:
            found.append(hook(layout.prompt, "user-prompt-submit"))
    hints = "hints" in parts and layout.hints_before
    if "confirmations" in parts:
        alone = () if hints else ("--no-hints",)
        words = (layout.agent, "pre-tool-use", "--wait-seconds", str(WAIT_SECONDS), *alone)
        asks = guarded(command_of(config, programs, *words), guard_file(config.home.absolute(), layout.agent))
        # The agent runs the call when this time is over, so it must be longer than the hook's own.
        seconds = WAIT_SECONDS + 30
        matcher = None if layout.reading is None else f"^(?!(?:{layout.reading})$)"
        found.append(Hook(layout.before, asks, seconds, matcher, waiting_status(config)))
    elif hints:
        # Only of commands is it known that they will fail.
        found.append(hook(layout.before, "hint", matcher=layout.shells or layout.any_tool))
    if "hints" in parts:
        if layout.after is not None:
            found.append(hook(layout.after, "post-tool-use", matcher=layout.shells or layout.any_tool))
        if layout.failure is not None:
            found.append(hook(layout.failure, "post-tool-use-failure", matcher=layout.any_tool))
    if learns(parts):
        # Both only write down what ended; a background process learns from it.
        words = () if "reviews" in parts else ("--no-reviews",)
        if layout.stop is not None:
            found.append(hook(layout.stop, "stop", *words))
        found.append(hook(layout.end, "session-end", *words, seconds=layout.end_seconds))
    return tuple(found)


def command_of(config: Config, programs: Path, *words: str) -> str:
    """The command for a hook with its absolute path, so that it works with any PATH and environment."""
    return " ".join(shlex.quote(word) for word in command_words(config, programs, *words))


def guarded(command: str, guard: Path) -> str:
    """A command that stops the call if it fails in any way: agents run the call if a hook cannot start or is killed."""
    file = shlex.quote(str(guard))
    refusal = shlex.quote(f"Seasoned could not check this call, so it did not run. To let calls run: rm {file}")
    return f"{command} || {{ test ! -e {file} || {{ echo {refusal} >&2; exit 2; }}; }}"


def learns(parts: Collection[Part]) -> bool:
    """Whether sessions are learned from when they end, which guidance, hints and reviews need."""
    return not {"warm", "hints", "reviews"}.isdisjoint(parts)


def waiting_status(config: Config) -> str | None:
    """What an agent shows while a call may wait for a person: where to answer."""
    url = config.confirm_url
    if url is None:
        return None
    return f"Seasoned: a call that needs a person can be confirmed at {url}"


def command_words(config: Config, programs: Path, *words: str) -> list[str]:
    """The same, word by word."""
    program = programs / PROGRAM
    if not program.is_file():
        raise CannotDo(f"{str(program)!r} is missing. Install Seasoned with pip, which installs its programs too.")
    # Isolated: a project's PYTHONPATH must neither replace nor break what checks its calls.
    python = programs / Path(sys.executable).name
    alone = [str(python), "-I"] if python.is_file() else []
    return [*alone, str(program), *(["--home", str(config.home.absolute())] if has_own_home(config) else []), *words]


def with_hooks(data: bytes | None, hooks: tuple[Hook, ...], path: Path, form: HookForm) -> bytes:
    """The file with exactly these of our hooks."""
    made = _group_by_event(hooks, form)
    if data is None or not data.strip():
        head = {} if form.version is None else {"version": form.version}
        return (json.dumps({**head, "hooks": made}, ensure_ascii=False, indent=2) + "\n").encode()
    text = decode_text(data, path)
    for event, groups in made.items():
        text = _with_groups(text, event, groups, path, form)
    # Events that an earlier version used and this one does not.
    for event in set(_events(text, path, form)) - made.keys():
        text = _without_hook(text, event, path, form)
    return text.encode()


def hooks_part(
    data: bytes | None, hooks: tuple[Hook, ...], path: Path, parts: Collection[Part], form: HookForm
) -> tuple[bytes | None, str]:
    """The file with these of our hooks, which may be none, and why it changes."""
    if hooks:
        return with_hooks(data, hooks, path, form), ", ".join(
            PARTS[part] for part in PARTS if part in parts and part != "mcp"
        )
    return None if data is None else without_hooks(data, path, form), "without hooks"


def without_hooks(data: bytes, path: Path, form: HookForm) -> bytes | None:
    """The file without our hooks; None if nothing else is left."""
    text = decode_text(data, path)
    for event in _events(text, path, form):
        text = _without_hook(text, event, path, form)
    root = read_object(text, path, comments=form.comments)
    held = root.child("hooks")
    is_changed = text != decode_text(data, path)
    if held is not None and not held.children and is_changed:
        text = remove_child(text, root, root.keys.index("hooks"))
        root = read_object(text, path, comments=form.comments)
    # Only a file that held nothing but our hooks is removed; one that was empty already stays.
    return None if is_changed and _is_bare(text, root, form) else text.encode()


def _is_bare(text: str, root: JsonNode, form: HookForm) -> bool:
    """Whether nothing is left but what a file of hooks begins with."""
    if form.version is not None and root.value == {"version": form.version}:
        return text.count("/") == 0
    return not root.children and text.replace("{", "").replace("}", "").strip() == ""


def _group_by_event(hooks: tuple[Hook, ...], form: HookForm) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks:
        found.setdefault(hook.event, []).append(hook.entry(form))
    return found


def _hooks_object(root: JsonNode, path: Path) -> JsonNode | None:
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


def _with_groups(text: str, event: str, groups: list[dict[str, Any]], path: Path, form: HookForm) -> str:
    """The text with exactly these of our groups for an event, each replacing an older one in its place."""
    root = read_object(text, path, comments=form.comments)
    held = _hooks_object(root, path)
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
    return _with_groups(text, event, groups, path, form)


def _without_hook(text: str, event: str, path: Path, form: HookForm) -> str:
    held = _hooks_object(read_object(text, path, comments=form.comments), path)
    groups = held.child(event) if held is not None else None
    if held is None or groups is None:
        return text
    own = [at for at, group in enumerate(groups.children) if is_ours(group.value)]
    if not own:
        return text
    if len(own) == len(groups.children):
        return remove_child(text, held, held.keys.index(event))
    return _without_hook(remove_child(text, groups, own[-1]), event, path, form)


def _events(text: str, path: Path, form: HookForm) -> list[str]:
    """Events that have one of our hooks."""
    held = _hooks_object(read_object(text, path, comments=form.comments), path)
    if held is None:
        return []
    pairs = zip(held.keys, held.children, strict=True)
    return [event for event, groups in pairs if any(is_ours(group.value) for group in groups.children)]


def is_ours(group: Mapping[str, Any]) -> bool:
    """Whether a group or a hook runs nothing but our program; a group that the user added to is not touched."""
    hooks = group.get("hooks", [group])
    if not isinstance(hooks, list) or not hooks:
        return False
    return all(isinstance(one, dict) and _runs_ours(one.get("command", one.get("bash"))) for one in hooks)


def _runs_ours(command: object) -> bool:
    if not isinstance(command, str):
        return False
    try:
        # As the shell would read it: the path of the program may be quoted because of spaces.
        words = shlex.split(command)
    except ValueError:
        return False
    # It may follow the Python that runs it, and its option.
    return PROGRAM in [Path(word).name for word in words[:3]]


SERVER = "seasoned"
_KEY = "mcpServers"


def server_of(config: Config, programs: Path, **more: Any) -> dict[str, Any]:
    """The entry for our MCP server, with the extra fields that an agent wants."""
    variables = {"SEASONED_HOME": str(config.home.absolute())} if has_own_home(config) else {}
    return {**more, "command": str(programs / "seasoned"), "args": ["mcp"], "env": variables}


def server_part(
    data: bytes | None, server: Mapping[str, Any], path: Path, parts: Collection[Part], *, comments: bool = False
) -> tuple[bytes | None, str]:
    """The file with our server if that is a part, and without it otherwise, and why it changes."""
    if "mcp" not in parts:
        return None if data is None else without_server(data, path, comments=comments), "without the MCP server"
    is_new = not (data or b"").strip()
    text = "{}" if is_new else decode_text(data or b"", path)
    made = _with_server(text, dict(server), path, comments)
    return (made + "\n" if is_new else made).encode(), PARTS["mcp"]


def without_server(data: bytes, path: Path, *, comments: bool = False) -> bytes | None:
    """The file without our server; None if nothing else is left."""
    text = decode_text(data, path)
    root = read_object(text, path, comments=comments)
    held = root.child(_KEY)
    own = held.child(SERVER) if held is not None else None
    if held is None or own is None or not is_our_server(own.value):
        return data
    is_only = len(held.children) == 1
    bare = (
        remove_child(text, root, root.keys.index(_KEY))
        if is_only
        else remove_child(text, held, held.keys.index(SERVER))
    )
    return None if bare.strip(" \t\r\n{}") == "" else bare.encode()


def _with_server(text: str, server: dict[str, Any], path: Path, comments: bool) -> str:
    root = read_object(text, path, comments=comments)
    held = root.child(_KEY)
    if held is None:
        return add_member(text, root, _KEY, {SERVER: server})
    if held.kind != "object":
        raise CannotDo(f"{str(path)!r}: {_KEY!r} is not an object. Fix it and try again.")
    own = held.child(SERVER)
    if own is None:
        return add_member(text, held, SERVER, server)
    # A server with this name that the user wrote stays unchanged.
    return replace_value(text, own, server) if is_our_server(own.value) and own.value != server else text


def is_our_server(value: object) -> bool:
    """Whether an entry runs our MCP server, from whichever folder."""
    value = value if isinstance(value, dict) else {}
    return Path(str(value.get("command", ""))).name == "seasoned" and value.get("args") == ["mcp"]
