"""Replays sessions in order of time, each seeing only what had ended before it began, and sums up the figures."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from random import Random
from statistics import median
from time import perf_counter
from typing import Literal

import msgspec

from seasoned.command.tool import tool_of
from seasoned.command.written import written
from seasoned.lesson.ask import MOST_ITEMS, purposes_in
from seasoned.lesson.evidence import FailedCall, FormUse, SessionEvidence, evidence_of
from seasoned.lesson.kind import is_working
from seasoned.lesson.knowledge import ProjectKnowledge
from seasoned.lesson.lesson import MOST_COMMANDS, Hint, Line, Way, hint_text, line_text, sheet_text
from seasoned.outcome.track import Track
from seasoned.stats.interval import Estimate
from seasoned.stats.proportion import rate
from seasoned.text import count_tokens


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

    Sessions without a time or a project are left out.
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


# Besides the real choice, the same number of lines chosen in simpler ways. Random lines are the null arm.
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
    """What one conversation would have been shown."""

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
        if failure is None:
            return
        if failure.explains_itself and before is None:
            self.clear += not failure.is_signal and self._knowledge.was_repaired(failure.kind)
            return
        # A hook cannot tell a failing test from a wrong call, so it asks after both.
        hint = before or self._knowledge.after(failure.kind, failure.path)
        if before is None and hint is not None:
            self._show(hint, failure, is_before=False, false=False)
        if not failure.is_signal and self._knowledge.was_repaired(failure.kind):
            self._count(failure, hint)

    def _before(self, step: ReplayStep) -> Hint | None:
        for form in step.forms:
            hint = self._knowledge.before(form)
            if hint is not None:
                # A check that found fault with the code was the right call.
                was_right = step.worked or (step.failure is not None and step.failure.is_signal)
                self._show(hint, step.failure, is_before=True, false=was_right)
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
        # Both are the same edit with the file's own text, whether or not the session read it again.
        return True
    # The same command is the same repair, whatever was wrong with the call.
    return way == own or (bool(hint.text) and hint.text == failure.text)


# Fewer projects say too little about how much projects differ; then conversations are the units.
_FEWEST_PROJECTS = 5


class Figures(msgspec.Struct, frozen=True):
    """What a replay shows about one project, or about all."""

    project: str
    conversations: int
    told: int  # conversations that saw anything
    lines: int
    used: Estimate
    used_where_run: Estimate  # the same in conversations that ran any command of the project with success
    ahead: Estimate
    wrong: Estimate
    foreign: int
    # The same shares for as many lines chosen in simpler ways; random lines are the null arm.
    used_by: dict[str, Estimate]
    calls: int
    failures: int
    mistakes: int
    known_mistakes: int
    repaired: int
    clear_errors: int  # further known mistakes whose error says itself what to do: they get no hint
    # Of the known mistakes that the conversation repaired, the share for which the same repair was shown.
    answered: Estimate
    # Of all known mistakes, also those never repaired, the share for which a hint was shown.
    hinted: Estimate
    right: Estimate  # of the hints at failures that were repaired, the share with the same repair
    hints: int
    false_hints: int
    false_per_200_calls: float | None
    spoke_unknown: int  # first conversations of a project that saw something: must be 0
    tokens: float | None  # the median of a conversation that saw anything
    milliseconds: float | None


class Backtest(msgspec.Struct, frozen=True):
    """A replay of histories: all projects together, and each."""

    all: Figures
    projects: tuple[Figures, ...]
    left_out: int  # conversations without a time or a project


def figures(replayed: Sequence[Replayed], *, fewest: int = 1, left_out: int = 0) -> Backtest:
    """The figures of all conversations, and of each project with at least `fewest`."""
    by_project: dict[str, list[Replayed]] = {}
    for one in replayed:
        by_project.setdefault(one.project, []).append(one)
    kept = {project: some for project, some in by_project.items() if len(some) >= fewest}
    everything = [one for some in kept.values() for one in some]
    each = sorted(kept.items(), key=lambda item: (-len(item[1]), item[0]))
    return Backtest(
        _figures("", everything),
        tuple(_figures(project, some) for project, some in each),
        left_out + sum(len(some) for some in by_project.values()) - len(everything),
    )


def _figures(project: str, replayed: Sequence[Replayed]) -> Figures:
    share = _Shares(replayed)
    calls = sum(one.calls for one in replayed)
    hints = [hint for one in replayed for hint in one.hints]
    told = [one for one in replayed if one.tokens]
    false = sum(hint.false for hint in hints)
    return Figures(
        project,
        len(replayed),
        len(told),
        sum(len(one.lines["chosen"]) for one in replayed),
        share.of(lambda one: [line.used for line in one.lines["chosen"]]),
        share.of(lambda one: [line.used for line in one.lines["chosen"] if one.ran]),
        share.of(lambda one: [line.ahead for line in one.lines["chosen"] if line.used]),
        share.of(lambda one: [line.wrong for line in one.lines["chosen"]]),
        sum(one.foreign for one in replayed),
        {
            arm: share.of(lambda one, arm=arm: [line.used for line in one.lines[arm]])  # type: ignore[misc]
            for arm in (*ARMS[1:], FREQUENT_FIVE)
        },
        calls,
        sum(one.failures for one in replayed),
        sum(one.mistakes for one in replayed),
        sum(one.known_mistakes for one in replayed),
        sum(one.repaired for one in replayed),
        sum(one.clear for one in replayed),
        share.counted(lambda one: (one.answered, one.repaired)),
        share.counted(lambda one: (one.told, one.known_mistakes)),
        share.of(lambda one: [hint.right for hint in one.hints if hint.right is not None]),
        len(hints),
        false,
        200.0 * false / calls if calls else None,
        sum(bool(one.lines["chosen"] or one.hints) for one in replayed if not one.known),
        float(median(one.tokens for one in told)) if told else None,
        float(median(one.milliseconds for one in replayed)) if replayed else None,
    )


class _Shares:
    """Shares over clusters: projects where there are enough of them, else conversations."""

    def __init__(self, replayed: Sequence[Replayed]) -> None:
        self._conversations: list[list[Replayed]] = [[one] for one in replayed]
        projects: dict[str, list[Replayed]] = {}
        for one in replayed:
            projects.setdefault(one.project, []).append(one)
        self._projects = list(projects.values())

    def of(self, flags: Callable[[Replayed], Iterable[bool]]) -> Estimate:
        """The share of flags that are set."""

        def count(one: Replayed) -> tuple[int, int]:
            found = list(flags(one))
            return sum(found), len(found)

        return self.counted(count)

    def counted(self, count: Callable[[Replayed], tuple[int, int]]) -> Estimate:
        """The share of counts."""
        sums = _sums(self._projects, count)
        # Too few projects have anything to count: then conversations are the units.
        sums = sums if len(sums) >= _FEWEST_PROJECTS else _sums(self._conversations, count)
        return rate([pair[0] for pair in sums], [pair[1] for pair in sums])


def _sums(groups: Iterable[Sequence[Replayed]], count: Callable[[Replayed], tuple[int, int]]) -> list[tuple[int, int]]:
    """The counts of each group that has any."""
    found = [[count(one) for one in group] for group in groups]
    sums = [(sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)) for pairs in found]
    return [pair for pair in sums if pair[1]]
