"""Codex: hooks and the MCP server in its settings, and skills."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.connect.agent_settings import (
    HookForm,
    HookLayout,
    hooks_of,
    hooks_part,
    is_our_server,
    server_of,
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
    newline_of,
    read_present,
    skill_links,
)
from seasoned.errors import CannotDo

AGENT = "codex"
_TRUST = (
    "Start `codex` and trust the commands of seasoned-hook when it asks (or type `/hooks`). Until then it runs none of "
    "them. It asks again whenever hooks.json changes."
)
_STARTUP_SECONDS = 20
# Codex builds its list of tools after a second, and again when a slower server has come: the prompt would begin
# otherwise, and nothing of it would be cached. It waits only while a server is starting.
_GRACE = "mcp_optional_startup_grace_ms"
_GRACE_LINE = f"{_GRACE} = 5000 # seasoned"
_OURS = re.compile(r"\s*\[\s*mcp_servers\s*\.\s*(\"?)seasoned\1\s*[].]")
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


def plan(config: Config, *, programs: Path, parts: Collection[Part] = PARTS) -> ConnectPlan:
    """What must change in Codex' files."""
    home = config.codex_home
    path = home / "hooks.json"
    before = read_present(path)
    hooks = hooks_part(before, hooks_of(LAYOUT, config, programs, parts), path, parts, _FORM)
    return ConnectPlan(
        AGENT,
        (*change_of(path, before, *hooks), *_settings_change(config, programs, parts)),
        steps=(
            *([_TRUST] if set(parts) - {"mcp"} else []),
            *common_steps(config, "codex", parts),
        ),
        links=skill_links(config, home, parts),
        parts=tuple(part for part in PARTS if part in parts),
    )


def remove_ours(path: Path, data: bytes, before: bytes | None) -> bytes | None:
    """A file of Codex without our part."""
    if path.suffix == ".json":
        return without_hooks(data, path, _FORM)
    text = without_server(decode_text(data, path), path)
    return text.encode() if text.strip("\ufeff \t\r\n") else None


def with_server(text: str, server: dict[str, Any], path: Path) -> str:
    """The settings with our MCP server as a table at their end."""
    own = _servers(_parse(text, path), path).get("seasoned")
    if own is not None and (own == server or not is_our_server(own)):
        return text  # it is there already, or it is a server that the user wrote
    theirs = without_server(text, path)
    found = _parse(theirs, path)
    lines = ["[mcp_servers.seasoned]", *(f"{name} = {_toml(value)}" for name, value in server.items())]
    newline = newline_of(theirs)
    mark = "\ufeff" if theirs.startswith("\ufeff") else ""
    rest = theirs[len(mark) :]
    # After the first [table] header a name would belong to that table.
    first = "" if _GRACE in found else f"{_GRACE_LINE}{newline}"
    gap = ("" if rest.endswith("\n") else newline) + newline if rest else ""
    made = f"{mark}{first}{rest}{gap}{newline.join(lines)}{newline}"
    try:
        parsed = tomllib.loads(made.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise CannotDo(
            f"{str(path)!r}: a server cannot be added to `mcp_servers` as it is written ({error}). "
            "Write each server as a table [mcp_servers.NAME] and try again."
        ) from error
    _check(parsed, found, path)
    return made


def without_server(text: str, path: Path) -> str:
    """The settings without our server, wherever and however Codex has written it since."""
    found = _parse(text, path)
    own = _servers(found, path).get("seasoned")
    if own is not None and not is_our_server(own):
        return text
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    made = mark + "".join(_lines_of_others(text[len(mark) :].splitlines(keepends=True)))
    _check(_parse(made, path), found, path)
    return made


def _without_ours(found: dict[str, Any]) -> dict[str, Any]:
    """What settings mean without our part."""
    servers = {name: one for name, one in found.get("mcp_servers", {}).items() if name != "seasoned"}
    rest = {name: value for name, value in found.items() if name not in ("mcp_servers", _GRACE)}
    return {**rest, **({"mcp_servers": servers} if servers else {})}


def _lines_of_others(lines: list[str]) -> Iterator[str]:
    """All lines but those of our tables, and the empty line before them."""
    is_ours, held = False, []  # comments and empty lines, which belong to the table that follows them
    for line in lines:
        said = line.strip()
        if said == _GRACE_LINE:
            continue
        if not said or said.startswith("#"):
            held.append(line)
            continue
        was_ours = is_ours
        if said.startswith("["):
            is_ours = _OURS.match(line) is not None
        if is_ours and not was_ours and held and not held[-1].strip():
            held.pop()
        if not is_ours or not was_ours:
            yield from held
        held = []
        if not is_ours:
            yield line
    yield from held


def _settings_change(config: Config, programs: Path, parts: Collection[Part]) -> tuple[FileChange, ...]:
    path = config.codex_home / "config.toml"
    before = read_present(path)
    text = decode_text(before or b"", path)
    if "mcp" not in parts:
        after = without_server(text, path)
    else:
        server = server_of(config, programs, startup_timeout_sec=_STARTUP_SECONDS)
        after = with_server(text, {name: value for name, value in server.items() if value != {}}, path)
    return change_of(path, before, after.encode() if after or before else None, PARTS["mcp"])


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_toml(one)}' for name, one in value.items())} }}"
    return json.dumps(value)


def _check(made: dict[str, Any], before: dict[str, Any], path: Path) -> None:
    """Check that the file means the same apart from our part."""
    if _without_ours(made) != _without_ours(before):
        raise CannotDo(f"{str(path)!r}: our MCP server cannot be told from the rest. Edit it by hand.")


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
