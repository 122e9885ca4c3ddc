"""The program `seasoned-hook [--home FOLDER] AGENT EVENT`. Only what the event needs is imported."""

from __future__ import annotations

import gc
import os
import sys

# The function that answers each event of each agent. These names stand in the settings of connected agents.
_EVENTS = {
    ("claude-code", "session-start"): "session_start:session_start",
    ("claude-code", "pre-tool-use"): "confirmation:pre_tool_use",
    ("claude-code", "user-prompt-submit"): "guidance:user_prompt_submit",
    ("claude-code", "post-tool-use-failure"): "guidance:post_tool_use_failure",
    ("claude-code", "stop"): "ended:stop",
    ("claude-code", "session-end"): "ended:session_end",
    ("codex", "session-start"): "session_start:session_start",
    ("codex", "pre-tool-use"): "confirmation:pre_tool_use",
    ("codex", "user-prompt-submit"): "guidance:user_prompt_submit",
    ("codex", "post-tool-use"): "guidance:post_tool_use",
    ("codex", "stop"): "ended:stop",
    ("codex", "session-end"): "ended:session_end",
    ("codex", "notify"): "ended:notify",
}
# The event that decides whether a call runs. A failure of any other one must never disturb the agent.
_DECIDES = "pre-tool-use"
# The module that imports no library, because an agent waits for it at the end of every turn.
_WITHOUT_LIBRARIES = "ended"
_PATIENCE_SECONDS = 5.0
_USAGE = "usage: seasoned-hook [--home FOLDER] claude-code|codex EVENT [--wait-seconds N]; events are"


def main() -> None:
    """Answer one event. The exit code is 0 if there is an answer, and 2 with a message for wrong arguments."""
    # The agent waits for this process: no garbage is collected, and nothing is cleaned up at the end.
    gc.disable()
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _import_lightly() -> None:
    """Import msgspec without typing_extensions, which it would import if present: that takes half of the time."""
    name = "typing_extensions"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # Python takes None for "not installed"
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[name]


def run(arguments: list[str]) -> int:
    """Answer the event that the arguments name, from stdin to stdout."""
    home = arguments[1] if arguments[:1] == ["--home"] and len(arguments) >= 2 else None
    arguments = arguments if home is None else arguments[2:]
    agent, event = (*arguments[:2], "", "")[:2]
    place = _EVENTS.get((agent, event))
    if place is None:
        known = ", ".join(sorted({name for _, name in _EVENTS}))
        sys.stderr.write(f"seasoned-hook: {_USAGE} {known}\n")
        # Agents take 2 for a refusal and ignore 1 as a broken hook: wrong settings must be noticed.
        return 2
    if event != _DECIDES:
        _end_in_time()
    try:
        answer = _answer(place, agent, arguments[2:], home)
    except Exception as error:  # noqa: BLE001
        if event != _DECIDES:
            _note(f"{agent} {event} failed: {error!r}")
            return 0
        # With any other code than 2 the agent runs the call.
        sys.stderr.write(f"seasoned-hook: the call could not be checked ({error!r}), so it must not run.\n")
        return 2
    return answer


def _answer(place: str, agent: str, options: list[str], home: str | None) -> int:
    from importlib import import_module

    module, _, name = place.partition(":")
    if module != _WITHOUT_LIBRARIES:
        _import_lightly()
    if home is not None:
        from seasoned.environment import use_home

        use_home(home)
    found: int = getattr(import_module(f"seasoned.hooks.{module}"), name)(agent, options)
    return found


def _end_in_time() -> None:
    """Give up after some seconds: the agent waits, perhaps because the store is locked or the disk hangs."""
    import threading

    ending = threading.Timer(_PATIENCE_SECONDS, os._exit, [0])
    ending.daemon = True
    ending.start()


def _note(text: str) -> None:
    from contextlib import suppress

    # A broken installation must not disturb the agent either.
    with suppress(ImportError):
        from seasoned.hooks.log import note

        note(text)
