"""Learning on the train part: which runs are tried again, and which are witnesses."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.example.example import Template
from seasoned.experiment.analysis.task_run import RunCall, TaskRun
from seasoned.experiment.run.run_store import keep_learned, load_learned, load_records
from seasoned.experiment.run.runner import AgentRun, RoundBudget
from seasoned.experiment.run.train import learn, make_train_runs, train_name, train_units, witnesses
from seasoned.experiment.task.task_file import load_tasks
from seasoned.redact.key import Secrecy
from seasoned.store import open_store
from tests.experiment.scripted import Scripted, write_tasks

SECRECY = Secrecy(b"k" * 32)


def _record(task: str, check: str, *calls: tuple[str, str]) -> TaskRun:
    made = tuple(RunCall(tool, counts_as, 1) for tool, counts_as in calls)
    return TaskRun(experiment="e", model="m", arm="train", task=task, repeat=0, check=check, calls=made)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "is_witness"),
    [
        (_record("t1", "passed", ("parcel_find", "ok")), True),
        (_record("t1", "passed", ("parcel_find", "ok"), ("weigh", "failed")), True),
        (_record("t1", "passed", ("weigh", "ok"), ("parcel_find", "ok")), False),
        (_record("t1", "failed", ("parcel_find", "ok")), False),
        (_record("gone", "passed", ("parcel_find", "ok")), False),
    ],
)
def test_only_a_run_that_did_what_was_asked_is_a_witness(tmp_path: Path, record: TaskRun, is_witness: bool) -> None:
    tasks = load_tasks(str(write_tasks(tmp_path)))
    assert (record.task in witnesses([record], tasks)) == is_witness


def test_a_task_is_tried_again_until_it_is_done(tmp_path: Path) -> None:
    file = write_tasks(tmp_path)
    tasks = load_tasks(str(file))

    def weighs_at_second_try(play: AgentRun) -> list[tuple[str, dict[str, object]]]:
        if "weight" in play.prompt:
            return [("weigh", {"weight": "20g" if play.temperature else "20"})]
        return [("parcel_find", {"parcel": "7"})]

    model = Scripted(weighs_at_second_try)
    path = tmp_path / "s.db"
    finished = make_train_runs(path, tasks, model, model="scripted", secrecy=SECRECY, budget=RoundBudget())
    with open_store(path) as store:
        records = load_records(store, train_name(tasks))
    assert finished.made == 6
    tried = [("t1", number, "failed") for number in range(4)] + [("t2", 0, "failed"), ("t2", 1, "passed")]
    assert sorted((one.task, one.repeat, one.check) for one in records) == tried
    assert [play.temperature for play in model.plays] == [0.0, 0.0, 0.7, 0.7, 0.7, 0.7]
    assert train_units(path, tasks, model="another", sample=1, secrecy=SECRECY), "each model learns by itself"


def test_what_was_learned_is_kept_and_not_learned_again(tmp_path: Path) -> None:
    tasks = load_tasks(str(write_tasks(tmp_path)))
    template = Template("train-depot", description="kept")
    with open_store(tmp_path / "s.db") as store:
        key = {"task_set": tasks.name, "tasks_digest": tasks.digest, "model": "scripted"}
        keep_learned(store, template, **key, now=1.0)
        assert load_learned(store, **key) == template
        assert learn(store, tasks, SECRECY, model="scripted", now=2.0) == template
        assert learn(store, tasks, SECRECY, model="another", now=2.0) is None
