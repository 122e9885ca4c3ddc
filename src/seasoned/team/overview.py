"""What a team looks at over all machines, from what they pushed: sessions, tools, mistakes, usage, search and more.

People are not named, unless they chose to be shown. Everything is read on the server, by one query each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.live.assignment import Split
from seasoned.store import Database
from seasoned.team.experiment import SERVER, name_at
from seasoned.team.record import SharedCall, SharedCalls
from seasoned.team.server import lessons, projects

_MOST_KINDS = 100
NEWEST = 1_000  # sessions of a project in which tools and mistakes are counted
_FEWEST_PEOPLE = 2  # that something must happen to before the team is advised
_FEWEST_SESSIONS = 3
_WORD = re.compile(r"[^\W_]+")
_decode = msgspec.json.Decoder(SharedCalls).decode


class TeamSession(msgspec.Struct, frozen=True):
    """A session in numbers."""

    project: str
    agent: str
    model: str | None
    last: float
    calls: int
    failed: int
    tokens: int | None
    cost_usd: float | None
    shown_as: str | None
    seq: int


class TeamUsage(msgspec.Struct, frozen=True):
    """Tokens and cost of one day, project, model or agent."""

    name: str | None
    sessions: int
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unpriced: int  # sessions whose cost is not known


class TeamTool(msgspec.Struct, frozen=True):
    """A tool over all sessions of a project."""

    tool: str
    calls: int
    failed: int
    sessions: int


class TeamMistake(msgspec.Struct, frozen=True):
    """A call that fails in sessions of a project."""

    tool: str
    form: str
    failures: int
    sessions: int
    people: int
    repaired: int


class TeamHit(msgspec.Struct, frozen=True):
    """A call that holds the words that were searched for."""

    project: str
    at: float
    tool: str
    verdict: str
    text: str
    shown_as: str | None


class TeamAdvice(msgspec.Struct, frozen=True):
    """What is worth doing in a project, and why."""

    project: str
    what: str
    why: str
    sessions: int
    people: int


class TeamExperiment(msgspec.Struct, frozen=True):
    """An experiment that machines of the team can take part in."""

    name: str
    arms: tuple[str, ...]
    is_of_server: bool
    machines: int  # that have pushed outcomes
    sessions: int


def experiments(database: Database) -> list[TeamExperiment]:
    """The experiments of the team, and how many machines take part."""
    return [
        TeamExperiment(
            name_at(row["project"]),
            tuple(one.arm for one in msgspec.json.decode(row["document"], type=Split).arms),
            row["credential"] == SERVER,
            row["machines"],
            row["sessions"],
        )
        for row in database.rows("team.experiments")
    ]


def sessions(
    database: Database, *, project: str | None, before: tuple[float, int] | None, limit: int
) -> list[TeamSession]:
    """Sessions of all machines, the newest first; a page of them."""
    last, seq = before or (math.inf, 0)
    row = {"project": project, "before": last, "before_seq": seq, "limit": limit}
    return [TeamSession(**dict(one)) for one in database.rows("team.sessions", row)]


def usage(
    database: Database, by: Literal["day", "project", "model", "agent"], *, since: float = -math.inf
) -> list[TeamUsage]:
    """Tokens and cost over all machines: days in their order, everything else by cost."""
    found = [TeamUsage(**dict(one)) for one in database.rows("team.usage", {"by": by, "since": since})]
    if by == "day":
        return sorted(found, key=lambda one: one.name or "", reverse=True)
    return sorted(found, key=lambda one: (-(one.cost_usd or 0.0), -one.sessions, one.name or ""))


def tools(database: Database, project: str) -> list[TeamTool]:
    """The tools of a project's newest sessions."""
    rows = database.rows("team.tools", {"project": project, "newest": NEWEST, "limit": _MOST_KINDS})
    return [TeamTool(**dict(one)) for one in rows]


def mistakes(database: Database, project: str) -> list[TeamMistake]:
    """What fails in several of the newest sessions of a project."""
    rows = database.rows("team.mistakes", {"project": project, "newest": NEWEST, "limit": _MOST_KINDS})
    return [TeamMistake(**dict(one)) for one in rows]


def search(database: Database, words: str, *, project: str | None, limit: int) -> list[TeamHit]:
    """The newest sessions whose calls hold all words, each with the call that holds most of them."""
    asked = {word.lower() for word in _WORD.findall(words)}
    if not asked:
        raise UsageError("Give a word to search for: a letter or a digit must be in it.")
    found = []
    for row in database.rows("team.search", {"words": words, "project": project, "limit": limit}):
        calls = _decode(row["document"]).calls
        texts = [(len(asked & _words(one)), one) for one in calls]
        count, best = max(texts, key=lambda pair: pair[0], default=(0, None))
        if best is not None and count:
            found.append(TeamHit(row["project"], row["at"], best.tool, best.verdict, text_of(best), row["shown_as"]))
    return found


def text_of(call: SharedCall) -> str:
    """What a call did, in one line: its command, or else its arguments, and what was said if that is shared."""
    command = call.arguments.get("command", call.arguments.get("cmd"))
    shown = command if isinstance(command, str) else ", ".join(f"{k}={_plain(v)}" for k, v in call.arguments.items())
    return " · ".join(part for part in (shown, call.reason, call.said, call.result) if part)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _words(call: SharedCall) -> set[str]:
    return {word.lower() for word in _WORD.findall(f"{call.tool} {call.verdict} {text_of(call)}")}


def advice(database: Database) -> list[TeamAdvice]:
    """What fails for several people of a project: what works instead, or that no session has found it."""
    found: list[TeamAdvice] = []
    for known in projects(database):
        if known.people >= _FEWEST_PEOPLE:
            found += _advice_for(database, known.project)
    return sorted(found, key=lambda one: (-one.people, -one.sessions, one.project, one.what))


def _advice_for(database: Database, project: str) -> Sequence[TeamAdvice]:
    repairs = dict(lessons(database, project).repairs)
    made = []
    for one in mistakes(database, project):
        if not one.form or one.people < _FEWEST_PEOPLE or one.sessions < _FEWEST_SESSIONS:
            continue
        works = repairs.get(one.form)
        if works is not None:
            what = f"Write `{works}` into the instructions of the project."
            why = f"Sessions run `{one.form}`, which fails here."
        elif not one.repaired:
            what = f"Find out what works instead of `{one.form}`."
            why = "It fails, and no session has found another way."
        else:
            continue
        made.append(TeamAdvice(project, what, why, one.sessions, one.people))
    return made
