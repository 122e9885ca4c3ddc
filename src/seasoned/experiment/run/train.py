"""Learns on the train part: tasks are run until they succeed, and the runs are mined like any other sessions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from seasoned.example.example import Template
from seasoned.example.mine.miner import mine
from seasoned.example.mine.selection import MiningOptions
from seasoned.experiment.analysis.task_run import TaskRun
from seasoned.experiment.run.design import Arm, Material, show
from seasoned.experiment.run.run_store import keep_learned, load_learned, load_records
from seasoned.experiment.run.runner import (
    OnProgress,
    PlannedRun,
    RoundBudget,
    RoundResult,
    RunAgent,
    make_runs,
)
from seasoned.experiment.task.task_file import Task, TaskSet
from seasoned.outcome.track import Track, tracks
from seasoned.redact.key import Secrecy
from seasoned.store import Store, open_store

ARM = "train"
TRIES = 4  # of each task at most, until it is done once
EXTRA_STEPS = 3  # requests that a run on the train part may make beyond what its task allows
WARMTH = 0.7  # temperature of every try after the first
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
    tasks: TaskSet,
    run_agent: RunAgent,
    *,
    model: str,
    secrecy: Secrecy,
    budget: RoundBudget,
    on_progress: OnProgress = lambda done, of: None,
) -> RoundResult:
    """Try every task of the train part until it succeeds, a few times at most."""
    made = kept = left = 0
    reason = ""
    begun = time.time()
    for number in range(TRIES):
        units = train_units(store_path, tasks, model=model, sample=number, secrecy=secrecy)
        seconds = None if budget.seconds is None else max(0.0, budget.seconds - (time.time() - begun))
        finished = make_runs(
            store_path,
            units,
            run_agent,
            budget=RoundBudget(seconds, budget.cost_usd),
            on_progress=on_progress,
        )
        made, kept, left = made + finished.made, kept + finished.kept, left + finished.left
        reason = finished.reason or reason
    return RoundResult(made=made, kept=kept, left=left, reason=reason)


def train_units(store_path: Path, tasks: TaskSet, *, model: str, sample: int, secrecy: Secrecy) -> list[PlannedRun]:
    """The runs of one round: tasks that no earlier round has done."""
    name = train_name(tasks)
    with open_store(store_path) as store:
        records = [one for one in load_records(store, name) if one.model == model and one.repeat < sample]
        # As if mined when the last run ended, so that the same runs give the same block.
        now = max((one.ended_at or 0.0 for one in records), default=0.0)
        learned = _mined(store, records, tasks, secrecy, now=now)
    done = witnesses(records, tasks)
    # Every try after the first starts with what worked before, which helps weak models.
    arm = Arm(name=ARM, shows_learned=learned is not None)
    found = []
    for task in tasks.of("train"):
        if task.id not in done:
            shown = show(arm, task, Material(learned))
            assert shown is not None, "it has no rules to say, and shows what was learned"
            found.append(
                PlannedRun(
                    experiment=name,
                    model=model,
                    task_set=tasks.name,
                    arm=ARM,
                    task=task,
                    repeat=sample,
                    shown=msgspec.structs.replace(shown, steps=shown.steps + EXTRA_STEPS),
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


def learn(store: Store, tasks: TaskSet, secrecy: Secrecy, *, model: str, now: float) -> Template | None:
    """Mine a template from the train runs of a model and store it; a stored one is used as it is."""
    key = {"task_set": tasks.name, "tasks_digest": tasks.digest, "model": model}
    found = load_learned(store, **key)
    if found is None:
        records = [one for one in load_records(store, train_name(tasks)) if one.model == model]
        found = _mined(store, records, tasks, secrecy, now=now)
        if found is not None:
            keep_learned(store, found, **key, now=now)
    return found


def _mined(
    store: Store, records: Sequence[TaskRun], tasks: TaskSet, secrecy: Secrecy, *, now: float
) -> Template | None:
    """Mine the runs that are good enough, in the same way as any sessions."""
    by_id = {task.id: task for task in tasks.of("train")}
    own = [one for one in records if one.task in by_id]
    good = [one for one in own if _is_witness(one, by_id[one.task])]
    failing = {call.tool for one in own for call in one.calls if call.counts_as == "failed"}
    return mine(
        map(_until_done, _tracks(store, good)),
        name=f"train-{tasks.name}",
        now=now,
        redactor=secrecy.redactor(),
        options=_OPTIONS,
        failing=failing,
    )


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
