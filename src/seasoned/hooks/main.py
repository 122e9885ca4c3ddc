"""The program `seasoned-hook [--home FOLDER] AGENT EVENT`. Only what the event needs is imported."""

from __future__ import annotations

import gc
import os
import sys

from seasoned.environment import home_folder, use_home
from seasoned.hooks.exchange import end_after, received, say
from seasoned.resident import ask, is_possible, start

AGENTS = ("claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cursor")
# Agents whose events and answers have a different format.
_OWN_FORM = ("gemini", "copilot", "cursor")
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
    "notify": "ended:notify",
}
# The event that decides whether a call runs. A failure of any other one must never disturb the agent.
_DECIDES = "pre-tool-use"
# The module that imports no library, because an agent waits for it at the end of every turn.
_WITHOUT_LIBRARIES = "ended"
# What agents call the events that only guide. The resident process may answer these.
GUIDES = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "hint": "PreToolUse",
    "post-tool-use": "PostToolUse",
    "post-tool-use-failure": "PostToolUseFailure",
}
# Before this one is answered, new sessions are learned from.
_BEGINS = "session-start"
_PATIENCE_SECONDS = 5.0
_USAGE = f"usage: seasoned-hook [--home FOLDER] {'|'.join(AGENTS)} EVENT [--wait-seconds N]; events are"


def main() -> None:
    """Answer one event. The exit code is 0 if there is an answer, and 2 with a message for wrong arguments."""
    # The agent waits for this process, so it collects no garbage and skips slow cleanup at exit.
    gc.disable()
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # The next event reuses the expressions that this one compiled.
    if (expressions := sys.modules.get("seasoned.lazy_regex")) is not None:
        expressions.save_compiled()
    opened = sys.modules.get("seasoned.hooks.event")
    if opened is not None:
        opened.close_unwritten()
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
        end_after(_PATIENCE_SECONDS)
    if home is not None:
        use_home(home)
    try:
        answer = _answer(place, agent, event, arguments[2:])
    except Exception as error:  # noqa: BLE001
        if event != _DECIDES:
            _note(f"{agent} {event} failed: {error!r}")
            return 0
        # With any other code than 2 the agent runs the call.
        sys.stderr.write(f"seasoned-hook: the call could not be checked ({error!r}), so it must not run.\n")
        return 2
    return answer


def _answer(place: str, agent: str, event: str, options: list[str]) -> int:
    """Ask the resident process; if it does not answer, import what the event needs and answer here."""
    home = home_folder()
    pending = None
    if agent in _OWN_FORM:
        from seasoned.hooks.dialect import speak_as

        speak_as(agent)
    if event == _BEGINS:
        _catch_up(home, agent)
    if (event == _DECIDES and "--no-hints" not in options) or event in GUIDES:
        pending = ask(home, agent, event, received())
    if pending is not None and event != _DECIDES:
        said = pending.take()
        if said is not None:
            if said:
                say(GUIDES[event], **said)
            return 0
    from importlib import import_module

    module, _, name = place.partition(":")
    if module != _WITHOUT_LIBRARIES:
        _import_lightly()
    answer = getattr(import_module(f"seasoned.hooks.{module}"), name)
    # Whether a call may run is decided here, while the other process looks for a hint.
    code: int = answer(agent, options, pending) if event == _DECIDES else answer(agent, options)
    if pending is None and event in (_DECIDES, *GUIDES):
        _keep_ready(home)
    return code


def _catch_up(home: str, agent: str) -> None:
    """Wait a moment until new sessions are learned from; the resident process answers at once or not at all."""
    from seasoned.hooks.catch_up import catch_up

    try:
        catch_up(home, agent, received())
    except (OSError, ValueError) as error:
        _note(f"{agent} {_BEGINS} could not catch up: {error!r}")


def _import_lightly() -> None:
    """Import msgspec without modules that no hook uses, which take half of its import time."""
    if "msgspec" in sys.modules:
        return
    from types import ModuleType

    schemas = ModuleType("msgspec._json_schema")
    schemas.__dict__.update(schema=None, schema_components=None)
    # None in sys.modules means "not installed".
    left_out = {schemas.__name__: schemas, "msgspec.inspect": ModuleType("inspect"), "typing_extensions": None}
    left_out = {name: module for name, module in left_out.items() if name not in sys.modules}
    sys.modules.update(left_out)  # type: ignore[arg-type]
    try:
        import msgspec
    except (ImportError, AttributeError):
        pass  # another version of msgspec needs more of it
    finally:
        for name in left_out:
            del sys.modules[name]
    import msgspec  # noqa: F401


def _keep_ready(home: str) -> None:
    """Start the process that answers the next events, after this one was answered."""
    from contextlib import suppress

    from seasoned.config import load
    from seasoned.errors import SeasonedError

    with suppress(SeasonedError, OSError):
        config = load()
        # Without a store there is nothing to show yet.
        if config.hook_resident and is_possible(home) and config.store_path.exists():
            start(home)


def _note(text: str) -> None:
    from contextlib import suppress

    # A broken installation must not disturb the agent either.
    with suppress(ImportError):
        from seasoned.hooks.log import note

        note(text)
