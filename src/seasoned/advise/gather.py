"""Reads the newest sessions of a store once, and gathers advice, ranked by what it would save."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from seasoned.advise.advice import (
    Advice,
    AdviceEvidence,
    AdviceKind,
    AdviceStep,
    AppliedAdvice,
    FollowUp,
    applied_advice,
    code,
    follow_up,
    make_advice,
)
from seasoned.advise.habit import ProjectHabits
from seasoned.advise.step import contradictions, project_folder
from seasoned.command.parse import names
from seasoned.experience.lesson import StoredSheet, all_of
from seasoned.experience.receipt import ShownUse, use_of
from seasoned.experience.storage import knowledge_of
from seasoned.insight.mistake.action import FILE_CAUSES, MistakeFacts, main_ways, sentence
from seasoned.insight.mistake.recurrence import RecurrenceCounter
from seasoned.insight.mistake.repair import PERMISSION_ARGUMENTS
from seasoned.insight.report import Tell, answer_in_process
from seasoned.insight.track import Track, tracks
from seasoned.lazy_regex import LazyRegex
from seasoned.store import Store, open_store
from seasoned.template.session_sources import SessionSources

# A way that one session took may have been chance.
_FEWEST_REPAIRS = 2
# Causes that belong to the machine or the agent rather than to a project.
MACHINE_CAUSES = frozenset(("equals", "missing program", "blocked", "here document"))
_WAITS = names("sleep wait watch")
# Sentences about something that happened to work later, which a session could not do on purpose.
_NO_ADVICE = ("Change ", "Try ", "Wait ", "Look ", "Start ")


def from_mistake(facts: MistakeFacts, project: str | None, among: int) -> Iterator[Advice]:
    """The advice that a recurring mistake gives, if it gives any."""
    found = _of_rights(facts) or _of_repair(facts) or _of_cause(facts)
    if found is None:
        return
    said, kind, step = found
    yield make_advice(kind, project, subject_of(facts), said, evidence_of(facts, among), step, facts.roots)


def is_undone(facts: MistakeFacts, others: Iterable[MistakeFacts]) -> bool:
    """Whether what repaired a mistake is itself repaired since: an option that was added once fails now."""
    return any(
        (later.last_seen or 0.0) > (facts.last_seen or 0.0)
        and one.change.program == other.change.program
        and {one.change.kind, other.change.kind} == {"option added", "option dropped"}
        and not set(one.change.names).isdisjoint(other.change.names)
        for later in others
        for one in main_ways(facts)
        for other in main_ways(later)
    )


def subject_of(facts: MistakeFacts) -> str:
    """The key that identifies a mistake."""
    return "\n".join((facts.tool, facts.program or "", facts.key))


def evidence_of(facts: MistakeFacts, among: int) -> AdviceEvidence:
    """The evidence for advice about a mistake."""
    cost = facts.cost
    return AdviceEvidence(
        sessions=facts.sessions,
        among=among,
        calls=cost.calls,
        minutes=None if cost.seconds is None else cost.seconds / 60,
        tokens=None if cost.tokens is None else round(cost.tokens),
        last_seen=facts.last_seen or None,
        refs=facts.refs,
        note=f"{facts.repaired} repaired it" if facts.repaired else "",
    )


_Found = tuple[str, AdviceKind, AdviceStep]


def _of_rights(facts: MistakeFacts) -> _Found | None:
    """A command that a sandbox refuses, and that worked with the permission of a person."""
    for way in main_ways(facts):
        if (
            way.change.kind == "given"
            and PERMISSION_ARGUMENTS.issuperset(way.change.names)
            and way.sessions >= _FEWEST_REPAIRS
        ):
            program = way.change.program
            if facts.agent == "codex":
                said = f"Have Codex ask at once for {code(program)}: its sandbox refuses it first"
                return f"{said}.", "mistake", AdviceStep("permission", program, facts.agent)
            line = f"Ask for permission to run {code(program)} outside the sandbox at once: the sandbox refuses it."
            return line, "mistake", AdviceStep("instruction", line, facts.agent)
    return None


def _of_repair(facts: MistakeFacts) -> _Found | None:
    """What repaired it in several sessions, as the report says it."""
    if facts.cause in FILE_CAUSES:
        # The tool itself says so to every agent.
        return None
    said, repaired = sentence(facts)
    # Words of an error come from a result, so no file that a model reads may hold them.
    if said is None or repaired < _FEWEST_REPAIRS or said.startswith(_NO_ADVICE) or "“" in said:
        return None
    return f"{said}.", "mistake", AdviceStep("instruction", f"{said}.", facts.agent)


def _of_cause(facts: MistakeFacts) -> _Found | None:
    """A line that would prevent it, if no repair is known but the cause says enough."""
    line = _line(facts)
    if line is None:
        return None
    if facts.cause == "login":
        return line, "mistake", AdviceStep("manual", line, facts.agent)
    said = line
    if facts.cause == "missing program":
        said = f"Install {code(facts.thing or '')}, or tell sessions that it is not here."
    kind: AdviceKind = "tool" if facts.cause == "no tool" else "slow" if facts.cause == "time" else "mistake"
    return said, kind, AdviceStep("instruction", line, facts.agent)


def _line(facts: MistakeFacts) -> str | None:
    what, thing = facts.what, facts.thing if _is_own(facts) else None
    match facts.cause:
        case "equals":
            return "Quote words that begin with `=` in shell commands: zsh takes them for programs."
        case "here document" if (facts.program or "").endswith("git commit"):
            return "Give `git commit` its message with `-m`, not with a here-document: the sandbox refuses that."
        case "here document":
            return f"Write commands with {what} without a here-document: the sandbox refuses that."
        case "blocked" if thing:
            return f"Do not chain {code(thing)} with other commands: the agent blocks that."
        case "unsaved":
            return f"Commit or stash your changes before {what}."
        case "missing program" if thing:
            return f"{code(thing)} is not installed here: use something else."
        case "unknown command" if thing and thing in (facts.program or "").split():
            return f"Do not run {what}: it does not exist here."
        case "unknown command" if thing:
            return f"Do not run {code(f'{facts.program or facts.tool} {thing}')}: it does not exist here."
        case "unknown option" if thing and thing.startswith("-"):
            return f"Do not give {code(thing)} to {what}: it has no such option."
        case "dependencies":
            return f"Install the dependencies before you run {what}."
        case "no tool" if facts.program is None:
            return f"Do not call {what}: there is no such tool here."
        case "time" if not _WAITS.intersection((facts.program or "sleep").split()):
            return f"Run {what} in the background, or give it more time: it is slow here."
        # A sandbox that hides the login looks the same, and is repaired by leaving it.
        case "login" if facts.program and not any(way.change.kind == "given" for way in facts.ways):
            return f"Log in to what {what} needs before a session begins: it fails without a login."
        case "missing file" if facts.missing and facts.found and facts.missing != facts.found:
            return f"Use {code(facts.found)}: there is no {code(facts.missing)} here."
    return None


def _is_own(facts: MistakeFacts) -> bool:
    """Whether the agent itself wrote what the error names: words of a result are not repeated."""
    if facts.thing is None:
        return False
    return facts.thing in (facts.program or "") or (facts.example is not None and facts.thing in facts.example.failed)


# The newest sessions say what is worth doing now; more of them would take minutes.
MOST_SESSIONS = 2000
# What has not happened in this many newer sessions of its project is over.
_OVER_AFTER = 25
_EVERY = 50
_REFS = 5
# What two sentences with the same repair may differ in: numbers, and the value of an option.
_VARYING = LazyRegex(r"\d+|(?<=[\s`])(--?[\w-]+)[ =][^\s`]+")
# Between the subjects of advice that several mistakes gave.
_AND = "\x1e"
_Number = TypeVar("_Number", int, float)


class Gathered(msgspec.Struct, frozen=True):
    """All advice, the most that it would save first, and what became of advice that was applied."""

    advice: tuple[Advice, ...]
    followed: tuple[FollowUp, ...]
    sessions: int  # that were read
    agents: dict[str, int]  # the lineages of each agent
    recurring: dict[str, int] = {}  # how many mistakes come back, by project
    use: ShownUse = ShownUse()


class ProjectSessions:
    """What is collected about one project, or about all."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.habits = ProjectHabits(key)
        self.mistakes = RecurrenceCounter(by_cause=True)
        self._witnesses = SessionSources()

    def add(self, track: Track, *also: ProjectSessions) -> None:
        """Take in one session; its mistakes count elsewhere too."""
        self.habits.add(track)
        self.mistakes.add(track, *[one.mistakes for one in also])

    def advice(
        self,
        *,
        wrong: Collection[str] = (),
        told: frozenset[str] = frozenset(),
        ended: Mapping[str, float] | None = None,
    ) -> Iterator[Advice]:
        """What its sessions show. `wrong`: programs whose mistakes are corrected elsewhere; `told`: forms on the sheet.

        `ended` says when sessions ended, where lineages are not what is counted.
        """
        among = self.habits.lineages
        every = list(self.mistakes.facts())
        found = (
            advice
            for facts in every
            if not _is_over(facts.roots, ended or among) and facts.program not in wrong and not is_undone(facts, every)
            for advice in from_mistake(facts, self.key, len(among))
        )
        # What belongs to no project has no file to say something in.
        yield from (advice if self.key is not None else by_hand(advice) for advice in merged(found))
        if self.key is not None:
            for advice in self.habits.advice(told):
                if not _is_over(advice.happened, ended or among):
                    yield advice

    def as_source(self, track: Track) -> Track:
        """The session under the name of its source: copies of a session are one, whatever their ids."""
        task = next((call.intent for call in track.calls if call.intent), "")
        root = self._witnesses.name(track.root, task, (call.raw_arguments for call in track.calls))
        return track if root == track.root else msgspec.structs.replace(track, root=root)

    def happened(self, subject: str) -> Mapping[str, float]:
        """The lineages in which something happened that was advised about."""
        found: dict[str, float] = {}
        for one in subject.split(_AND):
            for root, at in self._happened(one).items():
                found[root] = max(at, found.get(root, at))
        return found

    def _happened(self, subject: str) -> Mapping[str, float]:
        habit = self.habits.happened(subject)
        if subject.startswith("says\n"):
            # Whether the command that an instruction named is still run and fails.
            form = subject.rpartition("\n")[2]
            failed = [one.roots for one in self.mistakes.facts(fewest_sessions=1) if one.program == form]
            return {root: at for roots in failed for root, at in roots.items()}
        if habit is not None:
            return habit
        found = (one.roots for one in self.mistakes.facts(fewest_sessions=1) if subject_of(one) == subject)
        return next(found, {})


