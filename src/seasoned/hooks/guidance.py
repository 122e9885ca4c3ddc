"""What a session sees at its first prompt and at its calls: usually nothing, at most one line.

Claude Code runs no hook for calls that its own checks refuse (`<tool_use_error>`). Such a call is not answered: the
error says enough, and an answer at the next call comes too late.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec

from seasoned.config import Config, TellingPlace, WarmSettings, load
from seasoned.hooks.dialect import say
from seasoned.hooks.event import Agent, HookEvent, open_until_exit, read_event
from seasoned.lesson.ask import LessonLookup, lookup_for
from seasoned.marks import HINT_OPENS as _OPENS
from seasoned.store import Store

# Codex' tool names in events, and what its histories call them.
_CODEX_TOOLS = {"Bash": "exec_command"}
# Agents that show the model nothing before a call. It sees the hint after the call, if that fails.
_TOLD_AFTER = ("gemini", "qwen", "opencode", "cursor")
# Agents that run the hooks of a start and of its first prompt at once: what the start shows may not be noted yet.
_STARTS_AT_ONCE = ("copilot",)


def user_prompt_submit(agent: Agent, arguments: list[str]) -> int:
    """At the first prompt of a conversation, print the commands that it asks for, or nothing."""
    event = read_event()
    lookup = None if _is_shown_at_start(agent) else _lookup(agent, event, "prompt")
    answer = ""
    if lookup is not None:
        # Only the first prompt counts: later ones follow from what the session does.
        answer = lookup.first_prompt(event.prompt) if lookup.tell_once("prompt", "") and event.prompt else ""
        if answer:
            lookup.tell_once("prompt", answer)
    notice = " ".join(filter(None, (_notice(agent, event, answer), _news(agent))))
    _say("UserPromptSubmit", answer, notice)
    return 0


def _is_shown_at_start(agent: Agent) -> bool:
    """Whether the sheet comes with the first prompt, and with it all that a prompt can ask for."""
    if agent not in _STARTS_AT_ONCE:
        return False
    settings = load().warm.at(agent)
    return settings.tells("start") and not settings.template and settings.experiment is None


def _say(name: str, told: str, notice: str) -> None:
    """Tell the agent something and notify its user; print nothing if both are empty."""
    fields = {"additionalContext": _OPENS + told if told else "", "systemMessage": notice}
    if told or notice:
        say(name, **{key: text for key, text in fields.items() if text})


def _notice(agent: Agent, event: HookEvent, told: str) -> str:
    """The line for the user about what the agent sees; empty if there is nothing, or the user wants none."""
    if not told or not load().warm.at(agent).visible:
        return ""
    from seasoned.begin.start_text import hint_notice

    return hint_notice(f"{agent}:{event.session_id}", told)


def _news(agent: Agent) -> str:
    """What reviews kept since the last time."""
    config = load()
    if not config.store_path.exists() or not config.warm.at(agent).visible:
        return ""
    from seasoned.begin.start_text import kept_notice

    return kept_notice(open_until_exit(config.store_path), agent)


def post_tool_use_failure(agent: Agent, arguments: list[str]) -> int:
    """A call failed in Claude Code: print what fixed such a failure here, or nothing."""
    event = read_event()
    error = event.error if isinstance(event.error, str) else ""
    if not event.is_interrupt and error.strip():
        _answer("PostToolUseFailure", agent, event, event.tool_name, error)
    return 0


def post_tool_use(agent: Agent, arguments: list[str]) -> int:
    """A call ended. Some agents do not say whether it failed, so its text is judged first."""
    event = read_event()
    text = event.tool_response if isinstance(event.tool_response, str) else _as_text(event.tool_response)
    tool = _tool(agent, event)
    if text.strip():
        # Most output is not a known failure. Judging takes longer than looking that up, so it comes second.
        _answer("PostToolUse", agent, event, tool, text, if_true=lambda: _has_failed(agent, tool, event, text))
    return 0


def hint(agent: Agent, arguments: list[str]) -> int:
    """Before a call: print what works here instead."""
    event = read_event()
    lookup = _lookup(agent, event, "calls")
    if lookup is None:
        return 0
    text = lookup.before(_tool(agent, event), event.arguments)
    text = text if text and lookup.tell_once("before", text) else ""
    _say("PreToolUse", text, _notice(agent, event, text))
    return 0


def _tool(agent: Agent, event: HookEvent) -> str:
    """The name of the tool in histories."""
    return _CODEX_TOOLS.get(event.tool_name, event.tool_name) if agent == "codex" else event.tool_name


def _answer(
    name: str, agent: Agent, event: HookEvent, tool: str, error: str, *, if_true: Callable[[], bool] = lambda: True
) -> None:
    lookup = _lookup(agent, event, "calls")
    text = "" if lookup is None else lookup.after(tool, event.arguments, error)
    if lookup is not None and not text and agent in _TOLD_AFTER:
        text = lookup.before(tool, event.arguments)
    if lookup is not None and text and if_true() and lookup.tell_once("after", text):
        _say(name, text, _notice(agent, event, text))


def _lookup(agent: Agent, event: HookEvent, place: TellingPlace) -> LessonLookup | None:
    """What answers questions about this conversation; None if hints are off here or nothing is known."""
    config = load()
    settings = config.warm.at(agent)
    if not event.session_id or not config.store_path.exists() or not settings.tells(place):
        return None
    store = open_until_exit(config.store_path)
    if _is_held_back(config, store, agent, event.session_id, settings):
        return None
    return lookup_for(store, f"{agent}:{event.session_id}", event.cwd or None)


def _is_held_back(config: Config, store: Store, agent: Agent, session: str, settings: WarmSettings) -> bool:
    if settings.experiment is None:
        return False
    from seasoned.experiment.live.assignment import is_held_back

    return is_held_back(config, store, f"{agent}:{session}", settings, now=time.time())


def _as_text(value: Any) -> str:
    if isinstance(value, dict) and isinstance(value.get("stdout"), str):
        # Claude Code gives both outputs of a shell apart.
        return "\n".join(part for part in (value["stdout"], value.get("stderr")) if isinstance(part, str) and part)
    return "" if value is None else msgspec.json.encode(value).decode()


def _has_failed(agent: Agent, tool: str, event: HookEvent, text: str) -> bool:
    from seasoned.outcome.judge import judge
    from seasoned.session import Marks, Result, ToolCall

    # Claude Code sends this event only for calls that its tools take for done: the status may be that of a pipe.
    says_done = False if agent in ("claude-code", "qwen") else None
    marks = Marks(failed=says_done, exit_code=event.exit_code)
    call = ToolCall("", tool, event.arguments, Result(text, marks))
    return judge(call, agent=agent).verdict == "failed"
