"""The replay: sessions in the order of time, each told only what had ended before it began."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from random import Random
from time import perf_counter
from typing import Literal

import msgspec

from seasoned.command.tool import tool_of
from seasoned.command.written import written
from seasoned.experience.evidence import FormUse, SessionEvidence, evidence_of
from seasoned.experience.failure import FailedCall
from seasoned.experience.first_prompt import MOST_ITEMS, purposes_in
from seasoned.experience.kind import is_working
from seasoned.experience.knowledge import ProjectKnowledge
from seasoned.experience.lesson import MOST_COMMANDS, Hint, Line, Way
from seasoned.experience.tell import hint_text, line_text, sheet_text
from seasoned.insight.track import Track
from seasoned.template.render.tokens import count_tokens


class ReplayStep(msgspec.Struct, frozen=True):
    """One call of a conversation, as far as the figures need it."""

    time: float
    uses: tuple[FormUse, ...] = ()
    forms: tuple[str, ...] = ()  # of all working commands in it, whatever their outcome
    failure: FailedCall | None = None
    worked: bool = False
    is_inspection: bool = False


class ReplayConversation(msgspec.Struct, frozen=True):
    """One lineage."""

    root: str
    project: str
    folder: str | None
    agent: str
    started: float
    ended: float
    task: str
    steps: tuple[ReplayStep, ...]
    evidence: tuple[SessionEvidence, ...]


def conversations(tracks: Iterable[Track]) -> list[ReplayConversation]:
    """The lineages of these sessions that did something, in the order in which they began.

    A session without a time cannot be placed and is left out; so is one without a project.
    """
    by_root: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        if track.started is not None and track.project and track.calls:
            by_root.setdefault((track.project, track.root), []).append(track)
    found = [_conversation(project, root, some) for (project, root), some in by_root.items()]
    return sorted(found, key=lambda one: (one.started, one.root))


def _conversation(project: str, root: str, tracks: Sequence[Track]) -> ReplayConversation:
    tracks = sorted(tracks, key=lambda track: track.started or 0.0)
    evidence = tuple(evidence_of(track) for track in tracks)
    steps = [step for track, one in zip(tracks, evidence, strict=True) for step in _steps(track, one)]
    steps.sort(key=lambda step: step.time)
    first = tracks[0]
    return ReplayConversation(
        root,
        project,
        first.cwd,
        first.ref.agent,
        first.started or 0.0,
        max(one.end for one in evidence),
        next((one.task for one in evidence if one.task), ""),
        tuple(steps),
        evidence,
    )


def _steps(track: Track, evidence: SessionEvidence) -> Iterable[ReplayStep]:
    uses: dict[int, list[FormUse]] = {}
    for use in evidence.uses:
        uses.setdefault(use.position, []).append(use)
    failures = {failure.position: failure for failure in evidence.failures}
    time = track.started or 0.0
    for call in track.calls:
        time = max(time, call.time or time)
        command = call.command
        parts = written(command) if command and len(command) <= 4000 else ()
        forms = tuple(one.form for one in parts if is_working(one))
        looks = not forms if command else tool_of(call.tool).form in ("file_read", "search")
        yield ReplayStep(
            time,
            tuple(uses.get(call.position, ())),
            forms,
            failures.get(call.position),
            call.verdict == "ok",
            looks,
        )


# Beside the real choice: the same number of lines chosen in simpler ways. Random lines are the null arm.
ARMS = ("chosen", "frequent", "newest", "random")
FREQUENT_FIVE = "frequent five"
_INSPECTIONS = 3


class ShownLine(msgspec.Struct, frozen=True):
    """One line that was shown, and what the session then did with it."""

    form: str
    text: str
    used: bool
    ahead: bool
    wrong: bool
    place: Literal["start", "prompt"] = "start"


class ShownHint(msgspec.Struct, frozen=True):
    """One hint at a call."""

    text: str
    is_before: bool
    way: Way
    right: bool | None  # None if the session did not repair it, so that nothing can be compared
    false: bool  # before a call that then worked as it was


class Replayed(msgspec.Struct, frozen=True):
    """What one conversation would have been told."""

    root: str
    project: str
    known: int  # conversations of the project that had ended before
    calls: int
    lines: dict[str, tuple[ShownLine, ...]]
    hints: tuple[ShownHint, ...]
    failures: int
    mistakes: int
    known_mistakes: int  # of a kind that an earlier conversation of the project had repaired
    repaired: int  # of those, how many the conversation repaired itself
    answered: int  # of those, how many were answered with the same repair
    told: int  # known mistakes for which a hint was in front of the agent, right or not
    clear: int  # known mistakes whose error says itself what to do: nothing is added to those
    foreign: int
    tokens: int
    milliseconds: float
    started: float | None = None
    ran: bool = True  # any command of the project with success: a conversation that only talks can use no line


def replay(conversations: Sequence[ReplayConversation], *, seed: int = 0) -> list[Replayed]:
    """Replay the conversations of any number of projects."""
    knowledge: dict[str, ProjectKnowledge] = {}
    sources: dict[str, dict[str, str]] = {}
    waiting: list[tuple[float, int, ReplayConversation]] = []
    found = []
    for number, one in enumerate(sorted(conversations, key=lambda c: (c.started, c.root))):
        while waiting and waiting[0][0] < one.started:
            ended = heapq.heappop(waiting)[2]
            known = knowledge.setdefault(ended.project, ProjectKnowledge(ended.project))
            for evidence in ended.evidence:
                known.add(evidence)
                sources.setdefault(ended.project, {})[evidence.session] = ended.project
        found.append(_replayed(one, knowledge.get(one.project, ProjectKnowledge()), sources.get(one.project, {}), seed))
        heapq.heappush(waiting, (one.ended, number, one))
    return found


def _replayed(one: ReplayConversation, known: ProjectKnowledge, sources: dict[str, str], seed: int) -> Replayed:
    begun = perf_counter()
    chosen = known.sheet(one.folder)
    text = sheet_text(chosen, len(known))
    spent = perf_counter() - begun
    outcomes = _outcomes(one.steps)
    items = _items(one, known, chosen)
    lines = {
        "chosen": (
            *[_judged(line.form, line.text, outcomes) for line in chosen],
            *[_judged(line.form, line.text, outcomes, "prompt") for line in items],
        )
    }
    simple = known.simple_choices(Random(f"{seed}:{one.root}"))
    for arm, forms in simple.items():
        lines[arm] = tuple(_judged(form, form, outcomes) for form in forms[: len(chosen) + len(items)])
    lines[FREQUENT_FIVE] = tuple(_judged(form, form, outcomes) for form in simple["frequent"][:MOST_COMMANDS])
    hints = _HintReplay(known)
    for step in one.steps:
        hints.take(step)
    mistakes = [step.failure for step in one.steps if step.failure is not None and not step.failure.is_signal]
    return Replayed(
        one.root,
        one.project,
        len(known),
        len(one.steps),
        lines,
        tuple(hints.shown),
        sum(step.failure is not None for step in one.steps),
        len(mistakes),
        hints.known,
        hints.repaired,
        hints.answered,
        hints.told,
        hints.clear,
        sum(session not in sources for line in (*chosen, *items) for session in line.sessions),
        sum(count_tokens(said) for said in (text, *[line_text(line) for line in items], *hints.texts) if said),
        spent * 1000,
        one.started,
        any(outcome.first is not None for outcome in outcomes[0].values()),
    )


class _FormOutcome(msgspec.Struct):
    """What became of one form in a conversation."""

    first: int | None = None  # the step at which it first worked
    failed: bool = False


def _outcomes(steps: Sequence[ReplayStep]) -> tuple[dict[str, _FormOutcome], Sequence[ReplayStep]]:
    found: dict[str, _FormOutcome] = {}
    for at, step in enumerate(steps):
        for use in step.uses:
            known = found.setdefault(use.form, _FormOutcome())
            if use.worked and known.first is None:
                known.first = at
            if use.worked is False and step.failure is not None and not step.failure.is_signal:
                known.failed = True
    return found, steps


def _items(one: ReplayConversation, known: ProjectKnowledge, shown: Sequence[Line]) -> list[Line]:
    """The commands that the first prompt asks for and the sheet does not show."""
    purposes = {line.purpose for line in shown}
    found = [known.command_for(purpose, one.folder) for purpose in purposes_in(one.task) if purpose not in purposes]
    return [line for line in found if line is not None][:MOST_ITEMS]


def _judged(
    form: str,
    text: str,
    outcomes: tuple[dict[str, _FormOutcome], Sequence[ReplayStep]],
    place: Literal["start", "prompt"] = "start",
) -> ShownLine:
    known, steps = outcomes
    # After a `cd` of an earlier call the same command is written without it.
    outcome = known.get(form) or known.get(form.rpartition("&& ")[2]) or _FormOutcome()
    used = outcome.first is not None
    ahead = used and _went_wrong_before(form, steps[: outcome.first])
    return ShownLine(form, text, used, ahead, outcome.failed and not used, place)


def _went_wrong_before(form: str, steps: Sequence[ReplayStep]) -> bool:
    """Whether a failing form of the same program or three looks came before: what the line would have saved."""
    program = form.split()[-1]
    failed = any(
        step.failure is not None and not step.failure.is_signal and program in step.failure.form.split()
        for step in steps
    )
    return failed or sum(step.is_inspection for step in steps) >= _INSPECTIONS


class _HintReplay:
    """The hints of one conversation, call by call; the same hint only once."""

    def __init__(self, known: ProjectKnowledge) -> None:
        self._knowledge = known
        self._told: dict[str, Way] = {}
        self.shown: list[ShownHint] = []
        self.known = self.repaired = self.answered = self.told = self.clear = 0

    @property
    def texts(self) -> list[str]:
        return [hint.text for hint in self.shown]

    def take(self, step: ReplayStep) -> None:
        before = self._before(step)
        failure = step.failure
        if failure is None or failure.is_signal:
            return
        if failure.explains_itself and before is None:
            self.clear += self._knowledge.was_repaired(failure.kind)
            return
        hint = before or self._knowledge.after(failure.kind, failure.path)
        if before is None and hint is not None:
            self._show(hint, failure, is_before=False, false=False)
        if self._knowledge.was_repaired(failure.kind):
            self._count(failure, hint)

    def _before(self, step: ReplayStep) -> Hint | None:
        for form in step.forms:
            hint = self._knowledge.before(form)
            if hint is not None:
                self._show(hint, step.failure, is_before=True, false=step.worked)
                return hint
        return None

    def _show(self, hint: Hint, failure: FailedCall | None, *, is_before: bool, false: bool) -> None:
        text = hint_text(hint, "" if failure is None else failure.path)
        if text in self._told:
            return
        self._told[text] = hint.way
        right = None if failure is None or failure.way is None else is_same(hint, failure)
        self.shown.append(ShownHint(text, is_before, hint.way, right, false))

    def _count(self, failure: FailedCall, hint: Hint | None) -> None:
        self.known += 1
        self.told += hint is not None
        if failure.way is not None:
            self.repaired += 1
            self.answered += hint is not None and is_same(hint, failure)


def is_same(hint: Hint, failure: FailedCall) -> bool:
    """Whether the session's own repair has the form that was shown."""
    way, own = hint.way, failure.way
    assert own is not None
    if {way.kind, own.kind} <= {"read", "exact"}:
        # Both are the same edit with the file's own text, whether the session looked at it again or not.
        return True
    # Whatever was wrong with the call, the same command is the same repair.
    return way == own or (bool(hint.text) and hint.text == failure.text)
