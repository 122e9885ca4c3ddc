"""After a failed call: tell the agent which repair worked when the same failure was met before."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import msgspec

from seasoned.begin.settings import begin_settings
from seasoned.config import Config, load
from seasoned.hooks.event import Agent, HookEvent, read_event, say
from seasoned.store import Store, open_store
from seasoned.template.block import clean_text
from seasoned.template.recall.lookup import recall, recall_text

_MOST = 2
_CHARS = 4_000
_OPENS = "[seasoned:recall] "


def post_tool_use_failure(agent: Agent, arguments: list[str]) -> int:
    """Claude Code says that a call failed: print what repaired such a failure, or nothing."""
    event = read_event()
    error = event.error if isinstance(event.error, str) else ""
    if not event.is_interrupt and error.strip():
        _answer("PostToolUseFailure", agent, event, event.tool_name, error)
    return 0


def post_tool_use(agent: Agent, arguments: list[str]) -> int:
    """Codex says only that a call ended, so its text is judged first."""
    event = read_event()
    text = event.tool_response if isinstance(event.tool_response, str) else _encoded(event.tool_response)
    tool = {"Bash": "exec_command"}.get(event.tool_name, event.tool_name)
    if text.strip() and _has_failed(agent, tool, event, text):
        _answer("PostToolUse", agent, event, tool, text)
    return 0


def _encoded(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def _has_failed(agent: Agent, tool: str, event: HookEvent, text: str) -> bool:
    from seasoned.outcome.judge import judge
    from seasoned.session import Marks, Result, ToolCall

    call = ToolCall("", tool, event.arguments, Result(text, Marks()))
    return judge(call, agent=agent).verdict == "failed"


def _answer(name: str, agent: Agent, event: HookEvent, tool: str, error: str) -> None:
    config = load()
    if not config.store_path.exists():
        return
    with open_store(config.store_path) as store:
        if _is_held_back(config, store, agent, event.session_id):
            return
        found = recall(store, tool=tool, error=error, arguments=event.arguments, limit=_MOST, now=time.time())
    # The call that just failed is not a repair.
    repairs = tuple(one for one in found.repairs if one.worked.arguments != event.arguments)
    if repairs:
        shown = msgspec.structs.replace(found, repairs=repairs, worked=(), reason="")
        say(name, additionalContext=_OPENS + clean_text(recall_text(shown))[:_CHARS])


def _is_held_back(config: Config, store: Store, agent: Agent, session: str) -> bool:
    settings = begin_settings(config, agent)
    if settings.experiment is None:
        return False
    from seasoned.begin.ongoing import experiment_database, is_held_back

    opened = partial(experiment_database, config, store)
    return is_held_back(opened, f"{agent}:{session}", settings, now=time.time())
