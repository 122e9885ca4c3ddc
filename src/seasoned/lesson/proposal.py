"""Proposals: what a person may want to make lasting, with what speaks for it; and what they decided.

Each is true for the project now: what was repaired in another way since, or works again, gives no proposal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Literal

import msgspec

from seasoned.digest import short_digest
from seasoned.lesson.lesson import PURPOSES, Lesson, one_line
from seasoned.lesson.one_off import ELLIPSIS
from seasoned.lesson.project_lessons import ProjectLessons
from seasoned.lesson.rule import ProjectRule
from seasoned.store import Store

# A line to add to an instruction file, a command to correct in one, a rule in the user's own words; and what reviews
# wrote: a note, a change of a skill.
ProposalKind = Literal["line", "correction", "rule", "note", "skill"]
ProposalState = Literal["accepted", "rejected"]
# A call counts at least this long when proposals are ranked, including the time of the model.
_MINUTES_OF_A_CALL = 0.5


class ProposalEvidence(msgspec.Struct, frozen=True):
    """What speaks for a proposal. None means unknown."""

    sessions: int  # lineages in which it happened
    among: int  # lineages that were looked at
    calls: int = 0  # calls that it cost
    minutes: float | None = None
    tokens: int | None = None
    last_seen: float | None = None
    refs: tuple[str, ...] = ()  # some of the sessions
    note: str = ""  # what else it rests on


class Proposal(msgspec.Struct, frozen=True):
    """Something that wants to become lasting. Nothing changes until a person accepts it."""

    id: str
    kind: ProposalKind
    project: str | None  # None: for all projects
    sentence: str
    evidence: ProposalEvidence
    text: str  # the line, command, rule, note or file
    subject: str = ""  # what it is about: the lesson or rule behind it
    agent: str = ""  # whose instruction file it changes
    instead: str = ""  # what a correction replaces
    file: str = ""  # where
    change: int | None = None  # of the journal of memory and skills

    @property
    def saves(self) -> float:
        """The minutes that it would have saved, to rank proposals."""
        # Some agents record how long a program ran, and not how long the model then thought about it.
        least = (self.evidence.calls or self.evidence.sessions) * _MINUTES_OF_A_CALL
        return max(self.evidence.minutes or 0.0, least)


def name_of_proposal(kind: ProposalKind, project: str | None, subject: str) -> str:
    """The id of a proposal, which stays the same while its subject does."""
    return short_digest(kind, project or "", subject)[:8]


def code(text: str) -> str:
    """A text from a session as quoted code on one line."""
    return f"`{one_line(text)}`"


class DecidedProposal(msgspec.Struct, frozen=True):
    """A proposal that a person decided about."""

    proposal: Proposal
    state: ProposalState
    at: float


def decided_proposals(store: Store) -> list[DecidedProposal]:
    """All proposals from lessons that a person decided about, the newest first."""
    return [
        DecidedProposal(msgspec.json.decode(row["proposal"], type=Proposal), row["state"], row["at"])
        for row in store.rows("proposal.decided")
    ]


def keep_decision(store: Store, proposal: Proposal, state: ProposalState, at: float) -> None:
    """Write down what was decided about a proposal."""
    with store.write():
        text = msgspec.json.encode(proposal).decode()
        store.run("proposal.decide", {"id": proposal.id, "proposal": text, "state": state, "at": at})


def drop_decision(store: Store, name: str) -> None:
    """Forget what was decided, so that it is proposed again if it still holds."""
    with store.write():
        store.run("proposal.undecide", {"id": name})


# A lesson that one session taught may be chance, and so may a repair that others did not need.
_FEWEST = 2
_MOST_RULES = 3
# What has not happened in this many newer sessions of its project is over.
_OVER_AFTER = 25


def proposals_of(known: ProjectLessons, project: str, *, corrected: Collection[str] = ()) -> list[Proposal]:
    """What the lessons of a project propose; `corrected` are forms that files are rid of."""
    repairs = list(_of_repairs(known, project, corrected))
    # One line for one lesson: the one about a mistake says the command too.
    said = {piece for one in repairs for piece in one.text.split("`")[1:2]}
    return [*repairs, *[one for one in _of_commands(known, project) if one.text.split("`")[1] not in said]]


def proposals_of_rules(rules: Iterable[ProjectRule], project: str) -> Iterator[Proposal]:
    """What the user said once and no session sees: the most said and newest, one answer each."""
    waiting = [one for one in rules if one.state == "candidate"]
    for rule in waiting[:_MOST_RULES]:
        evidence = ProposalEvidence(rule.lineages, rule.lineages, last_seen=rule.last, note="your own words")
        name = name_of_proposal("rule", project, rule.key)
        sentence = f"Tell sessions what you said: “{rule.text}”"
        yield Proposal(name, "rule", project, sentence, evidence, rule.text, rule.key)


def _of_repairs(known: ProjectLessons, project: str, corrected: Collection[str]) -> Iterator[Proposal]:
    """A line for each mistake that keeps coming back and has one answer."""
    among = known.lineages
    for lesson in known.repairs():
        happened = known.made(lesson.key)
        form = "" if lesson.failed is None else lesson.failed.form
        line = "" if lesson.silent or lesson.lineages < _FEWEST else line_of(lesson)
        if lesson.way is not None and lesson.way.kind == "form" and known.runs_here(form):
            line = ""  # it fails now and then: "instead of" would be false
        newer = sum(end > max(happened.values(), default=0.0) for root, end in among.items() if root not in happened)
        if not line or newer > _OVER_AFTER or form in corrected:
            continue
        cost = lesson.cost
        evidence = ProposalEvidence(
            sessions=len(happened),
            among=len(among),
            calls=cost.calls,
            minutes=None if cost.seconds is None else cost.seconds / 60,
            tokens=cost.tokens,
            last_seen=lesson.last or None,
            refs=lesson.sessions,
            note=f"{lesson.lineages} repaired it so",
        )
        name = name_of_proposal("line", project, lesson.key)
        yield Proposal(name, "line", project, line, evidence, line, lesson.key, known.agent)


def line_of(lesson: Lesson) -> str:
    """The line that prevents a mistake; empty if a line cannot."""
    way, failed = lesson.way, lesson.failed
    if way is None or failed is None or failed.tool != "shell":
        return ""
    text = code(lesson.text)
    match way.kind:
        case "form" if failed.form and " " not in way.value and " " in failed.form:
            return f"Use {text} for {code(failed.form.split()[0])}."
        case "form" if failed.form:
            return f"Run {text} instead of {code(failed.form)}."
        case "before" if failed.form:
            return f"Run {text} before {code(failed.form)}."
        case "before":
            return f"Run {text} first when dependencies are missing."
        case "folder" if way.value == "top" and failed.form:
            return f"Run {code(failed.form)} from the top folder."
        case "folder" if way.value:
            return f"Run {text}."
        case "option" | "value" | "variable":
            return f"Run {text}."
    return ""


def _of_commands(known: ProjectLessons, project: str) -> Iterator[Proposal]:
    """A line for each command of the sheet, for agents that read instruction files and are not connected."""
    lines = known.sheet()
    for line in lines:
        # What varies is left out of some; only for one test the rest still says how, if it says more than that for all.
        rest = line.text.removesuffix(f" {ELLIPSIS}")
        is_whole = rest == line.text or (line.purpose == "one test" and all(rest != one.text for one in lines))
        if is_whole and not line.needs_tree:
            note = "sessions first got it wrong" if line.is_correction else ""
            evidence = ProposalEvidence(line.lineages, line.among, last_seen=line.last, refs=line.sessions, note=note)
            does = "Run one test" if line.purpose == "one test" else PURPOSES[line.purpose]
            said = f"{does} {'' if line.purpose == 'run' else 'with '}{code(line.text)}."
            name = name_of_proposal("line", project, line.key)
            yield Proposal(name, "line", project, said, evidence, said, line.key, known.agent)
