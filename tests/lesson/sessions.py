"""Judged sessions made by hand: commands and calls with their outcomes, at times that are days apart."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.command.tool import kind_of
from seasoned.outcome.track import JudgedCall, Track
from seasoned.session import SessionRef, ToolCall

DAY = 86_400.0


def ran(command: str, error: str | None = None, *, tool: str = "Bash") -> JudgedCall:
    """A shell command that worked, or that failed with this error."""
    return made(tool, {"command": command}, error)


def made(tool: str, arguments: dict[str, Any], error: str | None = None) -> JudgedCall:
    """A call of any tool that worked, or that failed with this error."""
    verdict = "ok" if error is None else "failed"
    return JudgedCall(
        position=0,
        message=0,
        tool=tool,
        kind=kind_of(ToolCall("", tool, arguments)),
        counts_as=verdict,
        verdict=verdict,
        fault="none" if error is None else "call",
        raw_arguments=msgspec.json.encode(arguments).decode(),
        result=error or "done",
        reason=error or "",
    )


def session(
    day: float,
    *calls: JudgedCall,
    project: str | None = "example.org/team/shop",
    cwd: str = "/home/mira/shop",
    task: str = "",
    agent: str = "claude-code",
) -> Track:
    """A session that begins on this day and lasts an hour; each call is a message of its own."""
    numbered = [
        msgspec.structs.replace(call, position=at, message=at, time=day * DAY + at, intent=task or None)
        for at, call in enumerate(calls)
    ]
    ref = SessionRef(agent, f"day-{day:g}-{project}")
    return Track(
        ref=ref,
        messages=len(calls),
        calls=tuple(numbered),
        root=str(ref),
        started=day * DAY,
        ended=day * DAY + 3600,
        cwd=cwd,
        project=project,
    )
