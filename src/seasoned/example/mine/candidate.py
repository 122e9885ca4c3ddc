"""Candidates for examples: the calls of a session that show how a tool is called, and groups of similar ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from seasoned.admission import admit_call, without_remarks
from seasoned.command.action import HIGH_RISK
from seasoned.command.written import Purpose, written
from seasoned.example.call_form import ASIDE, CallForm, call_form_of
from seasoned.example.example import ExampleKind
from seasoned.example.mine.outdated import evidence_key, evidence_of, moment_of
from seasoned.example.mine.selection import WorkedCalls, is_escalated, is_whole
from seasoned.example.neutral import shown_intent
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.repair import Repair, repairs
from seasoned.lesson.lesson import Lesson
from seasoned.outcome.track import JudgedCall, Track

# Calls with longer arguments are one day's content.
_MOST_ARGUMENT_CHARS = 600
# The same call so often in one session waits for something.
_POLLS = 3
# An id that only its own session can know.
_OPAQUE = LazyRegex(r"uuid|(?<![a-zA-Z])[hH]\d")
# Shapes that every agent writes rightly by itself.
_PLAIN = frozenset({"words", "switch", "number"})
# Kinds of evidence that rest on words alone.
_WEAK = frozenset({"wording", "none"})
# More support than this adds no merit, so that planted sessions cannot win by numbers.
_ENOUGH = 5
# What a command of each purpose is asked for with.
_ASKED: dict[Purpose, str] = {
    "install": "Install what the project needs.",
    "build": "Build the project.",
    "format": "Format the code.",
    "check": "Run the checks.",
    "test": "Run the tests.",
    "one test": "Run one test.",
    "run": "Run the project.",
    "commit": "Commit the changes.",
}
# Lineages that must agree before a step counts as one that recurs.
_RECURS = 2


class ExampleCandidate(msgspec.Struct, frozen=True, dict=True):
    """A call that worked, with what mining found about it; costly properties are computed when first used."""

    track: Track
    call: JudgedCall
    form: CallForm
    arguments: Mapping[str, Any]  # as they are shown
    asked: str = ""  # what a command is for, which says more than the words before one of its runs
    repair: Repair | None = None
    failed: JudgedCall | None = None
    # Whether the repair changed how the call is written, and not just what it is about.
    is_rewritten: bool = False
    written: float = 0.0  # when the file of its session was written, for sessions without times

    @property
    def time(self) -> float | None:
        return self.call.time if self.call.time is not None else self.track.ended

    @property
    def moment(self) -> tuple[float, int]:
        """When it was made, and its position in the session; always known, so that candidates have an order."""
        return moment_of(self.call, self.track, self.written)

    @property
    def project(self) -> str:
        """The project whose habit it is; empty for a session of none."""
        return self.track.project or ""

    @cached_property
    def intent(self) -> str:
        """The words before the call, if they can be shown."""
        return self.asked or shown_intent(self.call.intent or "")

    @cached_property
    def can_show(self) -> bool:
        """Whether it may represent the others: complete, short, and a call that may be shown."""
        if len(self.call.raw_arguments) > _MOST_ARGUMENT_CHARS and self.call.command is None:
            return False
        if not is_whole(self.call) or is_escalated(self.call.arguments):
            return False
        # Whether a person allows what it does is asked when it is shown.
        return bool(admit_call(self.call.tool, self.arguments, project=self.project, allowed=HIGH_RISK))


class CandidateGroup(msgspec.Struct, frozen=True):
    """All calls of one form in one project: an example keeps its real names, so it is that project's alone."""

    kind: ExampleKind
    support: int  # lineages
    candidates: tuple[ExampleCandidate, ...]  # the newest first

    @property
    def tool(self) -> str:
        return self.candidates[0].call.tool


def gather(
    tracks: Sequence[Track], written: Mapping[str, float], commands: Mapping[str, Sequence[Lesson]]
) -> list[ExampleCandidate]:
    """The calls of these sessions that show something and still work.

    `written`: when the files of sessions without times were written. `commands`: the lessons of each project; a shell
    command is worth showing if it is one of them.
    """
    evidence = evidence_of(tracks, written)
    found = []
    for track in tracks:
        fallback = written.get(str(track.ref), 0.0)
        for one in _of_session(WorkedCalls(track), commands.get(track.project or "", ()), fallback):
            known = evidence.get(evidence_key(one.call))
            if known is None or not known.against(one.form):
                found.append(one)
    failing = {call.tool for track in tracks for call in track.calls if call.has_failed}
    return [one for one in found if one.call.command is not None or one.repair or _shows(one, failing)]


