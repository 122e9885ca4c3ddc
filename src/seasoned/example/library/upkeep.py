"""Upkeep: rebuild templates from new good sessions, suspend what later calls contradict, restore what works again."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import get_args

import msgspec

from seasoned.command.tool import TaskType
from seasoned.errors import NotFound
from seasoned.example.example import AUTO_PREFIX, DAY_SECONDS, MAX_AGE_DAYS, Example, Template, ages_at
from seasoned.example.library.storage import (
    Library,
    State,
    find_example,
    load,
    newest_states,
    save,
    set_proven,
    set_state,
    snapshot,
)
from seasoned.example.mine.miner import mine_sessions
from seasoned.example.mine.outdated import has_worked, outdated
from seasoned.example.mine.selection import MinableSession, MiningOptions, choose, minable
from seasoned.redact.redactor import Redactor
from seasoned.store import Store
from seasoned.text import plural

_DEFAULTS = MiningOptions()


def auto(store: Store, *, now: float, redactor: Redactor, options: MiningOptions = _DEFAULTS) -> tuple[Template, ...]:
    """Build or refresh `auto-code`, `auto-file`, `auto-research` and `auto-mixed`; returns what was saved.

    Nothing is learned that is too old to be shown, nothing is mined for a task type whose good sessions are those that
    its template was made of, and nothing is saved that shows what the last version shows.
    """
    options = msgspec.structs.replace(options, changed_since=_changed_since(store))
    saved = []
    for task_type in get_args(TaskType):
        wanted, name = msgspec.structs.replace(options, task_type=task_type), f"{AUTO_PREFIX}{task_type}"
        young = [one for one in minable(store, wanted, now) if _is_young(one, now)]
        chosen = choose(store, young, wanted.max_sessions)
        known = _known(store, name)
        if not chosen or (known is not None and {one.key for one in chosen} <= set(known.sources)):
            continue
        made = mine_sessions(
            store,
            chosen,
            name=name,
            now=now,
            redactor=redactor,
            options=wanted,
            description=f"What worked in earlier {task_type} sessions.",
            tags=("auto",),
        )
        # A session is young by its end; single calls of a long one can still be too old.
        ends = [(example, ages_at(made, example)) for example in made.examples] if made is not None else []
        examples = tuple(example for example, end in ends if end is None or now <= end)
        if made is not None and examples and (known is None or examples != known.examples):
            saved.append(save(store, msgspec.structs.replace(made, examples=examples)))
    return tuple(saved)


def _known(store: Store, name: str) -> Template | None:
    try:
        return load(store, name)
    except NotFound:
        return None


def too_old(store: Store, *, now: float, options: MiningOptions = _DEFAULTS) -> int:
    """How many good sessions `auto` does not learn from because they ended too long ago."""
    return sum(not _is_young(one, now) for one in minable(store, options, now))


def _is_young(one: MinableSession, now: float) -> bool:
    return one.ended is None or now - one.ended <= MAX_AGE_DAYS * DAY_SECONDS


def _changed_since(store: Store) -> float | None:
    """When calls of a suspended form began to fail; the latest such time."""
    found = [state.evidence for state in newest_states(store) if isinstance(state.evidence, dict)]
    return max((one["first_failure"] for one in found if "first_failure" in one), default=None)


class StateChange(msgspec.Struct, frozen=True):
    """An example that is no longer shown, or shown again, and why."""

    example_id: str
    tool: str
    state: State
    reason: str


def settle(
    store: Store, library: Library, *, now: float, tools: Collection[str] | None = None
) -> tuple[StateChange, ...]:
    """Suspend the examples that later calls contradict, and show again those that work again.

    An example is contradicted when anything about how it is written failed in several lineages since it last worked,
    whether or not it was shown there. It is shown again as soon as a call written like it works. `tools`: only
    examples of these tools. Old examples need no state: the library hides them when read.
    """
    examples = [one for one in _examples(library) if tools is None or one.tool in tools]
    found = []
    suspended = [one for one in examples if library.state_of(one.id) == "suspended"]
    contradicted = {one.id for one, _ in outdated(store, suspended, library.vouched)}
    for one in suspended:
        state = library.states[one.id]
        known = state.evidence.get("newest_failure") if isinstance(state.evidence, dict) else None
        if one.id not in contradicted and has_worked(store, one, after=known or state.changed_at):
            reason = "Calls written like it work again."
            set_state(store, one.id, "active", reason, {"since": known}, now=now)
            found.append(StateChange(one.id, one.tool, "active", reason))
    active = [one for one in examples if library.state_of(one.id) == "active"]
    for one, failed in outdated(store, active, library.vouched):
        reason = f"Calls written like it failed in {plural(len(failed), 'session')} since one last worked."
        # What works after `newest_failure` restores it.
        evidence = {"lineages": len(failed), "first_failure": failed[0][0], "newest_failure": failed[-1][0]}
        set_state(store, one.id, "suspended", reason, evidence, now=now)
        found.append(StateChange(one.id, one.tool, "suspended", reason))
    return tuple(found)


def prove_imported(store: Store, library: Library) -> int:
    """Note which imported examples match calls that worked here: until then they come last."""
    strange = [one for one in _examples(library) if not library.is_proven(one)]
    proven = [one.id for one in strange if has_worked(store, one)]
    set_proven(store, proven)
    return len(proven)


class UpkeepResult(msgspec.Struct, frozen=True):
    """What `refresh` built, and which examples it suspended or shows again."""

    made: tuple[Template, ...]
    changed: tuple[StateChange, ...]


def refresh(store: Store, *, now: float, redactor: Redactor, options: MiningOptions = _DEFAULTS) -> UpkeepResult:
    """Bring the templates up to date with the store: rebuild those of `auto`, and judge every example."""
    # In this order: rebuild first, then judge what the new versions still hold.
    made = auto(store, now=now, redactor=redactor, options=options)
    changed = settle(store, snapshot(store, now=now), now=now)
    if any(one.state == "suspended" for one in changed):
        # Only now is it known that a convention changed: sessions with the new one may have failed often before.
        made += auto(store, now=now, redactor=redactor, options=options)
        changed += settle(store, snapshot(store, now=now), now=now)
    prove_imported(store, snapshot(store, now=now))
    return UpkeepResult(made, changed)


def _examples(library: Library) -> list[Example]:
    """Every example of the library once."""
    return list({example.id: example for template in library.templates for example in template.examples}.values())


_PLAIN_NAME = re.compile(r"[\w.:-]{1,64}\Z", re.ASCII)


def retraction(library: Library, example_ids: Collection[str]) -> str:
    """One line for a conversation that was shown these examples; empty if none of them is suspended."""
    found = [find_example(library, one) for one in sorted(set(example_ids)) if library.state_of(one) == "suspended"]
    if not found:
        return ""
    tools = sorted({example.tool for example in found})
    named = [f"`{tool}`" for tool in tools if _PLAIN_NAME.match(tool)]
    # Tool names come from sessions: only plain ones are repeated.
    what = ", ".join(named) if named and len(named) == len(tools) else "these tools"
    return (
        f"[seasoned:retract] The demonstration calls of {what} at the start of this conversation are out of date: "
        "set them aside and go by the tool's own description and by what its results say."
    )
