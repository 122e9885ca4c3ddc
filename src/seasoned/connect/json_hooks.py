"""Agents that are connected by hooks and an MCP server in JSON files: Gemini CLI, Qwen Code, Copilot CLI and Cursor."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.connect.hook_file import HookForm, HookLayout, hooks_of, hooks_part, without_hooks
from seasoned.connect.mcp_file import server_of, server_part, server_steps, without_server
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    FileChange,
    Part,
    change_of,
    common_steps,
    read_present,
    skill_links,
)

# Tools of Gemini CLI and Qwen Code that only look or plan, and those of MCP servers whose name says so.
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
    # Not at every turn: its histories are in one database, which may be large and is read as a whole.
    end="sessionEnd",
)


class JsonHooks(msgspec.Struct, frozen=True):
    """Connects one agent; offers what the module of an agent offers."""

    layout: HookLayout
    home: Callable[[Config], Path]
    hooks: str  # the file with its hooks, below its home
    servers: str  # the file with its MCP servers
    asks_itself: bool = False
    server: dict[str, Any] = {}  # what the agent wants beside the program

    def plan(
        self, config: Config, *, programs: Path, parts: Collection[Part] = PARTS, prefill: str | None = None
    ) -> ConnectPlan:
        """What must change in the files of the agent."""
        agent, form = self.layout.agent, self.layout.form
        parts = [part for part in PARTS if part in parts]
        hook_file, server_file = self.home(config) / self.hooks, self.home(config) / self.servers
        before, known = read_present(hook_file), read_present(server_file)
        made, why = hooks_part(before, hooks_of(self.layout, config, programs, parts), hook_file, parts, form)
        # Both may stand in the same file.
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
            steps=(*server_steps(parts), *common_steps(config, parts, asks_itself=self.asks_itself)),
            links=skill_links(config, self.home(config), parts),
            parts=tuple(parts),
        )

    def left(self, path: Path, data: bytes) -> bytes | None:
        """A file of the agent without our part."""
        bare = without_hooks(data, path, self.layout.form)
        return None if bare is None else without_server(bare, path, comments=self.layout.form.comments)


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
