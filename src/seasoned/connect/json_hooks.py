"""Agents with hooks and MCP servers in JSON files: Claude Code, Gemini CLI, Qwen Code, Copilot CLI and Cursor."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.connect.agent_settings import (
    HookForm,
    HookLayout,
    hooks_of,
    hooks_part,
    server_of,
    server_part,
    without_hooks,
    without_server,
)
from seasoned.connect.json_text import read_json
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    FileChange,
    Part,
    change_of,
    common_steps,
    decode_text,
    read_present,
    skill_links,
)

CLAUDE_CODE = HookLayout(
    "claude-code",
    HookForm(has_status=True),
    start="SessionStart",
    prompt="UserPromptSubmit",
    before="PreToolUse",
    hints_before=True,
    after="PostToolUse",
    shells="Bash",
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
# Tools of Gemini CLI and Qwen Code that only read or plan, and those of MCP servers whose name says so.
_READING = (
    "read_file|read_many_files|list_directory|glob|grep_search|search_file_content|google_web_search|web_search|web_fetch"
    "|write_todos|todo_write|ask_user|ask_user_question|save_memory|activate_skill|skill|tool_search|exit_plan_mode|lsp"
    "|mcp_.+_(?:get|list|read|search|find|fetch|view|show|describe|recall)(?:_.+)?"
)
_GEMINI = HookLayout(
    "gemini",
    HookForm(units=1000, comments=True),
    start="SessionStart",
    prompt="BeforeAgent",
    before="BeforeTool",
    after="AfterTool",
    shells="run_shell_command",
    stop="AfterAgent",
    end="SessionEnd",
    reading=_READING,
)
_QWEN = HookLayout(
    "qwen",
    HookForm(has_status=True, comments=True),
    start="SessionStart",
    prompt="UserPromptSubmit",
    before="PreToolUse",
    after="PostToolUse",
    shells="run_shell_command",
    failure="PostToolUseFailure",
    stop="Stop",
    end="SessionEnd",
    reading=_READING,
)
_COPILOT = HookLayout(
    "copilot",
    HookForm(is_flat=True, command_key="bash", timeout_key="timeoutSec", version=1),
    start="sessionStart",
    prompt="userPromptSubmitted",
    before="preToolUse",
    hints_before=True,
    after="postToolUse",
    failure="postToolUseFailure",
    stop="agentStop",
    end="sessionEnd",
)
_CURSOR = HookLayout(
    "cursor",
    HookForm(is_flat=True, has_type=False, version=1, comments=True),
    start="sessionStart",
    before="preToolUse",
    after="postToolUse",
    # Not at every turn: its histories are in one database, which may be large and is read completely.
    end="sessionEnd",
)


class JsonHooks(msgspec.Struct, frozen=True):
    """Connects one agent; a `Connector` like the modules of the other agents."""

    layout: HookLayout
    home: Callable[[Config], Path]
    hooks: str  # the file with its hooks, below its home
    servers: str | Callable[[Config], Path]  # the file with its MCP servers, which may be the same
    asks_itself: bool = False
    server: dict[str, Any] = {}  # fields that the agent wants besides the program
    own_steps: Callable[[bytes | None], tuple[str, ...]] = lambda settings: ()  # given the settings as they are now

    def plan(self, config: Config, *, programs: Path, parts: Collection[Part] = PARTS) -> ConnectPlan:
        """What must change in the files of the agent."""
        agent, form = self.layout.agent, self.layout.form
        parts = [part for part in PARTS if part in parts]
        hook_file = self.home(config) / self.hooks
        server_file = self.home(config) / self.servers if isinstance(self.servers, str) else self.servers(config)
        before, known = read_present(hook_file), read_present(server_file)
        made, why = hooks_part(before, hooks_of(self.layout, config, programs, parts), hook_file, parts, form)
        base = made if server_file == hook_file else known
        served, reason = server_part(
            base, server_of(config, programs, **self.server), server_file, parts, comments=form.comments
        )
        changes: tuple[FileChange, ...]
        if server_file == hook_file:
            both = why if served == made else reason if made == before else f"{why}; {reason}"
            changes = change_of(hook_file, before, served, both)
        else:
            changes = (*change_of(hook_file, before, made, why), *change_of(server_file, known, served, reason))
        return ConnectPlan(
            agent,
            changes,
            steps=(
                *self.own_steps(before),
                *common_steps(config, agent, parts, asks_itself=self.asks_itself),
            ),
            links=skill_links(config, self.home(config), parts),
            parts=tuple(parts),
        )

    def remove_ours(self, path: Path, data: bytes, before: bytes | None) -> bytes | None:
        """A file of the agent without our part."""
        bare = without_hooks(data, path, self.layout.form)
        return None if bare is None else without_server(bare, path, comments=self.layout.form.comments)


def claude_servers(config: Config) -> Path:
    """Where Claude Code keeps the user's MCP servers: next to its folder, or in it if a variable names that folder."""
    folder = config.claude_config_dir
    is_named = config.origins.get("claude_config_dir", "default") != "default"
    return (folder if is_named else folder.parent) / ".claude.json"


def _claude_steps(settings: bytes | None) -> tuple[str, ...]:
    if settings and settings.strip():
        found = read_json(decode_text(settings, Path("settings.json"))).value
        if found.get("disableAllHooks"):
            return ("Remove `disableAllHooks` from the settings: with it Claude Code runs no hooks.",)
    return ()


claude_code = JsonHooks(
    CLAUDE_CODE,
    lambda config: config.claude_config_dir,
    "settings.json",
    claude_servers,
    asks_itself=True,
    server={"type": "stdio"},
    own_steps=_claude_steps,
)
gemini = JsonHooks(_GEMINI, lambda config: config.gemini_home, "settings.json", "settings.json")
qwen = JsonHooks(_QWEN, lambda config: config.qwen_home, "settings.json", "settings.json", asks_itself=True)
copilot = JsonHooks(
    _COPILOT,
    lambda config: config.copilot_home,
    "hooks/seasoned.json",
    "mcp-config.json",
    asks_itself=True,
    server={"type": "local", "tools": ["*"]},
)
cursor = JsonHooks(_CURSOR, lambda config: config.cursor_home, "hooks.json", "mcp.json")
