"""Sessions made by hand for mining: calls with arguments, results and the words before them."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.command.tool import kind_of
from seasoned.example.mine.selection import MiningOptions
from seasoned.outcome.error_rate import counts_as
from seasoned.outcome.track import JudgedCall, Track
from seasoned.redact.redactor import Redactor
from seasoned.session import SessionRef, ToolCall

NOW = 1_800_000_000.0
DAY = 86_400.0
REDACTOR = Redactor(b"k" * 32)
SMALL = MiningOptions(min_messages=1)
_INTENT = "Please look after the parcel{} and tell me more."
_LETTERS = {ord(str(digit)): letter for digit, letter in enumerate("abcdefghij")}


def call(tool: str, outcome: str = "ok", /, **arguments: Any) -> JudgedCall:
    """One call; what begins with an underscore is about the call and not given to the tool."""
    facts = {name[1:]: arguments.pop(name) for name in list(arguments) if name.startswith("_")}
    fault = facts.pop("fault", "none")
    facts.setdefault("result", "done" if outcome == "ok" else "it did not work")
    facts.setdefault("intent", _INTENT)
    return JudgedCall(
        0,
        0,
        tool,
        kind_of(ToolCall("", tool, arguments)),
        counts_as(tool, outcome, fault),
        outcome,
        fault,
        raw_arguments=msgspec.json.encode(arguments).decode(),
        **facts,
    )


def failed(tool: str, reason: str, /, **arguments: Any) -> JudgedCall:
    return call(tool, "failed", **arguments, _fault="call", _reason=reason, _result=reason)


def bash(command: str, outcome: str = "ok", /, **facts: Any) -> JudgedCall:
    return call("Bash", outcome, command=command, **facts)


def session(name: str, *calls: JudgedCall, day: float = 1.0, **facts: Any) -> Track:
    """A session that ended so many days ago, each call in a message of its own."""
    ended = facts.pop("ended", NOW - day * DAY)
    placed = tuple(
        msgspec.structs.replace(
            one,
            # Sessions with the same words and the same calls would be copies of each other.
            intent=_INTENT.format(f" of {name.translate(_LETTERS)}") if one.intent == _INTENT else one.intent,
            position=at,
            message=2 * at + 1,
            call_id=one.call_id or f"{name}-{at}",
            time=one.time if one.time is not None or ended is None else ended - len(calls) + at,
        )
        for at, one in enumerate(calls)
    )
    facts.setdefault("messages", 2 * len(placed) + 1)
    facts.setdefault("root", name)
    agent = facts.pop("agent", "test")
    return Track(ref=SessionRef(agent, name), calls=placed, ended=ended, **facts)
