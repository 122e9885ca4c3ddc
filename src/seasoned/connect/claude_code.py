"""Claude Code: hooks in its `settings.json`, the MCP server in `.claude.json`, and skills that reviews wrote."""

from __future__ import annotations

from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.connect.hook_file import (
    WAIT_SECONDS,
    Hook,
    JsonNode,
    add_member,
    command_of,
    guarded,
    hooks_part,
    learns,
    read_json,
    read_object,
    remove_child,
    replace_value,
    waiting_status,
    without_hooks,
)
from seasoned.connect.plan import (
    PARTS,
    ConnectPlan,
    FileChange,
    LinkedFolder,
    Part,
    change_of,
    common_steps,
    decode_text,
    read_present,
)
from seasoned.errors import CannotDo

AGENT = "claude-code"
SERVER = "seasoned"
_SERVER_FILE = ".claude.json"
# Tools that only look or plan. If our program is missing, these still run; all others are refused.
_READING = (
    "Read|Grep|Glob|LS|NotebookRead|WebFetch|WebSearch|BashOutput|TaskOutput|TodoWrite|TodoRead|Task(?:Create|Get|List|Update)"
    "|ToolSearch|LSP|AskUserQuestion|EnterPlanMode|ExitPlanMode|Skill|ListMcpResources(?:Tool)?|ReadMcpResource(?:Tool)?"
    "|mcp__.+__(?:get|list|read|search|find|fetch|view|show|describe|recall)(?:_.+)?"
)


def plan(config: Config, *, programs: Path, parts: Collection[Part] = PARTS, prefill: str | None = None) -> ConnectPlan:
    """What must change in the files of Claude Code."""
    settings, server = _settings_change(config, programs, parts), _server_change(config, programs, parts)
    folder = LinkedFolder(config.claude_config_dir / "skills", config.skill_folder, "skills that reviews write")
    return ConnectPlan(
        AGENT,
        (*settings, *server),
        steps=(*_own_steps(config, parts), *common_steps(config, parts, asks_itself=True)),
        links=(folder,) if "reviews" in parts else (),
        parts=tuple(part for part in PARTS if part in parts),
    )


def left(path: Path, data: bytes) -> bytes | None:
    """A file of Claude Code without our part."""
    if path.name != _SERVER_FILE:
        return without_hooks(data, path)
    text = decode_text(data, path)
    bare = _without_server(text, path)
    return None if bare != text and bare.strip(" \t\r\n{}") == "" else bare.encode()


def hooks(config: Config, programs: Path, parts: Collection[Part] = PARTS) -> tuple[Hook, ...]:
    """The hooks that Claude Code runs."""

    def command(*words: str) -> str:
        return command_of(config, programs, AGENT, *words)

    found = []
    if "warm" in parts:
        found += [Hook("SessionStart", command("session-start"), 10)]
        found += [Hook("UserPromptSubmit", command("user-prompt-submit"), 10)]
    if "confirmations" in parts:
        alone = () if "hints" in parts else ("--no-hints",)
        asks = guarded(command("pre-tool-use", "--wait-seconds", str(WAIT_SECONDS), *alone))
        # The agent runs the call when this time is over, so it must be longer than the hook's own.
        found.append(Hook("PreToolUse", asks, WAIT_SECONDS + 30, f"^(?!(?:{_READING})$)", waiting_status(config)))
    if "hints" in parts:
        others = f"^(?:{_READING})$" if "confirmations" in parts else "*"
        found.append(Hook("PreToolUse", command("hint"), 10, others))
        found.append(Hook("PostToolUseFailure", command("post-tool-use-failure"), 10, "*"))
    if learns(parts):
        # Both only write down what ended; a background process learns from it.
        words = () if "reviews" in parts else ("--no-reviews",)
        found += [Hook("Stop", command("stop", *words), 10), Hook("SessionEnd", command("session-end", *words), 10)]
    return tuple(found)


def _settings_change(config: Config, programs: Path, parts: Collection[Part]) -> tuple[FileChange, ...]:
    path = config.claude_config_dir / "settings.json"
    before = read_present(path)
    return change_of(path, before, *hooks_part(before, hooks(config, programs, parts), path, parts))


def server_path(config: Config) -> Path:
    """Where Claude Code keeps the user's MCP servers: beside its folder, or in it if a variable names that folder."""
    folder = config.claude_config_dir
    is_named = config.origins.get("claude_config_dir", "default") != "default"
    return (folder if is_named else folder.parent) / _SERVER_FILE


def _server_change(config: Config, programs: Path, parts: Collection[Part]) -> tuple[FileChange, ...]:
    path = server_path(config)
    before = read_present(path)
    if "mcp" not in parts:
        return () if before is None else change_of(path, before, left(path, before), "without the MCP server")
    if find_spec("mcp") is None:
        return ()  # the server would fail at every start
    text = decode_text(before or b"{}", path) if (before or b"").strip() else "{}"
    after = _with_server(text, server_of(config, programs), path)
    return change_of(path, before, after.encode() if before else (after + "\n").encode(), PARTS["mcp"])


def server_of(config: Config, programs: Path) -> dict[str, Any]:
    """The MCP server as Claude Code writes it."""
    is_elsewhere = config.origins.get("home", "default") != "default"
    variables = {"SEASONED_HOME": str(config.home.absolute())} if is_elsewhere else {}
    return {"type": "stdio", "command": str(programs / "seasoned"), "args": ["mcp"], "env": variables}


def _with_server(text: str, server: dict[str, Any], path: Path) -> str:
    root = read_object(text, path)
    held = root.child("mcpServers")
    if held is None:
        return add_member(text, root, "mcpServers", {SERVER: server})
    if held.kind != "object":
        raise CannotDo(f"{str(path)!r}: 'mcpServers' is not an object. Fix it and try again.")
    own = held.child(SERVER)
    if own is None:
        return add_member(text, held, SERVER, server)
    # A server of that name that the user wrote stays as it is.
    return replace_value(text, own, server) if _is_ours(own) and own.value != server else text


def _without_server(text: str, path: Path) -> str:
    root = read_object(text, path)
    held = root.child("mcpServers")
    own = held.child(SERVER) if held is not None else None
    if held is None or own is None or not _is_ours(own):
        return text
    if len(held.children) == 1:
        return remove_child(text, root, root.keys.index("mcpServers"))
    return remove_child(text, held, held.keys.index(SERVER))


def _is_ours(node: JsonNode) -> bool:
    value = node.value if isinstance(node.value, dict) else {}
    return Path(str(value.get("command", ""))).name == "seasoned" and value.get("args") == ["mcp"]


def _own_steps(config: Config, parts: Collection[Part]) -> tuple[str, ...]:
    found = []
    data = read_present(config.claude_config_dir / "settings.json")
    if data and data.strip() and read_json(decode_text(data, Path("settings.json"))).value.get("disableAllHooks"):
        found.append("Remove `disableAllHooks` from the settings: with it Claude Code runs no hooks.")
    if "mcp" in parts and find_spec("mcp") is None:
        found.append("For the MCP server, run `pip install 'seasoned[mcp]'` and connect again.")
    return tuple(found)
