"""Replays sessions in order of time, each seeing only what had ended before it began, and sums up the figures.

Beside the real choice stands the stupid one, ten lines long: for each purpose the form that worked in most of the last
twenty lineages that did this. A version that is not above it is not better.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from statistics import median
from typing import Literal

import msgspec

from seasoned.command.parse import names
from seasoned.command.written import Purpose, written
from seasoned.lesson.ask import MOST_ITEMS, purposes_in
from seasoned.lesson.evidence import FailedCall, FormUse, SessionEvidence, evidence_of
from seasoned.lesson.kind import is_working
from seasoned.lesson.lesson import PURPOSES, Lesson, fitting, hint_text, line_text, sheet_text
from seasoned.lesson.one_off import ELLIPSIS
from seasoned.lesson.project_lessons import ProjectLessons, is_default
from seasoned.outcome.track import Track
from seasoned.stats.interval import Estimate
from seasoned.stats.proportion import rate
from seasoned.text import count_tokens

# A conversation with fewer predecessors that had ended says little about what is shown.
FEWEST_KNOWN = 8
# Agents that hand the result of a call to a hook while the model waits, also of a check behind a pipe. What an agent
# refuses by itself, no hook hears of.
DELIVERING = names("claude-code codex hermes gemini copilot cursor opencode qwen")
_REFUSED = "<tool_use_error>"


class ReplayStep(msgspec.Struct, frozen=True):
    """One call of a conversation, as far as the figures need it."""

    time: float
    uses: tuple[FormUse, ...] = ()
    forms: tuple[str, ...] = ()  # of all working commands in it, whatever their outcome
    failure: FailedCall | None = None
    worked: bool = False
    is_heard: bool = True  # its agent tells a hook of its result before the next call


class ReplayConversation(msgspec.Struct, frozen=True):
    """One lineage."""

    root: str
    project: str
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
    return ReplayConversation(
        root,
        project,
        tracks[0].ref.agent,
        tracks[0].started or 0.0,
        max(one.end for one in evidence),
        next((one.task for one in evidence if one.task), ""),
        tuple(steps),
        evidence,
    )


def _steps(track: Track, evidence: SessionEvidence) -> Iterator[ReplayStep]:
    uses: dict[int, list[FormUse]] = {}
    for use in evidence.uses:
        uses.setdefault(use.position, []).append(use)
    failures = {failure.position: failure for failure in evidence.failures}
    time = track.started or 0.0
    for call in track.calls:
        time = max(time, call.time or time)
        command = call.command
        parts = written(command) if command and len(command) <= 4000 else ()
        yield ReplayStep(
            time,
            tuple(uses.get(call.position, ())),
            tuple(one.form for one in parts if is_working(one)),
            failures.get(call.position),
            call.verdict == "ok",
            track.ref.agent in DELIVERING and not (call.result or "").startswith(_REFUSED),
        )


# -- what a conversation did, and what it was shown -------------------------------------------------------------------


class Served(msgspec.Struct, frozen=True):
    """How a conversation served one purpose."""

    forms: frozenset[str]  # that worked
    texts: frozenset[tuple[str, ...]]  # the same as written, without what varies
    first_wrong: bool  # a call for this purpose had failed as a call before


def served(steps: Sequence[ReplayStep]) -> dict[str, Served]:
    """How each purpose was served."""
    forms: dict[str, set[str]] = {}
    texts: dict[str, set[tuple[str, ...]]] = {}
    wrong: set[str] = set()
    went_wrong: set[str] = set()
    for step in steps:
        for use in step.uses:
            if use.worked and use.purpose in PURPOSES:
                if use.purpose not in forms and use.purpose in wrong:
                    went_wrong.add(use.purpose)
                forms.setdefault(use.purpose, set()).add(use.form)
                texts.setdefault(use.purpose, set()).add(essential(use.text))
            elif use.worked is False and step.failure is not None and not step.failure.is_signal:
                wrong.add(use.purpose)
    return {
        purpose: Served(frozenset(some), frozenset(texts[purpose]), purpose in went_wrong)
        for purpose, some in forms.items()
    }


# Options about how much is printed, or how fast: a command is the same with and without them.
_MANNER = names(
    "-q -v -vv -s -x --verbose --quiet --silent -n --color --no-color --tb -count --maxfail -j --timeout --reporter"
    " -race"
)


def essential(text: str) -> tuple[str, ...]:
    """The form of a command with its options, without operands and without what only changes the output."""
    form = " && ".join(one.form for one in written(text.removesuffix(ELLIPSIS)) if one.form)
    options = {word.partition("=")[0] for word in text.split() if word.startswith("-") and word != "--"}
    options -= _MANNER | set(form.split())
    return (form, *sorted(one for one in options if not one.startswith("--tb")))


class ShownLine(msgspec.Struct, frozen=True):
    """One line that was shown, and what the session then did."""

    purpose: str
    form: str
    text: str
    place: Literal["start", "prompt"]
    done: bool  # the session served this purpose
    right: bool  # in this form
    as_written: bool  # with the same options
    is_default: bool


class ShownHint(msgspec.Struct, frozen=True):
    """One hint at a call."""

    text: str
    is_before: bool
    right: bool | None  # None if the session did not repair it, so that nothing can be compared
    false: bool  # before a call that then worked as it was


class Known(msgspec.Struct, frozen=True):
    """A purpose that a session served in a form that an earlier session knew."""

    purpose: str
    forms: frozenset[str]
    first_wrong: bool


class Replayed(msgspec.Struct, frozen=True):
    """What one conversation would have been shown."""

    root: str
    project: str
    known: int  # conversations of the project that had ended before
    calls: int
    lines: dict[str, tuple[ShownLine, ...]]  # by arm: chosen, baseline, newest, random
    pairs: tuple[Known, ...]
    hints: tuple[ShownHint, ...]
    failures: int
    mistakes: int
    known_mistakes: int  # of a kind that an earlier conversation of the project had repaired
    clear: int  # known mistakes whose error says itself what to do: nothing is added to those
    repaired: int  # of the known ones, how many the conversation repaired itself
    in_time: int  # of those, how many were answered with the same repair before its next try
    late: int  # the same answer, which no event of the agent would have delivered before the next try
    foreign: int
    tokens: int
    started: float | None = None


def replay(conversations: Sequence[ReplayConversation], *, seed: int = 0) -> list[Replayed]:
    """Replay the conversations of any number of projects."""
    histories: dict[str, _History] = {}
    waiting: list[tuple[float, int, ReplayConversation]] = []
    found = []
    for number, one in enumerate(sorted(conversations, key=lambda c: (c.started, c.root))):
        while waiting and waiting[0][0] < one.started:
            ended = heapq.heappop(waiting)[2]
            histories.setdefault(ended.project, _History(ended.project)).add(ended)
        found.append(_replayed(one, histories.setdefault(one.project, _History(one.project)), seed))
        heapq.heappush(waiting, (one.ended, number, one))
    return found


class _History:
    """What is known of a project at one moment: its lessons, and what the simple choices need."""

    def __init__(self, project: str) -> None:
        self.lessons = ProjectLessons(project)
        self.served: list[dict[str, Served]] = []  # by conversation, in the order in which they ended
        self.sessions: set[str] = set()

    def add(self, one: ReplayConversation) -> None:
        for evidence in one.evidence:
            self.lessons.add(evidence)
            self.sessions.add(evidence.session)
        self.served.append(served(one.steps))

    def simple_choices(self, random: Random) -> dict[str, dict[str, str]]:
        """For each arm the form for each purpose."""
        arms: dict[str, dict[str, str]] = {"baseline": {}, "newest": {}, "random": {}}
        for purpose in PURPOSES:
            did = [one[purpose].forms for one in reversed(self.served) if purpose in one]
            if not did:
                continue
            used = Counter(form for forms in did[:20] for form in sorted(forms))
            form, times = max(used.items(), key=lambda item: (item[1], item[0]))
            if times >= 2 and times >= 0.4 * len(did[:20]):
                arms["baseline"][purpose] = form
            arms["newest"][purpose] = min(did[0])
            arms["random"][purpose] = random.choice(sorted(set[str]().union(*did)))
        return arms


def _replayed(one: ReplayConversation, history: _History, seed: int) -> Replayed:
    known = history.lessons
    # A line that is only shown where the checkout says the same is left out: there is no checkout here.
    sheet = fitting([line for line in known.sheet() if not line.needs_tree])
    shown = {line.purpose for line in sheet}
    items = [
        line
        for purpose in purposes_in(one.task)
        if purpose not in shown and (line := known.command_for(purpose)) is not None and not line.needs_tree
    ][:MOST_ITEMS]
    did = served(one.steps)
    lines = {
        "chosen": (
            *[_judged(line.purpose, line.key, line.text, did, "start") for line in sheet],
            *[_judged(line.purpose, line.key, line.text, did, "prompt") for line in items],
        )
    }
    for arm, forms in history.simple_choices(Random(f"{seed}:{one.root}")).items():
        lines[arm] = tuple(_judged(purpose, form, form, did, "start") for purpose, form in forms.items())
    hints = _HintReplay(known, {line.key for line in (*sheet, *items)})
    for step in one.steps:
        hints.take(step)
    said = [sheet_text(sheet), *[line_text(line) for line in items], *[hint.text for hint in hints.shown]]
    mistakes = [step.failure for step in one.steps if step.failure is not None and not step.failure.is_signal]
    return Replayed(
        one.root,
        one.project,
        len(known),
        len(one.steps),
        lines,
        tuple(_pairs(did, history)),
        tuple(hints.shown),
        sum(step.failure is not None for step in one.steps),
        len(mistakes),
        hints.known,
        hints.clear,
        hints.repaired,
        hints.in_time,
        hints.late,
        sum(session not in history.sessions for line in (*sheet, *items) for session in line.sessions),
        sum(count_tokens(text) for text in said if text),
        one.started,
    )


def _pairs(did: Mapping[str, Served], history: _History) -> Iterator[Known]:
    """The purposes that a conversation served in a form that an earlier one knew."""
    for purpose, found in did.items():
        before = {form for one in history.served if purpose in one for form in one[purpose].forms}
        if forms := found.forms & before:
            yield Known(purpose, forms, found.first_wrong)


def _judged(
    purpose: Purpose | str, form: str, text: str, did: Mapping[str, Served], place: Literal["start", "prompt"]
) -> ShownLine:
    found = did.get(purpose)
    is_right = found is not None and form in found.forms
    as_written = is_right and found is not None and (text.endswith(ELLIPSIS) or essential(text) in found.texts)
    return ShownLine(purpose, form, text, place, found is not None, is_right, as_written, is_default(form))


class _HintReplay:
    """The hints of one conversation, call by call; the same hint only once."""

    def __init__(self, known: ProjectLessons, lines: set[str]) -> None:
        self._lessons = known
        self._lines = lines  # the forms that the session saw at its start
        self._told: set[str] = set()
        self.shown: list[ShownHint] = []
        self.known = self.repaired = self.in_time = self.late = self.clear = 0

    def take(self, step: ReplayStep) -> None:
        before = self._before(step)
        failure = step.failure
        if failure is None:
            return
        is_known = not failure.is_signal and self._lessons.was_repaired(failure.kind)
        if failure.says_enough:
            self.clear += is_known
            return
        hint = before or self._lessons.after(failure.kind)
        if before is None and hint is not None and step.is_heard:
            self._show(hint, failure, is_before=False, false=False)
        if is_known:
            self._count(failure, hint, is_heard=step.is_heard or before is not None)

    def _before(self, step: ReplayStep) -> Lesson | None:
        for form in step.forms:
            hint = self._lessons.before(form)
            if hint is not None:
                # A check that found fault with the code was the right call.
                was_right = step.worked or (step.failure is not None and step.failure.is_signal)
                self._show(hint, step.failure, is_before=True, false=was_right)
                return hint
        return None

    def _show(self, hint: Lesson, failure: FailedCall | None, *, is_before: bool, false: bool) -> None:
        text = hint_text(hint)
        if text in self._told:
            return
        self._told.add(text)
        right = None if failure is None or failure.way is None or failure.way.is_empty else is_same(hint, failure)
        self.shown.append(ShownHint(text, is_before, right, false))

    def _count(self, failure: FailedCall, hint: Lesson | None, *, is_heard: bool) -> None:
        self.known += 1
        if failure.way is None or failure.way.is_empty:
            return
        self.repaired += 1
        at_start = failure.way.kind == "form" and failure.way.value in self._lines
        if at_start or (hint is not None and is_same(hint, failure)):
            self.in_time += at_start or is_heard
            self.late += not (at_start or is_heard)


def is_same(hint: Lesson, failure: FailedCall) -> bool:
    """Whether the session's own repair has the form that was shown."""
    # The same command is the same repair, whatever was wrong with the call.
    return hint.way == failure.way or (bool(hint.text) and hint.text == failure.text)


