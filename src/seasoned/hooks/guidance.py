"""What a session sees at its first prompt and at its calls: usually nothing, at most one line.

Claude Code runs no hook for calls that its own checks refuse (`<tool_use_error>`). Those are found in the transcript
and answered at the next event.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from seasoned.begin.settings import BeginSettings, begin_settings
from seasoned.config import Config, TellingPlace, load
from seasoned.hooks.dialect import say
from seasoned.hooks.event import Agent, HookEvent, open_until_exit, read_event
from seasoned.lesson.ask import LessonLookup, lookup_for
from seasoned.marks import HINT_OPENS as _OPENS
from seasoned.store import Store

# Codex' tool names in events, and what its histories call them.
_CODEX_TOOLS = {"Bash": "exec_command"}
# Agents that show the model nothing before a call. It sees the hint after the call, if that fails.
_TOLD_AFTER = ("gemini", "qwen", "opencode", "cursor")
_TAIL_BYTES = 60_000
_REFUSED = b"<tool_use_error>"


def user_prompt_submit(agent: Agent, arguments: list[str]) -> int:
    """At the first prompt of a conversation, print the commands that it asks for, or nothing."""
    event = read_event()
    lookup = _lookup(agent, event, "prompt")
    answer = ""
    if lookup is not None:
        answer = _hint_for_refused_call(agent, event, lookup)
        # Only the first prompt counts: later ones follow from what the session does.
        found = lookup.first_prompt(event.prompt) if lookup.tell_once("prompt", "") and event.prompt else ""
        if found:
            lookup.tell_once("prompt", found)
        answer = "\n".join(filter(None, (answer, found)))
    notice = " ".join(filter(None, (_notice(agent, event, answer), _news(agent))))
    _say("UserPromptSubmit", answer, notice)
    return 0


def _say(name: str, told: str, notice: str) -> None:
    """Tell the agent something and notify its user; print nothing if both are empty."""
    fields = {"additionalContext": _OPENS + told if told else "", "systemMessage": notice}
    if told or notice:
        say(name, **{key: text for key, text in fields.items() if text})


def _notice(agent: Agent, event: HookEvent, told: str) -> str:
    """The line for the user about what the agent sees; empty if there is nothing, or the user wants none."""
    if not told or not begin_settings(load(), agent).is_visible:
        return ""
    from seasoned.begin.notice import hint_notice

    return hint_notice(f"{agent}:{event.session_id}", told)


def _news(agent: Agent) -> str:
    """What reviews kept since the last time."""
    config = load()
    if not config.store_path.exists() or not begin_settings(config, agent).is_visible:
        return ""
    from seasoned.begin.notice import kept_notice

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
    """Before a call: print what works here instead, or what fixes an earlier call that the agent refused."""
    event = read_event()
    lookup = _lookup(agent, event, "calls")
    if lookup is None:
        return 0
    text = _hint_for_refused_call(agent, event, lookup)
    if not text:
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


def _hint_for_refused_call(agent: Agent, event: HookEvent, lookup: LessonLookup) -> str:
    """The hint for the last call that the agent itself refused, if it was not given yet."""
    if agent != "claude-code" or not event.transcript_path:
        return ""
    tail = _tail(event.transcript_path)
    if _REFUSED not in tail:
        return ""
    call, error = _refused_call(tail)
    if call is None:
        return ""
    tool, given = call
    text = lookup.after(tool, given, error)
    return text if text and lookup.tell_once("after", text) else ""


def _tail(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - _TAIL_BYTES))
            return file.read()
    except OSError:
        return b""


def _refused_call(tail: bytes) -> tuple[tuple[str, dict[str, Any]] | None, str]:
    """The newest call of the transcript if Claude Code refused it: its tool and arguments, and the error."""
    error, wanted = "", ""
    for line in reversed(tail.splitlines()):
        if b'"tool_result"' not in line and b'"tool_use"' not in line:
            continue
        try:
            blocks = _Line.content_of(line)
        except msgspec.MsgspecError:
            continue
        for block in blocks:
            if block.get("type") == "tool_result" and not wanted:
                error = _text(block.get("content"))
                # Only the newest result counts: older ones were handled by earlier events.
                if not error.startswith(_REFUSED.decode()):
                    return None, ""
                wanted = str(block.get("tool_use_id"))
            elif block.get("type") == "tool_use" and block.get("id") == wanted:
                given = block.get("input")
                return (str(block.get("name")), given if isinstance(given, dict) else {}), error
    return None, ""


class _Message(msgspec.Struct):
    content: Any = None


class _Line(msgspec.Struct):
    """A line of a transcript of Claude Code."""

    message: _Message | None = None

    @staticmethod
    def content_of(line: bytes) -> list[dict[str, Any]]:
        found = msgspec.json.decode(line, type=_Line).message
        content = None if found is None else found.content
        return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or () if isinstance(part, dict))


def _lookup(agent: Agent, event: HookEvent, place: TellingPlace) -> LessonLookup | None:
    """What answers questions about this conversation; None if hints are off here or nothing is known."""
    config = load()
    settings = begin_settings(config, agent)
    if not event.session_id or not config.store_path.exists() or not settings.tells(place):
        return None
    store = open_until_exit(config.store_path)
    if _is_held_back(config, store, agent, event.session_id, settings):
        return None
    return lookup_for(store, f"{agent}:{event.session_id}", event.cwd or None)


def _is_held_back(config: Config, store: Store, agent: Agent, session: str, settings: BeginSettings) -> bool:
    if settings.experiment is None:
        return False
    from seasoned.begin.ongoing import experiment_database, is_held_back

    opened = partial(experiment_database, config, store)
    return is_held_back(opened, f"{agent}:{session}", settings, now=time.time())


def _as_text(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def _has_failed(agent: Agent, tool: str, event: HookEvent, text: str) -> bool:
    from seasoned.outcome.judge import judge
    from seasoned.session import Marks, Result, ToolCall

    call = ToolCall("", tool, event.arguments, Result(text, Marks(exit_code=event.exit_code)))
    return judge(call, agent=agent).verdict == "failed"
