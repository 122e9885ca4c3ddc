"""Claude Code's PreToolUse: high-risk calls wait for a person; all others pass without a word.

A hook that fails or takes too long lets the call run. So everything that could go wrong with a high-risk call ends in a
denial that is printed in time, and nothing that goes wrong here stops a call that is not.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from seasoned.confirm.mapping import Need, need_of_call, need_of_command
from seasoned.errors import SeasonedError

WAIT_SECONDS = 50.0
"""Less than the time that the agent gives a hook (60 seconds by default), for later the call would run."""
_LAST_WORD_SECONDS = 3.0
_MOST_BYTES = 20_000_000


class _Call(msgspec.Struct):
    """What is read of the event; everything else is the agent's business."""

    tool_name: str
    tool_input: dict[str, Any] = {}
    session_id: str = ""
    cwd: str = ""


def pre_tool_use(arguments: list[str]) -> int:
    """Read the call from stdin; print a decision for one of high risk, nothing for any other."""
    wait_seconds = _wait_seconds(arguments)
    data = sys.stdin.buffer.read(_MOST_BYTES)
    try:
        call = msgspec.json.decode(data, type=_Call)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        need = _need_of_text(data)
        if need is not None:
            _say("deny", f"the call looks like {need.action}, but cannot be read ({error}): no person can be asked.")
        return 0
    need = need_of_call(call.tool_name, call.tool_input, agent="claude-code", folder=call.cwd or None)
    if need is not None:
        _ask(call, need, wait_seconds)
    return 0


def _ask(call: _Call, need: Need, wait_seconds: float) -> None:
    from threading import Timer

    # Whatever hangs, a name that does not resolve or a disk, must not outlast the agent's patience.
    last_word = Timer(wait_seconds + _LAST_WORD_SECONDS, _deny_and_end, [need.action])
    last_word.daemon = True
    last_word.start()
    decision, reason = "deny", f"{need.action} needs a person's yes, and asking for it failed."
    try:
        reason = _confirmed(call, need, wait_seconds)
        decision = "allow"
    except SeasonedError as error:
        reason = f"{need.action} needs a person's yes: {error}"
    finally:
        # Also for what nobody foresaw: a hook that ends with an error would let the call run.
        last_word.cancel()
        _say(decision, reason)
        os._exit(0)


def _confirmed(call: _Call, need: Need, wait_seconds: float) -> str:
    """The sentence that says who agreed; raises where nobody did."""
    from seasoned.confirm.client import configured_client

    grant = configured_client().confirm(
        need.action,
        need.description,
        {**need.details, "folder": call.cwd},
        label="claude-code",
        session_key=f"claude-code:{call.session_id}" if call.session_id else "",
        wait_seconds=wait_seconds,
    )
    return f"A person confirmed {need.action} (request {grant.id})."


def _need_of_text(data: bytes) -> Need | None:
    """What a call that cannot be read seems to be: every stretch of its text is taken for a command."""
    text = data.decode("utf-8", "ignore").replace("\\n", "\n").replace('\\"', " ")
    for line in (one for part in text.splitlines() for one in part.split('"')):
        found = need_of_command(line) if line.strip() else None
        if found is not None:
            return found
    return None


def _wait_seconds(arguments: list[str]) -> float:
    """How long a person may take; what is no such number leaves the default: a slip must not open the gate."""
    if len(arguments) == 2 and arguments[0] == "--wait-seconds":
        try:
            seconds = float(arguments[1])
        except ValueError:
            return WAIT_SECONDS
        if 1.0 <= seconds <= 3600.0:
            return seconds
    return WAIT_SECONDS


def _say(decision: str, reason: str) -> None:
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": f"Seasoned: {reason}",
        }
    }
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()


def _deny_and_end(action: str) -> None:
    _say("deny", f"{action} needs a person's yes, and no answer came in time.")
    os._exit(0)
