"""Codex: hooks, the MCP server and the notify program in its settings, a few lines in AGENTS.md, and skills."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.connect.agent_settings import (
    HookForm,
    HookLayout,
    can_serve,
    command_words,
    hooks_of,
    hooks_part,
    learns,
    without_hooks,
)
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    FileChange,
    Part,
    change_of,
    common_steps,
    decode_text,
    has_own_home,
    newline_of,
    read_present,
    skill_links,
)
from seasoned.errors import CannotDo


class MarkedSection(msgspec.Struct, frozen=True):
    """The comment lines before and after our part of a file."""

    begin: str
    end: str

    def find(self, text: str) -> re.Match[str] | None:
        """Our part with its marks and the line break after it; raises CannotDo unless the marks are one pair."""
        begins, ends = text.count(self.begin), text.count(self.end)
        if not begins and not ends:
            return None
        # The line of a mark may end with a carriage return, and the last one with the file.
        pattern = re.escape(self.begin) + r"[^\n]*\n(?P<body>.*?)" + re.escape(self.end) + r"[^\n]*(?:\n|\Z)"
        found = re.search(pattern, text, re.DOTALL)
        if begins != 1 or ends != 1 or found is None:
            raise CannotDo(f"the marks {self.begin!r} and {self.end!r} must each be there once and in order")
        return found

    def part(self, body: str, newline: str) -> str:
        """Our part as it is written."""
        return newline.join([self.begin, *body.splitlines(), self.end, ""])

    def take_out(self, text: str) -> str:
        """The text without our part and the empty line that was put before it."""
        found = self.find(text)
        if found is None:
            return text
        before, after = text[: found.start()], text[found.end() :]
        # The first half ends the user's last line, and stays.
        for blank in ("\r\n\r\n", "\n\n"):
            if before.endswith(blank):
                return before[: -len(blank) // 2] + after
        return before + after


def put_at_end(text: str, fence: MarkedSection, body: str) -> str:
    """The text with our part at its end, or updated in place."""
    newline = newline_of(text)
    part = fence.part(body, newline)
    found = fence.find(text)
    if found is not None:
        return text[: found.start()] + part + text[found.end() :]
    if not text:
        return part
    return text + ("" if text.endswith("\n") else newline) + newline + part


def put_at_start(text: str, fence: MarkedSection, body: str) -> str:
    """The text with our part at its start, or updated in place."""
    part = fence.part(body, newline_of(text))
    found = fence.find(text)
    if found is not None:
        return text[: found.start()] + part + text[found.end() :]
    # A byte order mark counts only as the first character of a file.
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + part + text[len(mark) :]


AGENT = "codex"
_SERVER = MarkedSection("# seasoned: begin (`seasoned connect codex --undo` takes it out)", "# seasoned: end")
# At the start of the file: after the first [table] header, `notify` would belong to that table.
_NOTIFY = MarkedSection("# seasoned notify: begin", "# seasoned notify: end")
_WORDS = MarkedSection(
    "<!-- seasoned: begin (`seasoned connect codex --undo` takes it out) -->", "<!-- seasoned: end -->"
)
_TELL = """\
## What earlier sessions taught

When a command or tool fails and the cause is not plain, ask the tool `recall` of the MCP server `seasoned`, with the
tool and the error, before you try variations: it answers which repair worked in earlier sessions, or that none did.
High-risk commands wait until a person agrees. A refusal says why: tell the user, and do not look for a way around it.
"""
_TRUST = (
    "Start `codex`, type `/hooks`, and trust the commands of seasoned-hook. Until then Codex silently runs none of "
    "them. It asks again whenever hooks.json changes."
)
_STARTUP_SECONDS = 20
_FORM = HookForm(has_status=True)
# Codex has no tools that only read: it reads with its shell. It stops the last hook after 3 seconds, and warns at every
# start about one that asks for more.
LAYOUT = HookLayout(
    AGENT,
    _FORM,
    start="SessionStart",
    prompt="UserPromptSubmit",
    before="PreToolUse",
    hints_before=True,
    after="PostToolUse",
    stop="Stop",
    end="SessionEnd",
    end_seconds=3,
)


def plan(config: Config, *, programs: Path, parts: Collection[Part] = PARTS, prefill: str | None = None) -> ConnectPlan:
    """What must change in Codex' files."""
    home = config.codex_home
    # Without the MCP library the server would fail at every start of Codex.
    has_server = "mcp" in parts and can_serve()
    settings, has_own_notify = _settings_change(config, programs, parts, has_server=has_server)
    words = _words_change(home / "AGENTS.md", has_server=has_server)
    changes = (*_hooks_change(config, programs, parts), *settings, *words)
    return ConnectPlan(
        AGENT,
        changes,
        steps=(*_own_steps(home, parts, has_own_notify=has_own_notify), *common_steps(config, parts)),
        links=skill_links(config, home, parts),
        parts=tuple(part for part in PARTS if part in parts),
    )


