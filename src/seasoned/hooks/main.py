"""The program `seasoned-hook [--home FOLDER] AGENT EVENT`. Only what the event needs is imported."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module

from seasoned.environment import home_folder, is_apart, use_home
from seasoned.hooks.dialect import end_after, received, speak_as

AGENTS = ("claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cursor")
# The function that answers each event. These names are in the settings of connected agents.
EVENTS = {
    "session-start": "session_start:session_start",
    "pre-tool-use": "confirmation:pre_tool_use",
    "hint": "guidance:hint",
    "user-prompt-submit": "guidance:user_prompt_submit",
    "post-tool-use": "guidance:post_tool_use",
    "post-tool-use-failure": "guidance:post_tool_use_failure",
    "stop": "ended:stop",
    "session-end": "ended:session_end",
}
# The event that decides whether a call runs. A failure of any other one must never disturb the agent.
_DECIDES = "pre-tool-use"
# Before this one is answered, new sessions are learned from.
_BEGINS = "session-start"
_PATIENCE_SECONDS = 3.0
_USAGE = f"usage: seasoned-hook [--home FOLDER] {'|'.join(AGENTS)} EVENT [--wait-seconds N]; events are"


def main() -> None:
    """Answer one event. The exit code is 0 if there is an answer, and 2 with a message for wrong arguments."""
    # The agent waits for this process, so it collects no garbage and skips slow cleanup at exit.
    gc.disable()
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Answer the event that the arguments name, from stdin to stdout."""
    home = arguments[1] if arguments[:1] == ["--home"] and len(arguments) >= 2 else None
    arguments = arguments if home is None else arguments[2:]
    agent, event = (*arguments[:2], "", "")[:2]
    place = EVENTS.get(event)
    if place is None or agent not in AGENTS:
        sys.stderr.write(f"seasoned-hook: {_USAGE} {', '.join(sorted(EVENTS))}\n")
        # Agents treat 2 as a refusal and ignore 1 as a broken hook: wrong settings must be noticed.
        return 2
    if event != _DECIDES:
        if is_apart():
            return 0
        end_after(_PATIENCE_SECONDS, lambda: _note(f"{agent} {event} took too long, so it answered nothing"))
    if home is not None:
        use_home(home)
    try:
        speak_as(agent)
        if event == _BEGINS:
            _catch_up(agent)
        module, _, name = place.partition(":")
        answer: int = getattr(import_module(f"seasoned.hooks.{module}"), name)(agent, arguments[2:])
    except Exception as error:  # noqa: BLE001
        if event != _DECIDES:
            _note(f"{agent} {event} failed", error)
            return 0
        # With any other code than 2 the agent runs the call.
        sys.stderr.write(f"seasoned-hook: the call could not be checked ({error!r}), so it must not run.\n")
        return 2
    return answer


def _catch_up(agent: str) -> None:
    """Wait a moment until new sessions are learned from."""
    from seasoned.hooks.ended import catch_up

    try:
        catch_up(home_folder(), received())
    except (OSError, ValueError) as error:
        _note(f"{agent} {_BEGINS} could not catch up", error)


def _note(text: str, error: Exception | None = None) -> None:
    # A broken installation must not disturb the agent either.
    with suppress(ImportError):
        from seasoned.hooks.event import note

        note(text, error)