# -- figures ----------------------------------------------------------------------------------------------------------

ARMS = ("chosen", "baseline", "newest", "random")
# Fewer projects say too little about how much projects differ; then conversations are the units.
_FEWEST_PROJECTS = 5
_MANY_SESSIONS = 20


class LineFigures(msgspec.Struct, frozen=True):
    """How good the lines of one arm are, in conversations with enough predecessors."""

    lines: int  # whose purpose the session then served
    right: Estimate  # of those, in this form
    as_written: Estimate  # and with the same options
    covered: Estimate  # of the purposes served in a known form, those for which the right line stood there
    covered_first_wrong: Estimate  # the same where the session first went wrong


class Figures(msgspec.Struct, frozen=True):
    """What a replay shows about one project, or about all."""

    project: str
    conversations: int
    told: int  # conversations that saw anything
    arms: dict[str, LineFigures]  # without the languages' defaults
    with_defaults: dict[str, LineFigures]
    worth: Estimate  # of the lines shown, those that are not a language's default
    calls: int
    failures: int
    mistakes: int
    known_mistakes: int
    clear_errors: int  # further known mistakes whose error says itself what to do: they get no hint
    repaired: int
    in_time: Estimate  # of the known mistakes that were repaired, those answered so before the next try
    late: int
    right: Estimate  # of the hints at failures that were repaired, those with the same repair
    hints: int
    false_hints: int
    false_per_500_calls: float | None
    foreign: int
    is_empty: bool | None  # the newest conversation of a project with many saw no line; None with few
    tokens: float | None  # the median of a conversation that saw anything


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
    late = [one for one in replayed if one.known >= _MANY_SESSIONS]
    experienced = [one for one in replayed if one.known >= FEWEST_KNOWN]
    return Figures(
        project,
        len(replayed),
        len(told),
        {arm: _arm(experienced, arm, defaults=False) for arm in ARMS},
        {arm: _arm(experienced, arm, defaults=True) for arm in ARMS},
        share.of(lambda one: [not line.is_default for line in one.lines["chosen"]]),
        calls,
        sum(one.failures for one in replayed),
        sum(one.mistakes for one in replayed),
        sum(one.known_mistakes for one in replayed),
        sum(one.clear for one in replayed),
        sum(one.repaired for one in replayed),
        share.counted(lambda one: (one.in_time, one.repaired)),
        sum(one.late for one in replayed),
        share.of(lambda one: [hint.right for hint in one.hints if hint.right is not None]),
        len(hints),
        false,
        500.0 * false / calls if calls else None,
        sum(one.foreign for one in replayed),
        not any(line.place == "start" for line in late[-1].lines["chosen"]) if late and project else None,
        float(median(one.tokens for one in told)) if told else None,
    )


def _arm(replayed: Sequence[Replayed], arm: str, *, defaults: bool) -> LineFigures:
    share = _Shares(replayed)

    def lines(one: Replayed) -> list[ShownLine]:
        return [line for line in one.lines[arm] if line.done and (defaults or not line.is_default)]

    def covered(one: Replayed, *, first_wrong: bool) -> Iterator[bool]:
        shown = {line.purpose: line.form for line in one.lines[arm]}
        for pair in one.pairs:
            forms = {one for one in pair.forms if defaults or not is_default(one)}
            if forms and (pair.first_wrong or not first_wrong):
                yield shown.get(pair.purpose) in forms

    return LineFigures(
        sum(len(lines(one)) for one in replayed),
        share.of(lambda one: [line.right for line in lines(one)]),
        share.of(lambda one: [line.as_written for line in lines(one)]),
        share.of(lambda one: covered(one, first_wrong=False)),
        share.of(lambda one: covered(one, first_wrong=True)),
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