def remove_ours(path: Path, data: bytes) -> bytes | None:
    """A file of Codex without our part."""
    if path.suffix == ".json":
        return without_hooks(data, path, _FORM)
    text = decode_text(data, path)
    if path.suffix == ".toml":
        text = _SERVER.take_out(_NOTIFY.take_out(text))
        # Without marks it may be a server that the user wrote, which is not ours to remove.
        if "seasoned" in _servers(_parse(text, path), path):
            raise CannotDo("its marks are gone, but there is an MCP server 'seasoned'")
    else:
        text = _WORDS.take_out(text)
    return text.encode() if text.strip("\ufeff \t\r\n") else None


def _hooks_change(config: Config, programs: Path, parts: Collection[Part]) -> tuple[FileChange, ...]:
    path = config.codex_home / "hooks.json"
    before = read_present(path)
    made = hooks_part(before, hooks_of(LAYOUT, config, programs, parts), path, parts, _FORM)
    return change_of(path, before, *made)


def _settings_change(
    config: Config, programs: Path, parts: Collection[Part], *, has_server: bool
) -> tuple[tuple[FileChange, ...], bool]:
    """The change of config.toml, and whether the user already has a notify program."""
    path = config.codex_home / "config.toml"
    before = read_present(path)
    after = decode_text(before or b"", path)
    _parse(after, path)
    # Checked without our own part: otherwise the second run would mistake our `notify` for the user's.
    theirs = _parse(_without_ours(after, path), path)
    has_own_notify = "notify" in theirs
    if "mcp" not in parts:
        after = _SERVER.take_out(after)
    elif has_server and "seasoned" not in _servers(theirs, path):
        after = put_at_end(after, _SERVER, _server(config, programs))
    # Codex runs one notify program only, so the user's own is never replaced.
    if not learns(parts):
        after = _NOTIFY.take_out(after)
    elif not has_own_notify:
        words = ["notify"] if "reviews" in parts else ["notify", "--no-reviews"]
        after = put_at_start(after, _NOTIFY, f"notify = {_toml_list(command_words(config, programs, AGENT, *words))}")
    _check(after, theirs, path)
    why = "the MCP server, and learning also where hooks are not trusted"
    return change_of(path, before, after.encode() if after or before else None, why), has_own_notify


def _without_ours(text: str, path: Path) -> str:
    try:
        return _SERVER.take_out(_NOTIFY.take_out(text))
    except CannotDo as error:
        raise CannotDo(f"{str(path)!r}: {error}. Fix it and try again.") from error


def _check(after: str, theirs: dict[str, Any], path: Path) -> None:
    """Check that the file still means the same apart from our part; some ways to write tables prevent that."""
    try:
        made = tomllib.loads(after.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise CannotDo(
            f"{str(path)!r}: a server cannot be added to `mcp_servers` as it is written ({error}). "
            "Write each server as a table [mcp_servers.NAME] and try again."
        ) from error
    own = made.get("mcp_servers", {}).get("seasoned")
    ours = {} if own is None else {"mcp_servers": {**theirs.get("mcp_servers", {}), "seasoned": own}}
    if made != {**theirs, **ours, **({"notify": made["notify"]} if "notify" in made else {})}:
        raise CannotDo(f"{str(path)!r} would change its meaning, so it was not touched. Check it.")


def _server(config: Config, programs: Path) -> str:
    lines = [
        "[mcp_servers.seasoned]",
        f"command = {json.dumps(str(programs / 'seasoned'))}",
        'args = ["mcp"]',
        f"startup_timeout_sec = {_STARTUP_SECONDS}",
    ]
    if has_own_home(config):
        # Codex starts servers with few of the user's variables.
        lines.append(f"env = {{ SEASONED_HOME = {json.dumps(str(config.home.absolute()))} }}")
    return "\n".join(lines)


def _toml_list(words: list[str]) -> str:
    return "[" + ", ".join(json.dumps(word) for word in words) + "]"


def _words_change(path: Path, *, has_server: bool) -> tuple[FileChange, ...]:
    before = read_present(path)
    text = decode_text(before or b"", path)
    try:
        after = put_at_end(text, _WORDS, _TELL) if has_server else _WORDS.take_out(text)
    except CannotDo as error:
        raise CannotDo(f"{str(path)!r}: {error}. Fix it and try again.") from error
    return change_of(
        path, before, after.encode() if after or before else None, "when to ask for what earlier sessions taught"
    )


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise CannotDo(f"{str(path)!r} is not valid TOML ({error}). Fix it and try again.") from error


def _servers(found: dict[str, Any], path: Path) -> dict[str, Any]:
    servers = found.get("mcp_servers", {})
    if not isinstance(servers, dict):
        raise CannotDo(f"{str(path)!r}: 'mcp_servers' is not a table. Fix it and try again.")
    return servers


def _own_steps(home: Path, parts: Collection[Part], *, has_own_notify: bool) -> tuple[str, ...]:
    found = [_TRUST] if set(parts) - {"mcp"} else []
    if "mcp" in parts and not can_serve():
        found.append("For the tool `recall`, run `pip install 'seasoned[mcp]'` and connect again.")
    if has_own_notify and learns(parts):
        found.append("Your own `notify` program stays. Sessions are reviewed once the hooks are trusted.")
    if (home / "AGENTS.override.md").exists():
        found.append("AGENTS.override.md replaces AGENTS.md. Copy our lines there if you want them.")
    return tuple(found)