def gather(store: Store, *, project: str | None = None, tell: Tell | None = None) -> Gathered:
    """Everything that is worth doing in a project, or in all."""
    ids = [row["id"] for row in store.rows("advise.newest", {"project": project, "limit": MOST_SESSIONS})]
    projects: dict[str | None, ProjectSessions] = {}
    # Mistakes are counted over all projects too: one of the machine may be too rare in each.
    everywhere = ProjectSessions(None)
    project_of: dict[str, str | None] = {}
    for number, track in enumerate(tracks(store, sessions=ids)):
        if tell is not None and number % _EVERY == 0:
            tell(number, len(ids))
        one = projects.setdefault(track.project, ProjectSessions(track.project))
        track = one.as_source(track)
        one.add(track, everywhere)
        project_of[track.root] = track.project
    if tell is not None:
        tell(len(ids), len(ids))
    for one in projects.values():
        everywhere.habits.count(one.habits)
    found = list(_everywhere(everywhere, project_of)) if project is None else []
    known = {one.subject for one in found}
    for one in projects.values():
        found += [advice for advice in _in_project(store, one) if known.isdisjoint(advice.subject.split(_AND))]
    followed = [
        follow_up(one, place.habits.lineages, place.happened(one.subject))
        for one in applied_advice(store)
        if (place := everywhere if one.project is None else projects.get(one.project)) is not None and _is_meant(one)
    ]
    return Gathered(
        tuple(sorted(found, key=lambda one: (-one.saves, one.id))),
        tuple(followed),
        len(ids),
        dict(everywhere.habits.agents),
        _recurring(projects),
        use_of(store, project=project),
    )


