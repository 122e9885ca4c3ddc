"""Claude Code: hooks in its `settings.json`, the MCP server in `.claude.json`, and skills that reviews wrote."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from seasoned.config import Config
from seasoned.connect.hook_file import HookForm, HookLayout, hooks_of, hooks_part, without_hooks
from seasoned.connect.json_text import read_json
from seasoned.connect.mcp_file import server_of, server_part, server_steps, without_server
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    Part,
    change_of,
    common_steps,
    decode_text,
    read_present,
    skill_links,
)

AGENT = "claude-code"
_SERVER_FILE = ".claude.json"
_FORM = HookForm(has_status=True)
LAYOUT = HookLayout(
    AGENT,
    _FORM,
    start="SessionStart",
    prompt="UserPromptSubmit",
    before="PreToolUse",
    hints_before=True,
    failure="PostToolUseFailure",
    stop="Stop",
    end="SessionEnd",
    any_tool="*",
    reading=(
        "Read|Grep|Glob|LS|NotebookRead|WebFetch|WebSearch|BashOutput|TaskOutput|TodoWrite|TodoRead|Task(?:Create|Get|List|Update)"
        "|ToolSearch|LSP|AskUserQuestion|EnterPlanMode|ExitPlanMode|Skill|ListMcpResources(?:Tool)?|ReadMcpResource(?:Tool)?"
        "|mcp__.+__(?:get|list|read|search|find|fetch|view|show|describe|recall)(?:_.+)?"
    ),
)


def plan(config: Config, *, programs: Path, parts: Collection[Part] = PARTS, prefill: str | None = None) -> ConnectPlan:
    """What must change in the files of Claude Code."""
    settings, servers = config.claude_config_dir / "settings.json", server_path(config)
    before = read_present(settings)
    made = hooks_part(before, hooks_of(LAYOUT, config, programs, parts), settings, parts, _FORM)
    known = read_present(servers)
    served = server_part(known, server_of(config, programs, type="stdio"), servers, parts)
    return ConnectPlan(
        AGENT,
        (*change_of(settings, before, *made), *change_of(servers, known, *served)),
        steps=(*_own_steps(before), *server_steps(parts), *common_steps(config, parts, asks_itself=True)),
        links=skill_links(config, config.claude_config_dir, parts),
        parts=tuple(part for part in PARTS if part in parts),
    )


def left(path: Path, data: bytes) -> bytes | None:
    """A file of Claude Code without our part."""
    return without_server(data, path) if path.name == _SERVER_FILE else without_hooks(data, path, _FORM)


def server_path(config: Config) -> Path:
    """Where Claude Code keeps the user's MCP servers: beside its folder, or in it if a variable names that folder."""
    folder = config.claude_config_dir
    is_named = config.origins.get("claude_config_dir", "default") != "default"
    return (folder if is_named else folder.parent) / _SERVER_FILE


def _own_steps(settings: bytes | None) -> tuple[str, ...]:
    if settings and settings.strip():
        found = read_json(decode_text(settings, Path("settings.json"))).value
        if found.get("disableAllHooks"):
            return ("Remove `disableAllHooks` from the settings: with it Claude Code runs no hooks.",)
    return ()
