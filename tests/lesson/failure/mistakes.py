"""Invented sessions with mistakes and their repairs."""

from __future__ import annotations

import msgspec

from seasoned.command.tool import kind_of
from seasoned.outcome.track import JudgedCall, Track
from seasoned.session import SessionRef, ToolCall

DAY = 86_400.0
START = 1_767_225_600.0  # 2026-01-01


def call(tool: str, failed: str | None = None, /, **arguments: object) -> JudgedCall:
    """A call that worked, or failed with this error."""
    raw = msgspec.json.encode(arguments).decode()
    kind = kind_of(ToolCall("", tool, arguments))
    outcome = "ok" if failed is None else "failed"
    reason = "" if failed is None else failed
    return JudgedCall(0, 0, tool, kind, outcome, outcome, "call", None, raw, failed or "", reason)


def bash(command: str, failed: str | None = None) -> JudgedCall:
    return call("Bash", failed, command=command)


def edit(path: str = "/p/src/app.ts", old: str = "before", new: str = "after", failed: str | None = None) -> JudgedCall:
    return call("Edit", failed, file_path=path, old_string=old, new_string=new)


def session(name: str, *calls: JudgedCall, day: int = 0) -> Track:
    """One session of its own lineage; each call in a message of its own."""
    ref = SessionRef("claude-code", name)
    begun = START + day * DAY
    placed = tuple(
        msgspec.structs.replace(one, position=at, message=2 * at, time=begun + at, call_id=f"{name}-{at}")
        for at, one in enumerate(calls)
    )
    return Track(ref, 2 * len(calls), placed, str(ref), started=begun, ended=begun + len(calls))


def sessions(count: int, *calls: JudgedCall) -> list[Track]:
    """The same calls in several sessions, a day apart."""
    return [session(f"s{number}", *calls, day=number) for number in range(count)]