def _recurring(projects: Mapping[str | None, ProjectSessions]) -> dict[str, int]:
    return {one.key: sum(1 for _ in one.mistakes.facts()) for one in projects.values() if one.key is not None}


def _is_meant(one: AppliedAdvice) -> bool:
    return one.state == "applied" and one.kind != "connection"


def _everywhere(every: ProjectSessions, project_of: Mapping[str, str | None]) -> Iterator[Advice]:
    """Mistakes that belong to the machine or the agent, and came up in several projects."""
    for facts in every.mistakes.facts():
        if facts.cause in MACHINE_CAUSES and len({project_of.get(root) for root in facts.roots}) > 1:
            yield from from_mistake(facts, None, every.habits.agents[facts.agent])


def _in_project(store: Store, one: ProjectSessions) -> Iterator[Advice]:
    corrected = list(_corrections(store, one))
    yield from corrected
    # What the instructions say wrongly is corrected there.
    wrong = {advice.subject.rpartition("\n")[2] for advice in corrected}
    sheets = () if one.key is None else all_of(store, one.key, "sheet", StoredSheet)
    told = frozenset(line.form for _, sheet in sheets for line in sheet.lines)
    yield from one.advice(wrong=wrong, told=told)


def merged(advice: Iterable[Advice]) -> list[Advice]:
    """The advice with one piece for each repair: errors that differ in a value, or in the tool, give the same line."""
    found: dict[str, Advice] = {}
    for one in advice:
        form = _VARYING.compiled.sub(lambda match: match[1] or "0", one.sentence)
        known = found.get(form)
        found[form] = one if known is None else _joined(known, one)
    return list(found.values())