def _shows(one: ExampleCandidate, failing: Collection[str]) -> bool:
    """Whether a call shows how its tool is called: a format, or any argument of a tool that sessions get wrong."""
    shapes = {shape.partition(":")[2] for shape in one.form.shapes}
    return bool(one.arguments) if one.call.tool in failing else not shapes <= _PLAIN


def _of_session(worked: WorkedCalls, lessons: Sequence[Lesson], fallback: float) -> Iterator[ExampleCandidate]:
    track = worked.track
    repaired = _repairs(worked)
    times = Counter((call.tool, call.raw_arguments) for call in track.calls)
    for at in worked.positions:
        call = track.calls[at]
        if times[call.tool, call.raw_arguments] >= _POLLS:
            continue
        arguments, asked, repair = without_remarks(call.tool, call.arguments), "", repaired.get(at)
        if call.command is not None:
            lesson = _lesson_of(call.command, lessons)
            if lesson is None or call.command not in arguments.values():
                continue
            # Where and how long a command ran belongs to its own session.
            kept = {name: value for name, value in arguments.items() if name not in ASIDE}
            arguments = {name: lesson.text if value == call.command else value for name, value in kept.items()}
            asked = _ASKED.get(lesson.purpose, f"Use {lesson.key}.")
            # Of what failed before in a shell, the lessons say whether it was this command that repaired it.
            repair = repair if lesson.kind == "repair" else None
        form = call_form_of(call.tool, msgspec.json.encode(arguments).decode())
        if form is None or any(_OPAQUE.compiled.search(shape) for shape in form.shapes):
            continue
        failed = None if repair is None else track.calls[repair.failed]
        before = None if failed is None else call_form_of(failed.tool, failed.raw_arguments)
        is_rewritten = before is not None and before.traits != form.traits
        yield ExampleCandidate(track, call, form, arguments, asked, repair, failed, is_rewritten, fallback)


def _lesson_of(command: str, lessons: Sequence[Lesson]) -> Lesson | None:
    """The lesson that a command line carries out, if its whole text can be shown."""
    forms = {one.form for one in written(command)}
    return next((one for one in lessons if one.key in forms and one.text and "…" not in one.text), None)


def _repairs(worked: WorkedCalls) -> dict[int, Repair]:
    """Repairs that changed the call, by the call that worked; of several failed attempts, the last."""
    calls, positions = worked.track.calls, set(worked.positions)
    found = repairs(calls, targets=worked.targets)
    return {one.repaired: one for one in found if one.repaired in positions and _teaches(one, calls)}


def _teaches(repair: Repair, calls: Sequence[JudgedCall]) -> bool:
    """Whether the change of the call repaired it, and not another try or the environment."""
    failed, repaired = calls[repair.failed], calls[repair.repaired]
    is_changed = bool(repair.changed) and failed.raw_arguments != repaired.raw_arguments
    return is_changed and failed.fault != "environment"


def group(candidates: Iterable[ExampleCandidate], failures: Mapping[str, int]) -> list[CandidateGroup]:
    """A group for each form in a project that has a call to show: recoveries first, then the tools that fail most.

    Each tool gets one group before any gets a second.
    """
    by_form: dict[tuple[str, str], list[ExampleCandidate]] = {}
    for one in candidates:
        if one.can_show:
            by_form.setdefault((one.project, one.form.pattern), []).append(one)
    groups = []
    for alike in by_form.values():
        support = len({one.track.root for one in alike})
        is_repair = any(one.repair is not None for one in alike)
        kind: ExampleKind = "recovery" if is_repair else "sequence" if support >= _RECURS else "init"
        newest = sorted(alike, key=lambda one: (-one.moment[0], str(one.track.ref), one.call.position))
        groups.append(CandidateGroup(kind, support, tuple(newest)))

    def merit(one: CandidateGroup) -> tuple[Any, ...]:
        first = one.candidates[0]
        return (
            one.kind != "recovery",
            -failures.get(one.tool, 0),
            -min(one.support, _ENOUGH),
            first.form.pattern,
            first.project,
        )

    turns: Counter[tuple[str, str]] = Counter()
    ordered = []
    for known in sorted(groups, key=merit):
        place = (known.candidates[0].project, known.tool)
        ordered.append((turns[place], known))
        turns[place] += 1
    return [known for _, known in sorted(ordered, key=lambda item: item[0])]


def best_first(one: CandidateGroup, supplied: Mapping[str, int]) -> list[ExampleCandidate]:
    """The candidates of a group, best first; of equals, those whose lineage has supplied less, then the newest."""
    return sorted(
        one.candidates,
        key=lambda candidate: (
            one.kind == "recovery" and not candidate.is_rewritten,
            one.kind == "recovery" and candidate.repair is None,
            candidate.call.evidence in _WEAK,
            not candidate.intent,
            supplied.get(candidate.track.root, 0),
        ),
    )
