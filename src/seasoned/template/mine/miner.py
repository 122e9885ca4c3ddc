"""Builds templates: of the sessions of a store, of those below some paths, or of one. Their order does not matter."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from seasoned.command.risk import needs_person
from seasoned.command.tool import TaskType
from seasoned.errors import NotFound
from seasoned.insight.mistake.signature import signature
from seasoned.insight.profile import EARLY_SHARE
from seasoned.insight.track import Track
from seasoned.insight.track import tracks as load_tracks
from seasoned.redact.redactor import Redactor
from seasoned.store import Store
from seasoned.template.admission.sentence import is_named_plainly
from seasoned.template.example import (
    INTENT_CHARS,
    Example,
    ExampleKind,
    Repaired,
    Source,
    Template,
    TemplateMetrics,
    digest,
)
from seasoned.template.mine.candidate import KIND_RANK, CandidateGroup, ExampleCandidate, gather, group, in_rounds
from seasoned.template.mine.note import notes, workflows
from seasoned.template.mine.outdated import still_valid
from seasoned.template.mine.selection import (
    KnownTools,
    MiningOptions,
    WorkedCalls,
    choose,
    minable,
    minable_session_of,
    note_tools,
    refusal,
    select,
    sessions_scanned,
    why_nothing,
)
from seasoned.template.mine.share import FormSession, ShareLimits, circles_of, fair_share, form_sessions, sourced_steps
from seasoned.template.render.tokens import count_tokens
from seasoned.template.source_share import SessionSources, SourcedItem

if TYPE_CHECKING:
    from seasoned.template.anonymize.words import Vocabulary


def _harmless(candidates: Iterable[ExampleCandidate], fewest_lineages: int) -> Callable[[str], bool]:
    """A function that tells whether enough lineages take a step without the confirmation of a person."""
    firsts: dict[str, dict[str, ExampleCandidate]] = {}
    for candidate in candidates:
        firsts.setdefault(candidate.step, {}).setdefault(candidate.track.root, candidate)

    @cache
    def is_harmless(step: str) -> bool:
        plain = (one for one in firsts[step].values() if is_named_plainly(one.call.tool, is_tool=True))
        targets = (candidate.target for candidate in plain)
        found = (True for target in targets if not needs_person(target.tool, target.arguments))
        return len(list(islice(found, fewest_lineages))) == fewest_lineages

    return is_harmless


_DEFAULTS = MiningOptions()
# How many calls of a group are tried before it is dropped as unclean, and how many of one project: what is wrong with
# its calls must not keep those of other projects out.
_TRIED = 24
_TRIED_OF_SCOPE = 6
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
    sources: Mapping[str, str] | None = None,
    written: Mapping[str, float] | None = None,
    failing: Collection[str] = (),
    others: Mapping[str, float] | None = None,
    everyone: Mapping[str, Sequence[FormSession]] | None = None,
) -> Template | None:
    """A template of what worked in these sessions; None if nothing is worth keeping.

    `written`: when the files of sessions without times were written. `failing`: tools that sometimes fail in other
    sessions, and so are worth several examples. `others`: by scope, how many times more lineages there are than those
    that these sessions were chosen from. `everyone`: all sessions of these scopes, with the forms of their calls.
    """
    # Planted sessions lie in a folder together. If the folders are unknown, all sessions of an agent are one source.
    scanned, found = 0, {}
    folders, times = sources or {}, written or {}
    known: dict[str, KnownTools] = {}
    for track in tracks:
        scanned += 1
        note_tools(known, track)
        if refusal(track, options, now, times.get(str(track.ref), 0.0)) is None:
            found[str(track.ref)] = track
    found = _with_sources(found)
    experiences = [minable_session_of(track, folders.get(key)) for key, track in found.items()]
    chosen = {one.key: one for one in select(experiences, options.max_sessions, known)}
    worked = [WorkedCalls(found[key], options) for key in sorted(chosen)]
    walks = [
        list(gather(one, options, chosen[key].source, times.get(key, 0.0)))
        for one, key in zip(worked, sorted(chosen), strict=True)
    ]
    gathered = [candidate for walk in walks for candidate in walk]
    candidates = still_valid(gathered, [one.track for one in worked], times)
    # Calls that no longer work count too: the lineages that made them know the step.
    shares = _KnownMakers(sourced_steps(gathered), others or {}, *_circles(gathered, candidates, everyone or {}))
    builder = _TemplateBuilder(candidates, shares, [one.track for one in worked], redactor, options, failing)
    examples = builder.examples()
    # A note does not name its sources, so there is none about what few sources do.
    told = notes([one for one in candidates if one.pattern not in shares.circles], options, builder.is_clean)
    if not examples and not told:
        return None
    return Template(
        name=name,
        description=description,
        task_type=options.task_type or _task_type([one.track for one in worked]),
        tags=tuple(sorted(set(tags))),
        examples=examples,
        notes=told,
        workflows=workflows(
            ((walk[0].track.root, [candidate.step for candidate in walk]) for walk in walks if walk),
            fewest_lineages=options.fewest_lineages,
            limit=options.max_workflows,
            is_harmless=_harmless(gathered, options.fewest_lineages),
        ),
        sources=tuple(sorted(chosen)),
        created_at=now,
        metrics=TemplateMetrics(
            sessions_scanned=scanned,
            sessions_qualified=len(chosen),
            calls_seen=sum(len(one.track.calls) for one in worked),
            repairs_found=sum(candidate.repair is not None for candidate in gathered),
            dropped_unclean=builder.dropped,
            avg_proficiency_gain=_average_gain([one.track for one in worked]),
        ),
    )


class _KnownMakers(NamedTuple):
    """Which sources know what, to limit the share of a template that few sources get."""

    steps: Mapping[tuple[str, str], SourcedItem]
    others: Mapping[str, float]
    circles: Mapping[str, str]
    replaced: Collection[tuple[str, str]]


def _circles(
    gathered: Sequence[ExampleCandidate],
    current: Sequence[ExampleCandidate],
    everyone: Mapping[str, Sequence[FormSession]],
) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """The patterns that few sources use, and the steps for which only such are left because no common one works now."""
    circles = circles_of(gathered, everyone)
    usual, still = (
        {(one.scope, one.step) for one in some if one.pattern not in circles} for some in (gathered, current)
    )
    return circles, usual - still


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
    """Makes examples out of groups: anonymized, neutral, clean, and within the share of each source."""

    def __init__(
        self,
        candidates: Sequence[ExampleCandidate],
        shares: _KnownMakers,
        tracks: Sequence[Track],
        redactor: Redactor,
        options: MiningOptions,
        failing: Collection[str],
    ) -> None:
        self._candidates = candidates
        self._shares = shares
        self._tracks = tracks
        self._redactor = redactor
        self._options = options
        self._rates = _error_rates(tracks)
        self._failures = Counter(call.tool for track in tracks for call in track.calls if call.has_failed)
        self._failing = {*failing, *self._failures}
        self._known: dict[tuple[str, str, int], Example | None] = {}
        self.dropped = 0

    def examples(self) -> tuple[Example, ...]:
        """The examples in the order of their worth."""
        groups = in_rounds(group(self._candidates, self._options), self._failures)
        if not groups:
            return ()
        # Imported here, as the other parts that read word lists: sessions without anything to keep do not need them.
        from seasoned.template.anonymize.words import vocabulary_of

        vocabulary = vocabulary_of(self._tracks)
        sources = len({candidate.source for candidate in self._candidates})
        lineages = len(_shown_roots(groups))
        shares = self._shares
        caps = ShareLimits(self._options, sources, circles=shares.circles, replaced=shares.replaced)
        found = self._pass(groups, caps, vocabulary)
        kept, dropped = caps.by_scope, self.dropped
        allowed = fair_share(self._options, lineages, len(found))
        # If a lineage supplied too much, examples of others replace it; a smaller template allows each even less.
        # Steps that few lineages know get the share of these lineages, so that a template is never theirs alone.
        of_lineage = allowed if caps.most > allowed else None
        while True:
            caps = ShareLimits(
                self._options,
                sources,
                of_lineage,
                steps=shares.steps,
                kept=kept,
                others=shares.others,
                circles=shares.circles,
                replaced=shares.replaced,
            )
            found = self._pass(groups, caps, vocabulary)
            allowed = fair_share(self._options, lineages, len(found))
            # With very few lineages the share of each cannot shrink further.
            if lineages * self._options.max_share < 1 or min(caps.most, caps.of_lineage) <= allowed:
                break
            of_lineage = allowed
        self.dropped = dropped
        return tuple(found.values())

    def _pass(self, groups: Sequence[CandidateGroup], caps: ShareLimits, vocabulary: Vocabulary) -> dict[str, Example]:
        """One example for each group, then more for tools that sessions get wrong, within the share of each source."""
        found: dict[str, Example] = {}
        taken: dict[str, list[ExampleCandidate]] = {}
        self.dropped = 0
        for depth in range(max(1, self._options.of_pattern)):
            for one in groups:
                if len(found) == self._options.max_examples:
                    return found
                shown = taken.setdefault(one.pattern, [])
                if depth and (len(shown) < depth or one.tool not in self._failing):
                    continue
                chosen = self._example(one, caps, vocabulary, beside=shown)
                # A further example without an intent shows only what the first one shows.
                if chosen is not None and chosen[1].id not in found and (chosen[1].intent or not depth):
                    caps.take(chosen[0])
                    shown.append(chosen[0])
                    found[chosen[1].id] = chosen[1]
        return found

    def is_clean(self, text: str) -> bool:
        """Whether a note holds no secret and no order to the reader."""
        from seasoned.template.admission.injection import is_injection

        return not self._redactor.find(text) and not is_injection(text)

    def _example(
        self, one: CandidateGroup, caps: ShareLimits, vocabulary: Vocabulary, *, beside: Sequence[ExampleCandidate]
    ) -> tuple[ExampleCandidate, Example] | None:
        """The best candidate that can be cleaned, from another lineage and with other arguments than those shown."""
        roots = {candidate.track.root for candidate in beside}
        written = {candidate.call.raw_arguments for candidate in beside}
        tried: Counter[str] = Counter()
        exempt = None if beside else caps.least_supplied(one)
        found: tuple[ExampleCandidate, Example] | None = None
        for candidate in caps.ordered(one):
            if tried.total() == _TRIED:
                break
            if tried[candidate.scope] == _TRIED_OF_SCOPE:
                continue
            kind = _kind(one, candidate, self._options)
            if kind is None or not caps.has_room(candidate, exempt):
                continue
            if candidate.track.root in roots or candidate.call.raw_arguments in written:
                continue
            # Beside a call that works now, one that may no longer work would only confuse.
            if beside and candidate.is_doubtful and not beside[0].is_doubtful:
                continue
            if found is not None and (kind != found[1].kind or candidate.is_rewritten != found[0].is_rewritten):
                continue
            if not candidate.can_show:
                continue
            tried[candidate.scope] += 1
            made = self._clean(one, candidate, kind, vocabulary)
            if made is None:
                continue
            # An intent that could not be made harmless is empty now: a candidate that still has one is better.
            if found is None or made.intent:
                found = (candidate, made)
            if made.intent:
                break
        if found is None and not beside:
            self.dropped += bool(tried)
        return found

    def _clean(
        self, one: CandidateGroup, candidate: ExampleCandidate, kind: ExampleKind, vocabulary: Vocabulary
    ) -> Example | None:
        """The example of a candidate, made once for all passes; None if it cannot be cleaned."""
        from seasoned.template.admission.clean import unclean

        key = (one.pattern, str(candidate.track.ref), candidate.call.position)
        if key not in self._known:
            made = self._made(one, candidate, kind, vocabulary)
            self._known[key] = None if made is None or unclean(made, self._redactor) is not None else made
        return self._known[key]

    def _made(
        self, one: CandidateGroup, candidate: ExampleCandidate, kind: ExampleKind, vocabulary: Vocabulary
    ) -> Example | None:
        from seasoned.template.admission.clean import neutral_result, neutral_text
        from seasoned.template.anonymize.call import anonymize

        call = candidate.call
        seed = digest(str(candidate.track.ref), call.call_id, str(call.position))
        intent = neutral_text(candidate.intent, INTENT_CHARS)
        bound = anonymize(call.arguments, neutral_result(call), intent, vocabulary=vocabulary, seed=seed)
        repaired = None
        if kind == "recovery" and candidate.repair is not None and candidate.failed is not None:
            before = anonymize(candidate.failed.arguments, "", "", vocabulary=vocabulary, seed=seed)
            repaired = Repaired(
                _json(before.arguments), signature(candidate.failed), candidate.repair.changed, candidate.repair.how
            )
            if self._redactor.find(repaired.arguments + "\n" + repaired.signature):
                return None
        times = [other.time for other in one.candidates if other.time is not None]
        return Example(
            tool=call.tool,
            arguments=_json(bound.arguments),
            result=bound.result,
            intent=bound.intent,
            kind=kind,
            pattern=self._redactor.text(one.pattern),
            support=one.support,
            sources=_sources(candidate, one, self._options.max_sources),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            tier="recorded" if candidate.track.ref.agent == "seasoned" else "own",
            error_rate=self._rates.get(call.tool),
            repaired=repaired,
            # If the common way stopped working, sessions need the new one, even if few sources found it.
            circle=""
            if (candidate.scope, candidate.step) in self._shares.replaced
            else self._shares.circles.get(one.pattern, ""),
        )


def _shown_roots(groups: Sequence[CandidateGroup]) -> set[str]:
    """The lineages with at least one call that can be shown."""
    roots: set[str] = set()
    for one in groups:
        for candidate in one.candidates:
            if candidate.track.root not in roots and candidate.can_show:
                roots.add(candidate.track.root)
    return roots


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

    If there are many, those with common words come first: one of them is shown to its project.
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
    max_share=1.0,
    max_source_share=1.0,
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
        sources={one.key: one.source for one in chosen},
        written={one.key: one.written for one in chosen},
        everyone=form_sessions(store, chosen),
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
