"""A report over invented sessions whose every text is hostile, for the tests of pages."""

from __future__ import annotations

import random

from seasoned.outcome.track import JudgedCall, Track
from seasoned.report.report import Report, report
from seasoned.session import SessionRef, Usage

SCRIPT = "<script>alert(1)</script>"
HOSTILE = (
    SCRIPT,
    "</script><img src=x onerror=alert(2)>",
    "{{7*1013}}{% raw %}",
    "\u202egnp.exe \u2066\u200b\x1b[31m\x00",
    "שלום 'a\"b' & <b>",
    "]]> --> <!-- ${alert(3)}",
)
MADE_AT = 1_790_000_000.0
DAY = 86_400.0


def hostile_report(sessions: int = 80) -> Report:
    """Enough sessions for every plot; tools, agents, ids, errors, title and sources are hostile."""
    tracks = _tracks(sessions)
    return report(tracks, made_at=MADE_AT, compressed=tracks, title=SCRIPT, sources=HOSTILE)


def small_report() -> Report:
    """One session with three calls: nearly everything is unknown."""
    calls = [_call(at, "read", "file", has_failed=at == 1) for at in range(3)]
    return report([_track(0, calls, time=None)], made_at=MADE_AT)


def empty_report() -> Report:
    """No session at all."""
    return report([], made_at=MADE_AT)


def _tracks(sessions: int) -> list[Track]:
    chance = random.Random(7)
    return [_track(number, _calls(chance), time=MADE_AT - DAY * (number % 30)) for number in range(sessions)]


def _calls(chance: random.Random) -> list[JudgedCall]:
    kinds = ("code", "file", "terminal", "general")
    length = chance.choice((8, 25, 60, 130))
    return [
        _call(at, chance.choice(HOSTILE), chance.choice(kinds), has_failed=chance.random() < 0.12)
        for at in range(length)
    ]


def _call(at: int, tool: str, kind: str, *, has_failed: bool) -> JudgedCall:
    counts_as = "failed" if has_failed else "ok"
    result = f"Error: {tool} does not exist" if has_failed else "fine"
    return JudgedCall(at, 2 * at + 1, tool, kind, counts_as, counts_as, "call", None, '{"path": "a"}', result, tool)


def _track(number: int, calls: list[JudgedCall], *, time: float | None) -> Track:
    ref = SessionRef(HOSTILE[number % len(HOSTILE)], f"{number} {SCRIPT}")
    return Track(
        ref=ref,
        messages=2 * len(calls) + 2,
        calls=tuple(calls),
        root=str(ref),
        started=time,
        ended=time,
        compactions=(len(calls),) if number % 3 == 0 and time is not None else (),
        usage=Usage(input=1000, output=50) if time is not None else Usage(),
        cost_usd=0.25 if number % 2 and time is not None else None,
    )
