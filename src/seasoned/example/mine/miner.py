"""Builds templates: the calls of sessions that show how a tool is called, grouped by form, become examples."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from seasoned.admission import admit_call, without_remarks
from seasoned.command.action import HIGH_RISK
from seasoned.command.parse import names
from seasoned.command.shown import acts_of_call
from seasoned.command.tool import TaskType
from seasoned.command.written import Purpose, written
from seasoned.command.written import written as commands_in
from seasoned.errors import NotFound
from seasoned.example.call_form import ASIDE, CallForm, call_form_of
from seasoned.example.example import Example, ExampleKind, Repaired, Source, Template, TemplateMetrics
from seasoned.example.mine.outdated import evidence_key, evidence_of, moment_of
from seasoned.example.mine.selection import (
    MinableSession,
    MiningOptions,
    choose,
    is_escalated,
    minable,
    sessions_scanned,
    why_nothing,
    worked_calls,
)
from seasoned.example.neutral import neutral_result, shown_intent, unclean
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.ask import chosen_lines
from seasoned.lesson.failure.repair import Repair, repairs
from seasoned.lesson.failure.signature import signature
from seasoned.lesson.lesson import Lesson, lessons_about
from seasoned.lesson.storage import refresh
from seasoned.outcome.track import JudgedCall, Track
from seasoned.outcome.track import tracks as load_tracks
from seasoned.redact.redactor import Redactor
from seasoned.report.profile import EARLY_SHARE
from seasoned.store import Store

# Calls with longer arguments are one day's content.
_MOST_ARGUMENT_CHARS = 600
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
        if is_escalated(self.call.arguments):
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
        for one in _of_session(track, commands.get(track.project or "", ()), fallback):
            known = evidence.get(evidence_key(one.call))
            if known is None or not known.against(one.form):
                found.append(one)
    failing = {call.tool for track in tracks for call in track.calls if call.has_failed}
    return [one for one in found if one.call.command is not None or one.repair or _shows(one, failing)]


def _shows(one: ExampleCandidate, failing: Collection[str]) -> bool:
    """Whether a call shows how its tool is called: a format, or any argument of a tool that sessions get wrong."""
    shapes = {shape.partition(":")[2] for shape in one.form.shapes}
    return bool(one.arguments) if one.call.tool in failing else not shapes <= _PLAIN


def _of_session(track: Track, lessons: Sequence[Lesson], fallback: float) -> Iterator[ExampleCandidate]:
    # By the call that worked; of several failed attempts, the last.
    repaired = {one.repaired: one for one in repairs(track.calls) if _teaches(one, track.calls)}
    for at in worked_calls(track):
        call = track.calls[at]
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


_DEFAULTS = MiningOptions()
# Examples of one form, each of another lineage, for tools that sometimes fail; others need only one.
_OF_A_FORM = 3
_MOST_SOURCES = 50
# How a repair changed a command: another command that must come first teaches nothing about it.
_SHELL_WAYS = ("form", "option", "value", "variable")
_OF_REPOSITORY = names("git gh glab jj gt hg svn docker podman kubectl helm terraform")
_encode = msgspec.json.Encoder(order="sorted").encode


def mine(
    tracks: Iterable[Track],
    *,
    name: str,
    now: float,
    redactor: Redactor,
    options: MiningOptions = _DEFAULTS,
    written: Mapping[str, float] | None = None,
    failing: Iterable[str] = (),
    commands: Mapping[str, Sequence[Lesson]] | None = None,
) -> Template | None:
    """A template of what worked in these sessions; None if nothing is worth keeping.

    `written`: when the files of sessions without times were written. `failing`: tools that sometimes fail in other
    sessions, and so are worth several examples. `commands`: the commands that are lessons of a project.
    """
    learned = sorted(tracks, key=lambda track: str(track.ref))
    candidates = gather(learned, written or {}, commands or {})
    builder = _TemplateBuilder(learned, redactor, failing)
    examples = builder.examples(candidates, options.max_examples)
    if not examples:
        return None
    return Template(
        name=name,
        task_type=options.task_type or _task_type(learned),
        examples=examples,
        sources=tuple(str(track.ref) for track in learned),
        created_at=now,
        metrics=TemplateMetrics(
            sessions_scanned=len(learned),
            sessions_qualified=len(learned),
            calls_seen=sum(len(track.calls) for track in learned),
            repairs_found=sum(candidate.repair is not None for candidate in candidates),
            dropped_unclean=builder.dropped,
            avg_proficiency_gain=_average_gain(learned),
        ),
    )


def _task_type(tracks: Sequence[Track]) -> TaskType | None:
    """The type that all of them have, else mixed."""
    types = {track.task_type for track in tracks if track.task_type is not None}
    return types.pop() if len(types) == 1 else "mixed" if types else None


def _average_gain(tracks: Sequence[Track]) -> float | None:
    """Error rate of the last fifth minus that of the first, over the sessions that have both; None without any."""
    gains = []
    for track in tracks:
        failed = [call.has_failed for call in track.counted()]
        part = len(failed) // EARLY_SHARE
        if part:
            gains.append((sum(failed[-part:]) - sum(failed[:part])) / part)
    return sum(gains) / len(gains) if gains else None


class _TemplateBuilder:
    """Makes examples out of groups: short, neutral and clean."""

    def __init__(self, tracks: Sequence[Track], redactor: Redactor, failing: Iterable[str]) -> None:
        self._redactor = redactor
        self._rates = _error_rates(tracks)
        self._failures = Counter(call.tool for track in tracks for call in track.calls if call.has_failed)
        self._failing = {*failing, *self._failures}
        self._supplied: Counter[str] = Counter()
        self.dropped = 0

    def examples(self, candidates: Sequence[ExampleCandidate], most: int) -> tuple[Example, ...]:
        """The examples in the order of their worth: one for each group, then more for tools that sessions get wrong."""
        groups = group(candidates, self._failures)
        found: dict[str, Example] = {}
        taken: list[list[ExampleCandidate]] = [[] for _ in groups]
        for depth in range(_OF_A_FORM):
            for one, shown in zip(groups, taken, strict=True):
                is_enough = depth > 0 and (len(shown) < depth or one.tool not in self._failing)
                made = None if is_enough or len(found) >= most else self._example(one, beside=shown)
                if made is None:
                    continue
                known = found.get(made.id)
                if known is not None:
                    # Another project makes the same call.
                    made = msgspec.structs.replace(known, sources=tuple(dict.fromkeys((*known.sources, *made.sources))))
                found[made.id] = made
        return tuple(found.values())

    def _example(self, one: CandidateGroup, *, beside: list[ExampleCandidate]) -> Example | None:
        """The best candidate that is clean, from another lineage and with other arguments than those shown."""
        roots = {candidate.track.root for candidate in beside}
        arguments = [candidate.arguments for candidate in beside]
        for candidate in best_first(one, self._supplied):
            if candidate.track.root in roots or candidate.arguments in arguments:
                continue
            # A further example without an intent shows only what the first one shows.
            made = self._made(one, candidate)
            if made is not None and (made.intent or not beside):
                beside.append(candidate)
                self._supplied[candidate.track.root] += 1
                return made
            self.dropped += made is None and not beside
        return None

    def _made(self, one: CandidateGroup, candidate: ExampleCandidate) -> Example | None:
        """The example of a candidate; None if it cannot be shown."""
        call = candidate.call
        repaired = None
        if candidate.repair is not None and candidate.failed is not None:
            changed = candidate.repair.changed
            repaired = Repaired(candidate.failed.raw_arguments, signature(candidate.failed), changed)
        # Calls of one form can differ in a prefix or a unit: they do not say that this one still works.
        alike = [other for other in one.candidates if other.form.traits == candidate.form.traits]
        times = [other.time for other in alike if other.time is not None]
        made = Example(
            tool=call.tool,
            arguments=_encode(candidate.arguments).decode(),
            result=neutral_result(call),
            intent=candidate.intent,
            kind=one.kind if one.kind != "recovery" or repaired is not None else "sequence",
            pattern=self._redactor.text(candidate.form.pattern),
            support=one.support,
            sources=_sources(candidate, one),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            tier="recorded" if candidate.track.ref.agent == "seasoned" else "own",
            error_rate=self._rates.get(call.tool),
            needs=() if call.command is not None else tuple(sorted(acts_of_call(call.tool, candidate.arguments))),
            repaired=repaired,
        )
        why = unclean(made, self._redactor, project=candidate.project, allowed=HIGH_RISK)
        return None if why is not None else made


def _sources(shown: ExampleCandidate, one: CandidateGroup) -> tuple[Source, ...]:
    """The call that is shown, then one call of every other session, the newest first."""
    found = {str(shown.track.ref): shown}
    for candidate in one.candidates:
        if len(found) < _MOST_SOURCES:
            found.setdefault(str(candidate.track.ref), candidate)
    return tuple(Source(key, by.call.call_id, by.track.root, by.time) for key, by in found.items())


def _error_rates(tracks: Sequence[Track]) -> dict[str, float]:
    """The failure rate of each tool."""
    counted = Counter(call.tool for track in tracks for call in track.counted())
    failed = Counter(call.tool for track in tracks for call in track.counted() if call.has_failed)
    return {tool: failed[tool] / number for tool, number in counted.items()}


def mine_sessions(
    store: Store,
    chosen: Sequence[MinableSession],
    *,
    name: str,
    now: float,
    redactor: Redactor,
    options: MiningOptions,
    description: str = "",
    tags: Sequence[str] = (),
) -> Template | None:
    """A template of what worked in these sessions of a store; None if nothing is worth keeping."""
    refresh(store)
    projects = {one.project for one in chosen if one.project is not None}
    made = mine(
        # Only the calls of chosen sessions are loaded.
        load_tracks(store, sessions=[one.row for one in chosen]),
        name=name,
        now=now,
        redactor=redactor,
        options=options,
        written={one.key: one.written for one in chosen},
        commands={project: _commands_of_project(store, project) for project in projects},
    )
    if made is None:
        return None
    metrics = msgspec.structs.replace(made.metrics, sessions_scanned=sessions_scanned(store, options))
    about = {"description": description, "tags": tuple(sorted(set(tags)))}
    return msgspec.structs.replace(made, metrics=metrics, **about)


def _commands_of_project(store: Store, project: str) -> list[Lesson]:
    """What sessions of a project taught about its shell: the commands of its sheet, and those that repair others."""
    repairs = [one for one in lessons_about(store, project, "repair") if not one.silent]
    found = []
    for one in repairs:
        parts = commands_in(one.text) if one.way is not None and one.way.kind in _SHELL_WAYS else ()
        if len(parts) == 1:
            found.append(msgspec.structs.replace(one, key=parts[0].form, purpose=parts[0].purpose))
    return [one for one in (*found, *chosen_lines(store, project)) if not _changes_state(one)]


def _changes_state(lesson: Lesson) -> bool:
    """Whether a command changes a repository or an environment: an example of it could be taken for a request."""
    parts = commands_in(lesson.text)
    return lesson.purpose in ("install", "commit") or any(
        part.program in _OF_REPOSITORY or "install" in part.text for part in parts
    )


# Examples in a template made from one session.
FROM_ONE_SESSION = 10


def build(
    store: Store,
    *,
    name: str,
    now: float,
    redactor: Redactor,
    options: MiningOptions,
    description: str = "",
    tags: Sequence[str] = (),
    paths: Sequence[Path] = (),
) -> Template:
    """A template of what worked in the sessions of a store, or of files below `paths`; NotFound if nothing did."""
    among = sessions_below(store, paths) if paths else None
    found = [one for one in minable(store, options, now) if among is None or one.row in among]
    chosen = choose(store, found, options.max_sessions)
    made = mine_sessions(
        store, chosen, name=name, now=now, redactor=redactor, options=options, description=description, tags=tags
    )
    if made is None:
        raise NotFound(f"Nothing to learn from, and nothing was saved. {why_nothing(store, options, now, among=among)}")
    if among is not None:
        metrics = msgspec.structs.replace(made.metrics, sessions_scanned=len(among))
        made = msgspec.structs.replace(made, metrics=metrics)
    return made


def create(
    store: Store,
    session_id: int,
    *,
    name: str,
    now: float,
    redactor: Redactor,
    description: str = "",
    task_type: TaskType | None = None,
) -> Template:
    """A template of what worked in one session of any length; NotFound with the reason if nothing did.

    `task_type` overrides what the calls of the session say about its task.
    """
    track = next(load_tracks(store, sessions=[session_id]))
    made = mine(
        [track],
        name=name,
        now=now,
        redactor=redactor,
        options=MiningOptions(max_examples=FROM_ONE_SESSION, task_type=task_type),
        commands={track.project or "": _commands_of(track)},
    )
    if made is None:
        raise NotFound(
            f"Nothing to learn from in {str(track.ref)!r}: none of its calls worked, may be shown and shows how a tool "
            "is called. Nothing was saved."
        )
    return msgspec.structs.replace(made, description=description)


def _commands_of(track: Track) -> list[Lesson]:
    """The commands of one session that serve a purpose: a person chose it, so they are its lessons."""
    worked = [call.command for call in track.calls if call.command is not None and call.counts_as == "ok"]
    found = [one for command in worked for one in commands_in(command) if one.purpose != "other"]
    return [Lesson("command", one.form, one.text, one.purpose) for one in found]


def sessions_below(store: Store, paths: Sequence[Path]) -> set[int]:
    """The sessions that were read from these files, or from files in these folders."""
    places = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (as the scan names them, links not followed)
    return {
        int(row["id"])
        for source in store.rows("source.all")
        if any(source["path"] == place or source["path"].startswith(place.rstrip(os.sep) + os.sep) for place in places)
        for row in store.rows("session.of_source", {"source_id": source["id"]})
    }
