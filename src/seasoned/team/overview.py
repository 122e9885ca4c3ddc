"""What a team looks at over all machines, from what they pushed: sessions, tools, mistakes, usage, search and more.

People are not named, unless they chose to be shown. Everything is read on the server, by one query each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.live.assignment import Split
from seasoned.insight.track import JudgedCall, Track
from seasoned.outcome.error_rate import counts_as
from seasoned.session import SessionRef, Usage
from seasoned.store import Database
from seasoned.team.experiment import SERVER, name_at
from seasoned.team.record import SessionTotals, SharedCall, SharedCalls, is_left_out
from seasoned.team.server import MOST_OF_A_PERSON

_MOST_KINDS = 100
NEWEST = 1_000  # sessions of a project in which tools and mistakes are counted
_WORD = re.compile(r"[^\W_]+")
_decode = msgspec.json.Decoder(SharedCalls).decode
_decode_totals = msgspec.json.Decoder(SessionTotals).decode


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
    """A call that contains the words that were searched for."""

    project: str
    at: float
    tool: str
    verdict: str
    text: str
    shown_as: str | None


class TeamExperiment(msgspec.Struct, frozen=True):
    """An experiment that machines of the team can take part in."""

    name: str
    arms: tuple[str, ...]
    is_of_server: bool
    machines: int  # that have pushed outcomes
    sessions: int


def experiments(database: Database) -> list[TeamExperiment]:
    """The experiments of the team, and how many machines take part."""
    newest = {row["project"]: row for row in database.rows("team.experiments")}
    return [
        TeamExperiment(
            name_at(row["project"]),
            tuple(one.arm for one in msgspec.json.decode(row["document"], type=Split).arms),
            row["credential"] == SERVER,
            row["machines"],
            row["sessions"],
        )
        for row in newest.values()
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
    """The newest sessions whose calls contain all words, each with the call that contains most of them."""
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


class TeamRevision(msgspec.Struct, frozen=True):
    """Changes with every push, and says whether something was withdrawn."""

    last: int
    withdrawn: int


def revision(database: Database) -> TeamRevision:
    """The state of what machines pushed."""
    (row,) = database.rows("team.revision")
    return TeamRevision(row["last"], row["withdrawn"])


def tracks(database: Database, project: str) -> Iterator[Track]:
    """The newest sessions of each person in a project, as far as they were pushed. Their lineage is the person."""
    for row in database.rows("team.tracks", {"project": project, "most": MOST_OF_A_PERSON}):
        totals = _decode_totals(row["totals"])
        tokens = [getattr(totals, f"{name}_tokens") for name in Usage.__struct_fields__]
        yield Track(
            ref=SessionRef(totals.agent, row["key"]),
            messages=totals.messages,
            calls=tuple(_judged(at, one, totals.agent) for at, one in enumerate(_decode(row["calls"]).calls)),
            root=row["source"],
            model=totals.model,
            started=totals.started,
            # No clock of a machine puts its sessions after those of the others.
            ended=None if totals.ended is None else min(totals.ended, row["at"]),
            usage=Usage(*tokens),
            project=project,
        )


def _judged(at: int, call: SharedCall, agent: str) -> JudgedCall:
    kept = {name: value for name, value in call.arguments.items() if not is_left_out(value)}
    return JudgedCall(
        position=at,
        message=call.message,
        tool=call.tool,
        kind=call.kind,
        counts_as=counts_as(call.tool, call.verdict, call.fault, agent=agent),
        verdict=call.verdict,
        fault=call.fault,
        time=call.time,
        raw_arguments=msgspec.json.encode(kept).decode(),
        result=call.result or None,
        reason=call.reason,
        intent=call.said or None,
        is_corrected=call.is_corrected,
        evidence=call.evidence,
    )