def _joined(first: Advice, second: Advice) -> Advice:
    one, other = first.evidence, second.evidence
    happened = dict(first.happened)
    for root, at in second.happened.items():
        happened[root] = max(at, happened.get(root, at))
    evidence = AdviceEvidence(
        sessions=len(happened),
        among=max(one.among, other.among),
        calls=one.calls + other.calls,
        minutes=_sum(one.minutes, other.minutes),
        tokens=_sum(one.tokens, other.tokens),
        last_seen=max(one.last_seen or 0.0, other.last_seen or 0.0) or None,
        refs=tuple(dict.fromkeys((*one.refs, *other.refs)))[:_REFS],
        note=one.note if one.note == other.note else "",
    )
    subject = f"{first.subject}{_AND}{second.subject}"
    return msgspec.structs.replace(first, evidence=evidence, happened=happened, subject=subject)


def _sum(one: _Number | None, other: _Number | None) -> _Number | None:
    return one if other is None else other if one is None else one + other


def _corrections(store: Store, one: ProjectSessions) -> Iterator[Advice]:
    folder = None if one.key is None else project_folder(store, one.key)
    if folder is not None and one.key is not None:
        known = knowledge_of(store, one.key)
        yield from contradictions(folder, one.key, known, among=len(one.habits.lineages), agent=one.habits.agent)


def by_hand(advice: Advice) -> Advice:
    """The same advice with a step that only the user can take."""
    step = AdviceStep("manual", f"Tell the agent: {advice.step.text}", advice.step.agent)
    return msgspec.structs.replace(advice, step=step)


def _is_over(happened: Mapping[str, float], among: Mapping[str, float]) -> bool:
    last = max(happened.values(), default=0.0)
    return sum(end > last for root, end in among.items() if root not in happened) > _OVER_AFTER


def main(path: str, project: str | None = None) -> None:
    """Print progress lines, then what was gathered as MessagePack, for the pages."""

    def answer(tell: Tell) -> bytes:
        with open_store(Path(path)) as store:
            return msgspec.msgpack.encode(gather(store, project=project, tell=tell))

    answer_in_process(answer)
