"""Reads the newest sessions of a store once, and gathers what is worth doing, the most that it would save first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from seasoned.advise.advice import Advice, AdviceEvidence, AdviceStep
from seasoned.advise.applied import AppliedAdvice, FollowUp, applied_advice, follow_up
from seasoned.advise.habit import ProjectHabits
from seasoned.advise.instruction import contradictions, project_folder
from seasoned.advise.mistake import EVERYWHERE, from_mistake, is_undone, subject_of
from seasoned.experience.lookup import StoredSheet, all_of
from seasoned.experience.receipt import ShownUse, use_of
from seasoned.experience.storage import knowledge_of
from seasoned.insight.mistake.recurrence import RecurrenceCounter
from seasoned.insight.store_report import Tell, answer_in_process
from seasoned.insight.track import Track, tracks
from seasoned.lazy_regex import LazyRegex
from seasoned.store import Store, open_store
from seasoned.template.witness import Witnesses

# The newest sessions say what is worth doing now; more of them would take minutes.
MOST_SESSIONS = 2000
# What has not happened in so many newer sessions of its project is over.
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
        self._witnesses = Witnesses()

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
        if facts.cause in EVERYWHERE and len({project_of.get(root) for root in facts.roots}) > 1:
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
        len(happened),
        max(one.among, other.among),
        one.calls + other.calls,
        _sum(one.minutes, other.minutes),
        _sum(one.tokens, other.tokens),
        max(one.last_seen or 0.0, other.last_seen or 0.0) or None,
        tuple(dict.fromkeys((*one.refs, *other.refs)))[:_REFS],
        one.note if one.note == other.note else "",
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
