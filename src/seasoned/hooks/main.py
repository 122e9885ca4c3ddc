"""The entry point: `seasoned-hook AGENT EVENT`. What an event needs is imported when it comes."""

from __future__ import annotations

import sys

_EVENTS = {("claude-code", "pre-tool-use"): "seasoned.hooks.claude_code:pre_tool_use"}
"""Each event of each agent, and the function that answers it."""
_USAGE = "usage: seasoned-hook claude-code pre-tool-use [--wait-seconds N]"


def main() -> None:
    """The entry point. The exit code is 0 whenever there is an answer; wrong use is 2 and says so."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Answer the event that the arguments name, from stdin to stdout."""
    place = _EVENTS.get((arguments[0], arguments[1])) if len(arguments) >= 2 else None
    if place is None:
        sys.stderr.write(f"seasoned-hook: {_USAGE}\n")
        # An agent may take 2 for a refusal, and 1 for a hook that is broken: a wrong setting must not pass unseen.
        return 2
    from importlib import import_module

    module, _, name = place.partition(":")
    try:
        answer: int = getattr(import_module(module), name)(arguments[2:])
    except Exception as error:  # noqa: BLE001
        # Any other code than 2 lets the call run, whatever it is.
        sys.stderr.write(f"seasoned-hook: the call could not be looked at ({error!r}), so it must not run.\n")
        return 2
    return answer
