"""Upkeep: rebuild templates from new good sessions, retire stale examples, suspend or restore harmful ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from seasoned.command.tool import TaskType
from seasoned.errors import NotFound
from seasoned.example.call_form import call_form_of
from seasoned.example.choose.offered import Offered
from seasoned.example.choose.ranking import is_proven
from seasoned.example.example import AUTO_PREFIX, DAY_SECONDS, MAX_AGE_DAYS, Example, Template, ages_at, is_auto
from seasoned.example.library.guard import GuardRuling, WatchedSession, drawn_rate, guard
from seasoned.example.library.storage import (
    Library,
    State,
    load,
    newest_states,
    save,
    set_effects,
    set_state,
    snapshot,
)
from seasoned.example.mine.miner import mine
from seasoned.example.mine.outdated import LAST, NEVER, has_worked, outdated
from seasoned.example.mine.selection import MinableSession, MiningOptions, choose, minable, sessions_scanned
from seasoned.outcome.track import tracks
from seasoned.redact.redactor import Redactor
from seasoned.store import Store

_DEFAULTS = MiningOptions()
_strings = msgspec.json.Decoder(tuple[str, ...]).decode


class Retirement(msgspec.Struct, frozen=True):
    """An example that is no longer shown, and why."""

    example_id: str
    tool: str
    reason: str
    evidence: dict[str, Any]


def auto(store: Store, *, now: float, redactor: Redactor, options: MiningOptions = _DEFAULTS) -> tuple[Template, ...]:
    """Build or refresh `auto-code`, `auto-file`, `auto-research` and `auto-mixed`; returns what was saved.

    Nothing is learned that is too old to be shown, nothing is mined for a task type whose good sessions are those that
    its template was made of, and nothing is saved that shows what the last version shows.
    """
    options = msgspec.structs.replace(options, changed_since=_changed_since(store))
    saved = []
    for task_type in get_args(TaskType):
        wanted, name = msgspec.structs.replace(options, task_type=task_type), f"{AUTO_PREFIX}{task_type}"
        chosen = choose(store, _young(store, wanted, now), wanted.max_sessions)
        known = _known(store, name)
        if not chosen or (known is not None and {one.key for one in chosen} <= set(known.sources)):
            continue
        mined = mine(
            tracks(store, sessions=[one.row for one in chosen]),
            name=name,
            now=now,
            redactor=redactor,
            options=wanted,
            description=f"What worked in earlier {task_type} sessions.",
            tags=("auto",),
            written={one.key: one.written for one in chosen},
        )
        # A session is young by its end; single calls of a long one can still be too old.
        made = None if mined is None else _without_old(store, mined, wanted, now)
        if made is not None and (known is None or made.examples != known.examples):
            saved.append(save(store, made))
    return tuple(saved)


def _known(store: Store, name: str) -> Template | None:
    try:
        return load(store, name)
    except NotFound:
        return None


def too_old(store: Store, *, now: float, options: MiningOptions = _DEFAULTS) -> int:
    """How many good sessions `auto` does not learn from because they ended too long ago."""
    return sum(not _is_young(one, now) for one in minable(store, options, now))


def _changed_since(store: Store) -> float | None:
    """When calls of a retired form began to fail; the latest such time."""
    found = [state.evidence for state in newest_states(store) if isinstance(state.evidence, dict)]
    return max((one["first_failure"] for one in found if "first_failure" in one), default=None)


def _young(store: Store, options: MiningOptions, now: float) -> list[MinableSession]:
    """The sessions to choose from, without those that are too old."""
    return [one for one in minable(store, options, now) if _is_young(one, now)]


def _is_young(one: MinableSession, now: float) -> bool:
    return one.ended is None or now - one.ended <= MAX_AGE_DAYS * DAY_SECONDS


def _without_old(store: Store, made: Template, options: MiningOptions, now: float) -> Template | None:
    """The template without examples that are too old, and with the number of sessions scanned."""
    ends = [(example, ages_at(made, example)) for example in made.examples]
    kept = tuple(example for example, end in ends if end is None or now <= end)
    metrics = msgspec.structs.replace(made.metrics, sessions_scanned=sessions_scanned(store, options))
    return msgspec.structs.replace(made, examples=kept, metrics=metrics) if kept else None


def changed(examples: Iterable[Example], tools: Offered) -> tuple[Retirement, ...]:
    """The examples whose tool now has another schema than when they were made."""
    return tuple(found for example in examples if (found := _changed(example, tools)) is not None)


def _changed(example: Example, tools: Offered) -> Retirement | None:
    tool = tools.get(example.tool)
    # Without a hash on both sides a change cannot be shown, and the example stays.
    if tool is None or None in (tool.schema_hash, example.schema_hash) or tool.schema_hash == example.schema_hash:
        return None
    reason = "The schema of its tool has changed since it was made."
    return Retirement(example.id, example.tool, reason, {"was": example.schema_hash, "is": tool.schema_hash})


def retire_stale(
    store: Store, library: Library, *, now: float, tools: Offered | None = None, only_auto: bool = False
) -> tuple[Retirement, ...]:
    """Retire the examples that no longer hold, each with its reason; returns what was retired.

    These are examples whose tool has another schema, and those whose form failed in several lineages since it last
    worked, whether or not it was shown there. What was retired for that and works again is shown again. `only_auto`
    leaves templates that a person built alone. Old examples are not retired here: the library hides them when read.
    """
    theirs = {example.id for one in library.templates if not is_auto(one) for example in one.examples}
    examples = [example for example in _examples(library) if not (only_auto and example.id in theirs)]
    _restore_working(store, library, examples, now)
    active = [example for example in examples if library.state_of(example.id) == "active"]
    found = {one.example_id: one for one in changed(active, tools or {})}
    for one in outdated(store, [example for example in active if example.id not in found], library.vouched):
        found[one.example.id] = Retirement(one.example.id, one.example.tool, one.reason, one.evidence)
    for retirement in found.values():
        set_state(store, retirement.example_id, "retired", retirement.reason, retirement.evidence, now=now)
    return tuple(found[example.id] for example in active if example.id in found)


def _restore_working(store: Store, library: Library, examples: Iterable[Example], now: float) -> None:
    """Show again what was retired because calls of its form failed, once one of them has worked."""
    for example in examples:
        state = library.states.get(example.id)
        form = None if state is None or state.state != "retired" else call_form_of(example.tool, example.arguments)
        failed = state.evidence.get("newest_failure") if state and isinstance(state.evidence, dict) else None
        if form is not None and failed is not None and has_worked(store, form, after=(failed, LAST)):
            set_state(store, example.id, "active", "Calls made as it shows work again.", {"since": failed}, now=now)


def prove_imported(store: Store, library: Library) -> int:
    """Note which imported examples match calls that worked here: until then they come last."""
    proven = {}
    for example in _examples(library):
        form = None if is_proven(example, library.effects) else call_form_of(example.tool, example.arguments)
        if form is not None and has_worked(store, form, after=NEVER):
            proven[example.id] = (1, library.effects.get(example.id, (0, 0))[1])
    set_effects(store, library, proven)
    return len(proven)


class UpkeepResult(msgspec.Struct, frozen=True):
    """What `refresh` built, retired and decided."""

    made: tuple[Template, ...]
    retired: tuple[Retirement, ...]
    ruled: tuple[GuardRuling, ...]


def refresh(
    store: Store, *, now: float, redactor: Redactor, options: MiningOptions = _DEFAULTS, only_auto: bool = False
) -> UpkeepResult:
    """Bring the templates up to date with the store; with `only_auto`, what a person built is left alone."""
    # In this order: rebuild first, then retire what the new versions still hold, then judge what is left.
    made = auto(store, now=now, redactor=redactor, options=options)
    retired = retire_stale(store, snapshot(store, now=now), now=now, only_auto=only_auto)
    if retired:
        # Only now is it known that a convention changed: sessions with the new one may have failed often before.
        made += auto(store, now=now, redactor=redactor, options=options)
        retired += retire_stale(store, snapshot(store, now=now), now=now, only_auto=only_auto)
    prove_imported(store, snapshot(store, now=now))
    ruled = () if only_auto else watch(store, snapshot(store, now=now), now=now)
    return UpkeepResult(made, retired, ruled)


def watch(store: Store, library: Library, *, now: float) -> tuple[GuardRuling, ...]:
    """Run the guard over the store: suspend and restore examples; returns the rulings that changed something."""
    examples = [example for example in _examples(library) if library.state_of(example.id) != "retired"]
    suspended = {key: state.changed_at for key, state in library.states.items() if state.state == "suspended"}
    shown = _shown(store)
    since = [(example.tool, suspended[example.id]) for example in examples if example.id in suspended]
    watched = [
        WatchedSession(track, ids)
        for row in sorted(shown.keys() | _later(store, since))
        # A session with an unknown block says nothing about any example.
        if (ids := shown.get(row, ())) is not None
        for track in tracks(store, sessions=[row])
    ]
    # Evidence from before an example was restored does not count against it again.
    restored = {row["example_id"]: row["changed_at"] for row in store.rows("guard.restored")}
    rulings = guard(watched, examples, suspended=suspended, since=restored, usual=_rates(store, shown))
    # Only while it is shown: what is suspended is judged by other sessions.
    set_effects(
        store,
        library,
        {one.example_id: (one.successes, round(one.failures)) for one in rulings if one.example_id not in suspended},
    )
    decided = tuple(ruling for ruling in rulings if ruling.decision != "keep")
    for ruling in decided:
        state: State = "suspended" if ruling.decision == "suspend" else "active"
        set_state(store, ruling.example_id, state, ruling.reason, ruling.evidence, now=now)
    return decided


def _examples(library: Library) -> list[Example]:
    """Every example of the library once."""
    return list({example.id: example for template in library.templates for example in template.examples}.values())


def _shown(store: Store) -> dict[int, tuple[str, ...] | None]:
    """The sessions that were given a block, by row id, with the examples in it; None if they are unknown."""
    found: dict[int, set[str]] = {}
    # A history may carry the mark of a block that this store never made.
    unknown = set()
    for row in store.rows("guard.shown"):
        ids = found.setdefault(row["id"], set())
        if row["example_ids"] is None:
            unknown.add(row["id"])
        else:
            ids.update(_strings(row["example_ids"]))
    return {row: tuple(sorted(ids)) if ids or row not in unknown else None for row, ids in found.items()}


def _later(store: Store, since: Iterable[tuple[str, float]]) -> set[int]:
    """The sessions that used one of these tools and began after its time."""
    first: dict[str, float] = {}
    for tool, time in since:
        first[tool] = min(time, first.get(tool, time))
    return {
        row["id"] for tool, time in first.items() for row in store.rows("guard.later", {"tool": tool, "after": time})
    }


def _rates(store: Store, shown: Iterable[int]) -> dict[str, float]:
    """How often calls of each tool fail in sessions that were shown nothing."""
    counts = {row["tool"]: (row["ok"], row["failed"]) for row in store.rows("guard.rates")}
    for session in shown:
        for row in store.rows("guard.rates_of", {"session_id": session}):
            # The totals hold all sessions: those that were shown something are subtracted.
            ok, failed = counts[row["tool"]]
            counts[row["tool"]] = (ok - row["ok"], failed - row["failed"])
    return {tool: drawn_rate(failed, ok + failed) for tool, (ok, failed) in counts.items() if ok + failed}
