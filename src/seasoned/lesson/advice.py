"""Advice: what lessons are worth doing something about, ranked by what they cost; and what became of it.

Each line is true for the project now: what was repaired in another way since, or works again, gives no advice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from seasoned.digest import short_digest
from seasoned.lesson.lesson import PURPOSES, Lesson, one_line
from seasoned.lesson.project_lessons import ProjectLessons
from seasoned.lesson.rule import ProjectRule
from seasoned.stats.interval import Estimate
from seasoned.stats.proportion import proportion_difference
from seasoned.store import Store

AdviceKind = Literal["mistake", "command", "instruction", "rule", "script", "connection"]
StepKind = Literal["instruction", "replace", "pin", "accept", "connect", "manual"]
# How much is shown at once: people would not do more.
MOST = 5
# A call counts at least this long when advice is ranked, including the time of the model.
_MINUTES_OF_A_CALL = 0.5


class AdviceStep(msgspec.Struct, frozen=True):
    """The step that does it: a line for an instruction file, a pinned command, an accepted rule, a connection."""

    kind: StepKind
    text: str  # the line, command, rule or agent
    agent: str = ""  # whose files it changes
    instead: str = ""  # what it replaces
    file: str = ""  # the file in which something is replaced


class AdviceEvidence(msgspec.Struct, frozen=True):
    """The evidence for advice. None means unknown."""

    sessions: int  # lineages in which it happened
    among: int  # lineages that were looked at
    calls: int  # calls that it cost
    minutes: float | None = None
    tokens: int | None = None
    last_seen: float | None = None
    refs: tuple[str, ...] = ()  # some of the sessions
    note: str = ""  # what else it rests on


class Advice(msgspec.Struct, frozen=True):
    """One thing that is worth doing."""

    id: str
    kind: AdviceKind
    project: str | None  # None: for all projects
    sentence: str
    evidence: AdviceEvidence
    step: AdviceStep
    subject: str  # identifies what it is about, to recognise it later
    # The lineages in which it happened, each with the last time, to compare before and after.
    happened: Mapping[str, float] = {}

    @property
    def saves(self) -> float:
        """The minutes that it would have saved, to rank advice."""
        # Some agents record how long a program ran, and not how long the model then thought about it.
        least = (self.evidence.calls or self.evidence.sessions) * _MINUTES_OF_A_CALL
        return max(self.evidence.minutes or 0.0, least)


def make_advice(
    kind: AdviceKind,
    project: str | None,
    subject: str,
    sentence: str,
    evidence: AdviceEvidence,
    step: AdviceStep,
    happened: Mapping[str, float],
) -> Advice:
    """Advice with its id, which stays the same while the subject does."""
    name = short_digest(kind, project or "", subject)[:8]
    return Advice(name, kind, project, sentence, evidence, step, subject, happened)


def code(text: str) -> str:
    """A text from a session as quoted code on one line."""
    return f"`{one_line(text)}`"


AdviceState = Literal["applied", "dismissed"]


class AppliedAdvice(msgspec.Struct, frozen=True):
    """Advice that a person decided about."""

    id: str
    kind: AdviceKind
    project: str | None
    sentence: str
    subject: str
    step: AdviceStep
    state: AdviceState
    at: float


def applied_advice(store: Store) -> list[AppliedAdvice]:
    """All advice that a person decided about, the newest first."""
    return [
        msgspec.convert({**dict(row), "step": msgspec.json.decode(row["step"])}, AppliedAdvice)
        for row in store.rows("advise.decided")
    ]


def keep_decision(store: Store, advice: Advice, state: AdviceState, at: float) -> None:
    """Write down what was decided about advice."""
    with store.write():
        step = msgspec.json.encode(advice.step).decode()
        store.run("advise.decide", {**msgspec.structs.asdict(advice), "step": step, "state": state, "at": at})


def drop_decision(store: Store, name: str) -> None:
    """Forget what was decided, so that the advice is given again if it still applies."""
    with store.write():
        store.run("advise.undecide", {"id": name})


Outcome = Literal["less often", "more often", "no clear change", "too early to tell"]
# With fewer sessions since it was applied, nothing can be said.
FEWEST_AFTER = 5


class FollowUp(msgspec.Struct, frozen=True):
    """In how many sessions something happened, before advice about it was applied and since."""

    id: str
    before: int
    before_sessions: int
    after: int
    after_sessions: int
    difference: Estimate  # of the shares, since minus before; with its interval
    outcome: Outcome
    sentence: str


def follow_up(advice: AppliedAdvice, among: Mapping[str, float], happened: Mapping[str, float]) -> FollowUp:
    """Compare the sessions that ended before advice was applied with those since."""
    later = {root for root, end in among.items() if end > advice.at}
    # A session that lasted from before to after counts where the mistake was made.
    after = {root for root, at in happened.items() if at > advice.at and root in among}
    later |= after
    earlier = set(among) - later
    before = len(set(happened) & earlier)
    if not earlier or not later:
        change = Estimate(None, None, len(later), len(later), "there are no sessions on one side")
    else:
        change = proportion_difference(len(after), len(later), before, len(earlier))
    outcome = _outcome(change, len(later))
    return FollowUp(
        advice.id,
        before,
        len(earlier),
        len(after),
        len(later),
        change,
        outcome,
        _said(before, len(earlier), len(after), len(later), change, outcome),
    )


def _outcome(change: Estimate, later: int) -> Outcome:
    if change.interval is None or later < FEWEST_AFTER:
        return "too early to tell"
    if change.interval.high < 0:
        return "less often"
    if change.interval.low > 0:
        return "more often"
    # An interval that is wider than the share itself leaves room for any answer.
    return "no clear change" if change.interval.high - change.interval.low < _NARROW else "too early to tell"


_NARROW = 0.25


def _said(before: int, earlier: int, after: int, later: int, change: Estimate, outcome: Outcome) -> str:
    rates = f"before in {before} of {earlier} sessions, since then in {after} of {later}"
    if change.value is None or change.interval is None:
        return f"{outcome[0].upper()}{outcome[1:]}: {rates}."
    low, high = 100 * change.interval.low, 100 * change.interval.high
    points = f"{100 * change.value:+.0f} points, between {low:+.0f} and {high:+.0f}"
    return f"{outcome[0].upper()}{outcome[1:]}: {rates} ({points})."


# A lesson that one session taught may be chance, and so may a repair that others did not need.
_FEWEST = 2
_MOST_RULES = 3
_RUN_SCRIPTS = ("npm run ", "pnpm ", "yarn ", "bun run ")
# What has not happened in this many newer sessions of its project is over.
_OVER_AFTER = 25


def advice_of(known: ProjectLessons, project: str, *, corrected: Collection[str] = ()) -> list[Advice]:
    """What the lessons of a project are worth doing something about; `corrected` are forms that files are rid of."""
    repairs = list(_of_repairs(known, project, corrected))
    # One step for one lesson: a line about the mistake says the command too.
    said = {piece for one in repairs for piece in one.step.text.split("`")[1:2]}
    return [*repairs, *[one for one in _of_commands(known, project) if one.step.text not in said]]


def advice_of_rules(rules: Iterable[ProjectRule], project: str) -> Iterator[Advice]:
    """What the user said once and no session sees: the most said and newest, one answer each."""
    waiting = [one for one in rules if one.state == "candidate"]
    for rule in waiting[:_MOST_RULES]:
        evidence = AdviceEvidence(rule.lineages, rule.lineages, 0, last_seen=rule.last, note="your own words")
        sentence = f"Tell sessions what you said: “{rule.text}”"
        step = AdviceStep("accept", rule.text, instead=rule.key)
        yield make_advice("rule", project, f"rule\n{rule.key}", sentence, evidence, step, {})


def followed(known: ProjectLessons, project: str, applied: Iterable[AppliedAdvice]) -> list[FollowUp]:
    """What became of the advice of a project that was applied."""
    return [
        follow_up(one, known.lineages, known.made(one.subject.rpartition("\n")[2]))
        for one in applied
        if one.project == project and one.kind in ("mistake", "instruction", "script") and one.state == "applied"
    ]


def _of_repairs(known: ProjectLessons, project: str, corrected: Collection[str]) -> Iterator[Advice]:
    """A line for each mistake that keeps coming back and has one answer."""
    among = known.lineages
    lacking: set[str] = set()
    for lesson in known.repairs():
        happened = known.made(lesson.key)
        form = "" if lesson.failed is None else lesson.failed.form
        line = "" if lesson.silent or lesson.lineages < _FEWEST else line_of(lesson)
        if lesson.way is not None and lesson.way.kind == "form" and known.runs_here(form):
            line = ""  # it fails now and then: "instead of" would be false
        missing = "" if line or len(happened) < _FEWEST else _missing_script(lesson)
        newer = sum(end > max(happened.values(), default=0.0) for root, end in among.items() if root not in happened)
        if not (line or missing) or missing in lacking or newer > _OVER_AFTER or form in corrected:
            continue
        cost = lesson.cost
        evidence = AdviceEvidence(
            sessions=len(happened),
            among=len(among),
            calls=cost.calls,
            minutes=None if cost.seconds is None else cost.seconds / 60,
            tokens=cost.tokens,
            last_seen=lesson.last or None,
            refs=lesson.sessions,
            note="none found another way" if missing else f"{lesson.lineages} repaired it so",
        )
        subject = f"repair\n{lesson.key}"
        if missing:
            lacking.add(missing)
            line = f"Define {code(form)}: sessions run it, and this project has no such script."
            step = AdviceStep("manual", line, known.agent, instead=form)
            yield make_advice("script", project, subject, line, evidence, step, happened)
        else:
            step = AdviceStep("instruction", line, known.agent)
            yield make_advice("mistake", project, subject, line, evidence, step, happened)


def _missing_script(lesson: Lesson) -> str:
    """The script of a package that sessions ran and it does not define, and for which they found no other."""
    failed, way = lesson.failed, lesson.way
    if failed is None or not failed.form.startswith(_RUN_SCRIPTS) or not (way is None or way.is_empty):
        return ""
    cause, _, name = failed.error.partition(":")
    return name if cause == "unknown-command" else ""


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


def _of_commands(known: ProjectLessons, project: str) -> Iterator[Advice]:
    """A pin for each command that sessions here first got wrong and then found."""
    for line in known.sheet():
        if line.is_correction:
            evidence = AdviceEvidence(
                line.lineages,
                line.among,
                0,
                last_seen=line.last,
                refs=line.sessions,
                note="sessions first got it wrong",
            )
            said = f"{PURPOSES[line.purpose]} with {code(line.text)}."
            step = AdviceStep("pin", line.text, known.agent)
            yield make_advice("command", project, f"command\n{line.key}", said, evidence, step, {})
