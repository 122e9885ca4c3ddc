"""Builds templates: of the sessions of a store, of those below some paths, or of one. Their order does not matter."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from seasoned.admission import without_remarks
from seasoned.command.tool import TaskType
from seasoned.errors import NotFound
from seasoned.example.example import Example, ExampleKind, Repaired, Source, Template, TemplateMetrics
from seasoned.example.mine.candidate import (
    KIND_RANK,
    CandidateGroup,
    ExampleCandidate,
    best_first,
    gather,
    group,
    in_rounds,
)
from seasoned.example.mine.outdated import still_valid
from seasoned.example.mine.selection import (
    MiningOptions,
    WorkedCalls,
    choose,
    minable,
    minable_session_of,
    refusal,
    select,
    sessions_scanned,
    why_nothing,
)
from seasoned.example.neutral import neutral_result, neutral_text, unclean
from seasoned.lesson.failure.signature import signature
from seasoned.lesson.session_sources import SessionSources
from seasoned.outcome.track import Track
from seasoned.outcome.track import tracks as load_tracks
from seasoned.redact.redactor import Redactor
from seasoned.report.profile import EARLY_SHARE
from seasoned.store import Store
from seasoned.text import count_tokens

_DEFAULTS = MiningOptions()
# How many calls of a group are tried before it is dropped as unclean.
_TRIED = 24
_encode = msgspec.json.Encoder(order="sorted").encode


def mine(
    tracks: Iterable[Track],
    *,
    name: str,
    now: float,
    redactor: Redactor,
    options: MiningOptions = _DEFAULTS,
    description: str = "",
    tags: Sequence[str] = (),
    written: Mapping[str, float] | None = None,
    failing: Iterable[str] = (),
) -> Template | None:
    """A template of what worked in these sessions; None if nothing is worth keeping.

    `written`: when the files of sessions without times were written. `failing`: tools that sometimes fail in other
    sessions, and so are worth several examples.
    """
    scanned, found = 0, {}
    times = written or {}
    for track in tracks:
        scanned += 1
        if refusal(track, options, now, times.get(str(track.ref), 0.0)) is None:
            found[str(track.ref)] = track
    found = _with_sources(found)
    chosen = sorted(one.key for one in select(map(minable_session_of, found.values()), options.max_sessions))
    worked = [WorkedCalls(found[key], options) for key in chosen]
    gathered = [
        candidate
        for one, key in zip(worked, chosen, strict=True)
        for candidate in gather(one, options, times.get(key, 0.0))
    ]
    learned = [one.track for one in worked]
    builder = _TemplateBuilder(learned, redactor, options, failing)
    examples = builder.examples(still_valid(gathered, learned, times))
    if not examples:
        return None
    return Template(
        name=name,
        description=description,
        task_type=options.task_type or _task_type(learned),
        tags=tuple(sorted(set(tags))),
        examples=examples,
        sources=tuple(chosen),
        created_at=now,
        metrics=TemplateMetrics(
            sessions_scanned=scanned,
            sessions_qualified=len(chosen),
            calls_seen=sum(len(track.calls) for track in learned),
            repairs_found=sum(candidate.repair is not None for candidate in gathered),
            dropped_unclean=builder.dropped,
            avg_proficiency_gain=_average_gain(learned),
        ),
    )


def _with_sources(tracks: Mapping[str, Track]) -> dict[str, Track]:
    """The tracks, with one lineage for sessions that copy each other."""
    witnesses, found = SessionSources(), {}
    for key, track in sorted(tracks.items()):
        task = next((call.intent for call in track.calls if call.intent), "")
        name = witnesses.name(track.root, task, (f"{call.tool} {call.raw_arguments}" for call in track.calls))
        found[key] = track if name == track.root else msgspec.structs.replace(track, root=name)
    return found


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

    def __init__(
        self, tracks: Sequence[Track], redactor: Redactor, options: MiningOptions, failing: Iterable[str]
    ) -> None:
        self._redactor = redactor
        self._options = options
        self._rates = _error_rates(tracks)
        self._failures = Counter(call.tool for track in tracks for call in track.calls if call.has_failed)
        self._failing = {*failing, *self._failures}
        self._supplied: Counter[str] = Counter()
        self.dropped = 0

    def examples(self, candidates: Sequence[ExampleCandidate]) -> tuple[Example, ...]:
        """The examples in the order of their worth: one for each group, then more for tools that sessions get wrong."""
        groups = in_rounds(group(candidates, self._options), self._failures)
        found: dict[str, Example] = {}
        taken: list[list[ExampleCandidate]] = [[] for _ in groups]
        for depth in range(max(1, self._options.of_pattern)):
            for one, shown in zip(groups, taken, strict=True):
                if depth and (len(shown) < depth or one.tool not in self._failing):
                    continue
                chosen = self._example(one, beside=shown)
                # A further example without an intent shows only what the first one shows.
                if chosen is None or (depth and not chosen[1].intent):
                    continue
                candidate, made = chosen
                known = found.get(made.id)
                if known is not None:
                    # Another project makes the same call.
                    sources = tuple(dict.fromkeys((*known.sources, *made.sources)))
                    found[made.id] = msgspec.structs.replace(known, sources=sources)
                elif len(found) < self._options.max_examples:
                    found[made.id] = made
                else:
                    continue
                shown.append(candidate)
                self._supplied[candidate.track.root] += 1
        return tuple(found.values())

    def _example(
        self, one: CandidateGroup, *, beside: Sequence[ExampleCandidate]
    ) -> tuple[ExampleCandidate, Example] | None:
        """The best candidate that is clean, from another lineage and with other arguments than those shown."""
        roots = {candidate.track.root for candidate in beside}
        written = {candidate.call.raw_arguments for candidate in beside}
        tried = 0
        found: tuple[ExampleCandidate, Example] | None = None
        for candidate in best_first(one.kind, one.candidates, self._supplied, one.common):
            kind = _kind(one, candidate, self._options)
            if kind is None or candidate.track.root in roots or candidate.call.raw_arguments in written:
                continue
            # Beside a call that works now, one that may no longer work would only confuse.
            if beside and candidate.is_doubtful and not beside[0].is_doubtful:
                continue
            if found is not None and (kind != found[1].kind or candidate.is_rewritten != found[0].is_rewritten):
                continue
            if not candidate.can_show:
                continue
            tried += 1
            made = self._made(one, candidate, kind)
            # An intent that could not be made harmless is empty now: a candidate that still has one is better.
            if made is not None and (found is None or made.intent):
                found = (candidate, made)
            if tried == _TRIED or (found is not None and found[1].intent):
                break
        if found is None and not beside:
            self.dropped += bool(tried)
        return found

    def _made(self, one: CandidateGroup, candidate: ExampleCandidate, kind: ExampleKind) -> Example | None:
        """The example of a candidate; None if it cannot be shown."""
        call = candidate.call
        repaired = None
        if kind == "recovery" and candidate.repair is not None and candidate.failed is not None:
            repaired = Repaired(
                candidate.failed.raw_arguments,
                signature(candidate.failed),
                candidate.repair.changed,
            )
        times = [other.time for other in one.candidates if other.time is not None]
        made = Example(
            tool=call.tool,
            arguments=_json(without_remarks(call.tool, call.arguments)),
            result=neutral_result(call),
            intent=neutral_text(candidate.intent),
            kind=kind,
            pattern=self._redactor.text(one.pattern),
            support=one.support,
            sources=_sources(candidate, one, self._options.max_sources),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            tier="recorded" if candidate.track.ref.agent == "seasoned" else "own",
            error_rate=self._rates.get(call.tool),
            repaired=repaired,
        )
        return None if unclean(made, self._redactor, project=candidate.project) is not None else made


def _json(value: dict[str, object]) -> str:
    return _encode(value).decode()


def _kind(one: CandidateGroup, candidate: ExampleCandidate, options: MiningOptions) -> ExampleKind | None:
    """The kind of one candidate, which may be lower than that of its group."""
    kinds = set(candidate.kinds)
    if one.support >= options.fewest_lineages:
        kinds.add("sequence")
    if not kinds:
        return None
    best = min(kinds, key=KIND_RANK.__getitem__)
    return one.kind if KIND_RANK[one.kind] > KIND_RANK[best] else best


def _sources(shown: ExampleCandidate, one: CandidateGroup, limit: int) -> tuple[Source, ...]:
    """The call that is shown, then one call of every other session, the newest first.

    If there are many, those with common words come first.
    """
    found = {str(shown.track.ref): shown}

    def rank(other: ExampleCandidate) -> tuple[Any, ...]:
        strange = 0 if one.common is None else len(other.words - one.common)
        return strange, -other.moment[0], str(other.track.ref), other.call.position

    for candidate in sorted(one.candidates, key=rank):
        if len(found) == limit:
            break
        found.setdefault(str(candidate.track.ref), candidate)
    return tuple(Source(key, by.call.call_id, by.track.root, by.time) for key, by in found.items())


def _error_rates(tracks: Sequence[Track]) -> dict[str, float]:
    """The failure rate of each tool."""
    failed: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for track in tracks:
        for call in track.counted():
            counted[call.tool] += 1
            failed[call.tool] += call.has_failed
    return {tool: failed[tool] / number for tool, number in counted.items()}


# Examples in a template made from one session.
FROM_ONE_SESSION = 10
_ONE_SESSION = MiningOptions(
    min_messages=0,
    max_sessions=1,
    max_error_rate=1.0,
    max_examples=FROM_ONE_SESSION,
    quiet_seconds=0.0,
    allow_unsuccessful=True,
    fewest_lineages=1,
)


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
    budget: int | None = None,
) -> Template:
    """A template of what worked in the sessions of a store, or of files below `paths`; NotFound if nothing did."""
    among = sessions_below(store, paths) if paths else None
    found = [one for one in minable(store, options, now) if among is None or one.row in among]
    chosen = choose(store, found, options.max_sessions)
    made = mine(
        # Only the calls of chosen sessions are loaded.
        load_tracks(store, sessions=[one.row for one in chosen]),
        name=name,
        now=now,
        redactor=redactor,
        options=options,
        description=description,
        tags=tags,
        written={one.key: one.written for one in chosen},
    )
    if made is None:
        raise NotFound(f"Nothing to learn from, and nothing was saved. {why_nothing(store, options, now, among=among)}")
    scanned = sessions_scanned(store, options) if among is None else len(among)
    metrics = msgspec.structs.replace(made.metrics, sessions_scanned=scanned)
    made = msgspec.structs.replace(made, metrics=metrics)
    return made if budget is None else within(made, budget)


def create(
    store: Store,
    session_id: int,
    *,
    name: str,
    now: float,
    redactor: Redactor,
    description: str = "",
    tags: Sequence[str] = (),
    max_examples: int = FROM_ONE_SESSION,
    task_type: TaskType | None = None,
) -> Template:
    """A template of what worked in one session of any length; NotFound with the reason if nothing did.

    `task_type` overrides what the calls of the session say about its task.
    """
    track = next(load_tracks(store, sessions=[session_id]))
    options = msgspec.structs.replace(_ONE_SESSION, max_examples=max_examples)
    reason = refusal(track, options, now)
    made = mine([track], name=name, now=now, redactor=redactor, options=options, description=description, tags=tags)
    if made is None:
        why = reason or "none of its calls can be shown"
        raise NotFound(f"Nothing to learn from in {str(track.ref)!r} ({why}). Nothing was saved.")
    return made if task_type is None else msgspec.structs.replace(made, task_type=task_type)


def within(template: Template, budget: int) -> Template:
    """The template with as many of its best examples as fit into the budget of tokens."""
    kept = []
    for example in template.examples:
        budget -= count_tokens(f"{example.intent}\n{example.tool}\n{example.arguments}\n{example.result}")
        if budget < 0:
            break
        kept.append(example)
    if not kept:
        raise NotFound("No example fits into the budget, and nothing was saved. Try a larger --budget.")
    return msgspec.structs.replace(template, examples=tuple(kept))


def sessions_below(store: Store, paths: Sequence[Path]) -> set[int]:
    """The sessions that were read from these files, or from files in these folders."""
    places = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (as the scan names them, links not followed)
    return {
        int(row["id"])
        for source in store.rows("source.all")
        if any(source["path"] == place or source["path"].startswith(place.rstrip(os.sep) + os.sep) for place in places)
        for row in store.rows("session.of_source", {"source_id": source["id"]})
    }
