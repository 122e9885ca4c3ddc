"""SessionStart: shows a new session the sheet of its project, the same text as long as it lives."""

from __future__ import annotations

import mmap
import time
from pathlib import Path
from typing import TYPE_CHECKING

from seasoned.config import Config, WarmSettings, load
from seasoned.hooks.dialect import say
from seasoned.hooks.event import Agent, HookEvent, log, open_until_exit, read_event
from seasoned.marks import BLOCK_OPENS

if TYPE_CHECKING:
    from seasoned.begin.memory import Remembered

_BEGINS = ("startup", "clear")
# Tools that every session of the agent has. A hook knows no others, and examples for missing tools would mislead.
_TOOLS: dict[Agent, tuple[str, ...]] = {
    "claude-code": ("Bash", "Read", "Edit", "Write", "Agent", "WebFetch", "WebSearch"),
    "codex": ("exec_command", "write_stdin", "apply_patch", "view_image", "web_search"),
    "gemini": ("run_shell_command", "read_file", "replace", "write_file", "glob", "grep_search"),
    "qwen": ("run_shell_command", "read_file", "edit", "write_file", "glob", "grep_search"),
    "copilot": ("bash", "view", "edit", "create", "glob"),
    "opencode": ("bash", "read", "edit", "write", "glob", "grep", "webfetch"),
    "cursor": ("Shell", "Read", "StrReplace", "Write", "Grep"),
}


def session_start(agent: Agent, arguments: list[str]) -> int:
    """Print what the session is to be shown, or nothing."""
    event = read_event()
    config = load()
    if event.session_id and not event.agent_id and config.store_path.exists():
        settings = config.warm.at(agent)
        begins = event.source in _BEGINS
        block = _begin(agent, event, config, settings) if begins else _resume(agent, event, config)
        memory = _memory(agent, event, config, settings)
        text = "\n\n".join(filter(None, (block.decode() if block else "", memory.text if memory else "")))
        notice = _notice(agent, event, config, block, memory) if settings.visible else ""
        fields = {"additionalContext": text, "systemMessage": notice}
        if text or notice:
            say("SessionStart", **{key: value for key, value in fields.items() if value})
    return 0


def _memory(agent: Agent, event: HookEvent, config: Config, settings: WarmSettings) -> Remembered | None:
    """Memory and skills: shown when a session begins, and again if a compaction or resume lost them."""
    # A fork has the history of its origin, and with it what that was shown.
    if event.source not in (*_BEGINS, "resume", "compact"):
        return None
    from seasoned.begin.start_text import MEMORY_OPENS, begin_with_memory, find_memory

    store, id = open_until_exit(config.store_path), f"{agent}:{event.session_id}"
    if event.source not in _BEGINS:
        known = find_memory(store, id)
        is_there = event.source == "resume" and _holds(event.transcript_path, MEMORY_OPENS)
        return None if is_there else known
    if settings.experiment is not None:
        from seasoned.experiment.live.assignment import is_held_back

        if is_held_back(config, store, id, settings, now=time.time()):
            return None
    return begin_with_memory(store, config, id, settings, folder=event.cwd, now=time.time())


def _notice(agent: Agent, event: HookEvent, config: Config, block: bytes | None, memory: Remembered | None) -> str:
    """The line for the user: what the session was shown, and what reviews kept since the last time."""
    if event.source not in _BEGINS:
        return ""
    from seasoned.begin.start_text import kept_notice, start_notice

    commands = sum(line.startswith(b"- ") for line in (block or b"").splitlines())
    shown = start_notice(f"{agent}:{event.session_id}", commands, memory)
    kept = kept_notice(open_until_exit(config.store_path), agent)
    return " ".join(filter(None, (shown, kept)))


def _begin(agent: Agent, event: HookEvent, config: Config, settings: WarmSettings) -> bytes | None:
    if not settings.enabled:
        return None
    id = f"{agent}:{event.session_id}"
    if settings.experiment is None and not settings.template:
        from seasoned.begin.start_text import begin_with_sheet

        # Without a folder it belongs to no project and sees nothing.
        return begin_with_sheet(open_until_exit(config.store_path), id, event.cwd, settings, now=time.time())
    # Examples are chosen only where a template or an experiment asks for them: importing that takes time.
    from seasoned.begin.warm_start import NewSession, begin

    session = NewSession(
        conversation=id,
        format="text",
        # Of the two forms that a hook can show, calls helped more when measured.
        form="text",
        tools=list(_TOOLS[agent]),
        folder=event.cwd,
    )
    return begin(
        open_until_exit(config.store_path),
        config,
        session,
        settings,
        now=time.time(),
        warn=lambda text: log(config.home, text),
    ).content


def _resume(agent: Agent, event: HookEvent, config: Config) -> bytes | None:
    if event.source not in ("resume", "compact"):
        # A fork has the history of its origin, and with it the block.
        return None
    from seasoned.example.library.storage import find_block

    known = find_block(open_until_exit(config.store_path), f"{agent}:{event.session_id}", "text")
    if known is None or (event.source == "resume" and _holds(event.transcript_path, BLOCK_OPENS)):
        return None
    return known.content


def _holds(path: str | None, mark: str) -> bool:
    """Whether the agent's own file contains this mark: then the text is part of the resumed history."""
    try:
        with Path(path or "").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(mark.encode()) >= 0
    except (OSError, ValueError):
        return False
