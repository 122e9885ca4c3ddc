"""Learns on the train part: tasks are run until they succeed, and the runs are mined like any other sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from seasoned.experiment.analysis.task_run import TaskRun
from seasoned.experiment.run.design import Arm, Design, Material, Role, show
from seasoned.experiment.run.run_store import keep_material, load_material, load_records
from seasoned.experiment.run.runner import (
    Clock,
    PlannedRun,
    RoundBudget,
    RoundProgress,
    RoundResult,
    RunAgent,
    make_runs,
    seed_of,
)
from seasoned.experiment.task.task_file import Part, Task, TaskSet
from seasoned.outcome.track import Track, tracks
from seasoned.redact.key import Secrecy
from seasoned.redact.redactor import Redactor
from seasoned.store import Store, open_store
from seasoned.template.example import Template
from seasoned.template.mine.miner import mine
from seasoned.template.mine.selection import MiningOptions

ARM = "train"
RETRIES = 3  # requests that a run on the train part may make beyond what its task allows
WARMTH = 0.7  # temperature of every try after the first
_TRAIN = Arm(name=ARM, retries=RETRIES)
# Every try after the first starts with what worked before, which helps weak models.
_AGAIN = Arm(name=ARM, role="good", retries=RETRIES)
_OPTIONS = MiningOptions(
    min_messages=0,
    max_sessions=400,
    max_error_rate=0.9,
    max_examples=400,
    quiet_seconds=0.0,
)


def train_name(tasks: TaskSet) -> str:
    """The name under which the runs of a train part are kept: all experiments on the same tasks share them."""
    return f"train-{tasks.name}-{tasks.digest[:8]}"


def make_train_runs(
    store_path: Path,
    design: Design,
    tasks: TaskSet,
    run_agent: RunAgent,
    *,
    model: str,
    secrecy: Secrecy,
    parts: Sequence[Part] = ("train", "former"),
    budget: RoundBudget | None = None,
    parallel: int = 1,
    clock: Clock,
    on_progress: Callable[[RoundProgress], None] = lambda progress: None,
) -> RoundResult:
    """Try every task of the train part until it succeeds, at most as often as the design allows."""
    made = kept = left = 0
    reason = ""
    begun = clock()
    given = budget or RoundBudget()
    for sample in range(design.samples):
        units = train_units(store_path, design, tasks, model=model, sample=sample, parts=parts, secrecy=secrecy)
        seconds = None if given.seconds is None else max(0.0, given.seconds - (clock() - begun))
        finished = make_runs(
            store_path,
            units,
            run_agent,
            budget=RoundBudget(seconds, given.cost_usd),
            parallel=parallel,
            clock=clock,
            on_progress=on_progress,
        )
        made, kept, left = made + finished.made, kept + finished.kept, left + finished.left
        reason = finished.reason or reason
    return RoundResult(made=made, kept=kept, left=left, reason=reason)


def train_units(
    store_path: Path,
    design: Design,
    tasks: TaskSet,
    *,
    model: str,
    sample: int,
    secrecy: Secrecy,
    parts: Sequence[Part] = ("train", "former"),
) -> list[PlannedRun]:
    """The runs of one round: tasks that no earlier round has done."""
    name = train_name(tasks)
    with open_store(store_path) as store:
        records = [one for one in load_records(store, name) if one.model == model and one.repeat < sample]
        redactor = secrecy.redactor()
        # As if mined when the last run ended, so that the same runs give the same block.
        now = max((one.ended_at or 0.0 for one in records), default=0.0)
        so_far = {part: _mined(store, records, tasks.of(part), redactor, name=part, now=now) for part in parts}
    done = witnesses(records, tasks)
    found = []
    for part in parts:
        learned = so_far[part]
        arm, material = (_TRAIN, Material()) if learned is None else (_AGAIN, Material({"good": learned}))
        for task in tasks.of(part):
            if task.id in done:
                continue
            shown = show(arm, task, material)
            assert shown is not None, "what is meant as a start always has something to say"
            found.append(
                PlannedRun(
                    experiment=name,
                    model=model,
                    task_set=tasks.name,
                    arm=ARM,
                    bank="",
                    task=task,
                    repeat=sample,
                    shown=shown,
                    seed=seed_of(design.seed, task, sample),
                    temperature=WARMTH if sample else 0.0,
                )
            )
    return found


def witnesses(records: Sequence[TaskRun], tasks: TaskSet) -> set[str]:
    """The tasks that were done well enough to learn from."""
    by_id = {task.id: task for task in tasks.tasks}
    return {one.task for one in records if one.task in by_id and _is_witness(one, by_id[one.task])}


def _is_witness(record: TaskRun, task: Task) -> bool:
    """Whether a run did what was asked and nothing else: other successful calls would teach the wrong thing."""
    asked = {one.called for one in task.check if one.called is not None}
    worked = {call.tool for call in record.calls if call.counts_as == "ok"}
    return record.check == "passed" and (not asked or len(asked) < len(task.check) or worked <= asked)


def learn(store: Store, tasks: TaskSet, secrecy: Secrecy, *, model: str, now: float) -> dict[Role, Template]:
    """Mine templates from the train runs of a model and store them; stored ones are used as they are."""
    key = {"task_set": tasks.name, "tasks_digest": tasks.digest, "model": model}
    known = load_material(store, **key)
    if known:
        return known
    records = [one for one in load_records(store, train_name(tasks)) if one.model == model]
    redactor = secrecy.redactor()
    found: dict[Role, Template] = {}
    good = _mined(store, records, tasks.of("train"), redactor, name=f"train-{tasks.name}", now=now)
    stale = _mined(store, records, tasks.of("former"), redactor, name=f"former-{tasks.name}", now=now)
    if good is not None:
        found["good"] = good
    if stale is not None:
        found["stale"] = stale
    keep_material(store, found, **key, now=now)
    return found


def _mined(
    store: Store, records: Sequence[TaskRun], tasks: Sequence[Task], redactor: Redactor, *, name: str, now: float
) -> Template | None:
    """Mine the runs that are good enough, in the same way as any sessions."""
    by_id = {task.id: task for task in tasks}
    good = [one for one in records if one.task in by_id and _is_witness(one, by_id[one.task])]
    failing = {call.tool for one in records if one.task in by_id for call in one.calls if call.counts_as == "failed"}
    tracks = map(_until_done, _tracks(store, good))
    return mine(tracks, name=name, now=now, redactor=redactor, options=_OPTIONS, failing=failing)


def _until_done(track: Track) -> Track:
    """A run whose check passed, up to its last call that worked: a weak model does not notice that it is done."""
    last = max((at for at, call in enumerate(track.calls) if call.counts_as == "ok"), default=-1)
    return msgspec.structs.replace(track, calls=track.calls[: last + 1])


def _tracks(store: Store, records: Sequence[TaskRun]) -> Iterator[Track]:
    rows = []
    for record in records:
        agent, _, native_id = (record.session or "").partition(":")
        row = store.row("session.find_ref", {"agent": agent, "native_id": native_id})
        if row is not None:
            rows.append(int(row["id"]))
    return tracks(store, sessions=rows)
