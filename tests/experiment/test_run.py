"""The runner: what it makes, what it skips, what it keeps when it is stopped."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from seasoned.errors import NotFound, UsageError
from seasoned.example.example import Template
from seasoned.example.library.storage import Library
from seasoned.experiment.analysis.task_run import TaskRun
from seasoned.experiment.run.design import Material, arms_named, new_design
from seasoned.experiment.run.run_store import designs, keep_design, load_design, load_records
from seasoned.experiment.run.runner import AgentRun, ModelUnreachable, PlannedRun, RoundBudget, make_runs, units_of
from seasoned.experiment.task.task_file import load_tasks
from seasoned.store import open_store
from tests.experiment.scripted import Scripted, knows_by_example, many_tasks, write_tasks
from tests.torture import TORTURE

KILLS = 20 if TORTURE else 5


def _units(file: Path, arms: str = "cold,rule", **given: int) -> list[PlannedRun]:
    design = new_design(name="trial", tasks=str(file), arms=arms.split(","), **given)  # type: ignore[arg-type]
    tasks = load_tasks(str(file))
    return units_of(design, tasks, arms_named(design.arms, Library()), Material(), model="scripted")


def _stored(path: Path) -> list[TaskRun]:
    with open_store(path) as store:
        return load_records(store, "trial")


def _plain(records: list[TaskRun]) -> list[TaskRun]:
    """What must not depend on when and in which session a run was made."""
    return [msgspec.structs.replace(one, session=None, ended_at=None, latency_seconds=None) for one in records]


def test_every_model_arm_task_and_repeat_is_run_once(tmp_path: Path) -> None:
    units = _units(write_tasks(tmp_path), repeats=2)
    finished = make_runs(tmp_path / "s.db", units, Scripted())
    assert (finished.made, finished.kept, finished.left) == (6, 0, 0)
    records = _stored(tmp_path / "s.db")
    made = [(one.arm, one.task, one.repeat) for one in records]
    wanted = [(*pair, repeat) for pair in (("cold", "c1"), ("rule", "c1"), ("cold", "c2")) for repeat in range(2)]
    assert sorted(made) == sorted(wanted), "the tool of c2 has no rule to be told"
    by_arm = {one.arm: one.check for one in records if one.task == "c1"}
    assert by_arm == {"cold": "failed", "rule": "passed"}


def test_a_finished_run_has_its_calls_judged_and_its_session_named(tmp_path: Path) -> None:
    make_runs(tmp_path / "s.db", _units(write_tasks(tmp_path)), Scripted())
    cold, ruled = (one for one in _stored(tmp_path / "s.db") if one.task == "c1")
    assert [(call.tool, call.counts_as, call.is_valid) for call in cold.calls] == [("parcel_find", "failed", True)]
    assert [call.counts_as for call in ruled.calls] == ["ok"]
    assert ruled.session is not None and ruled.session.startswith("seasoned:trial: c1, rule")
    assert (ruled.usage.input, ruled.cost_usd, ruled.part) == (10, 0.001, "confirmation")
    assert cold.seed == ruled.seed


def test_a_model_that_is_gone_stops_the_round_with_what_was_saved(tmp_path: Path) -> None:
    units = _units(write_tasks(tmp_path, many_tasks(10)), "cold,rule")
    with pytest.raises(ModelUnreachable, match=r"4 of 20 runs are saved: run the same command again"):
        make_runs(tmp_path / "s.db", units, Scripted(gone_after=4))
    assert len(_stored(tmp_path / "s.db")) == 4
    assert make_runs(tmp_path / "s.db", units, Scripted()).kept == 4
    assert len(_stored(tmp_path / "s.db")) == 20


def test_a_budget_ends_the_round_and_says_so(tmp_path: Path) -> None:
    units = _units(write_tasks(tmp_path, many_tasks(10)), "cold,rule")
    cheap = make_runs(tmp_path / "s.db", units, Scripted(), budget=RoundBudget(cost_usd=0.003))
    assert (cheap.made, cheap.left) == (3, 17)
    assert cheap.reason == "the budget of 0.003 dollars is used up"
    ticks = iter(range(10_000))
    short = make_runs(
        tmp_path / "s.db", units, Scripted(), budget=RoundBudget(seconds=20), clock=lambda: float(next(ticks))
    )
    assert 0 < short.made < 17
    assert "20 seconds" in short.reason


def test_a_block_is_an_environment_with_all_its_arms(tmp_path: Path) -> None:
    write_tasks(tmp_path / "set", many_tasks(3), "a.yaml")
    other = many_tasks(3).replace("environment: depot", "environment: yard").replace('id: "n', 'id: "m')
    write_tasks(tmp_path / "set", other.replace("Note weight", "Put weight"), "b.yaml")
    units = _units(tmp_path / "set", "cold,rule")
    assert [unit.task.environment.name for unit in units] == ["depot"] * 6 + ["yard"] * 6
    assert [unit.arm for unit in units[:6]] == ["cold"] * 3 + ["rule"] * 3


def test_an_arm_that_never_shows_anything_is_left_out(tmp_path: Path) -> None:
    file = write_tasks(tmp_path)
    design = new_design(name="trial", tasks=str(file), arms=["cold", "warm"])
    material = Material(Template("empty", examples=()))
    units = units_of(design, load_tasks(str(file)), arms_named(design.arms, Library()), material, model="scripted")
    assert {unit.arm for unit in units} == {"cold"}


def test_a_design_is_kept_as_it_was_begun(tmp_path: Path) -> None:
    design = new_design(name="trial", tasks="plain", arms=["cold", "warm"])
    with open_store(tmp_path / "s.db") as store:
        keep_design(store, design, "d1", now=1.0)
        keep_design(store, design, "d1", now=2.0)
        assert load_design(store, "trial") == design
        with pytest.raises(UsageError, match=r"was started with another design \(plan\)"):
            changed = msgspec.structs.replace(design, plan=msgspec.structs.replace(design.plan, primary="success"))
            keep_design(store, changed, "d1", now=3.0)
        with pytest.raises(UsageError, match="tasks of the experiment 'trial' have changed"):
            keep_design(store, design, "d2", now=3.0)
        with pytest.raises(NotFound, match="there are trial"):
            load_design(store, "other")


def test_what_earlier_versions_stored_is_listed_and_left_out_where_its_check_broke(tmp_path: Path) -> None:
    file = write_tasks(tmp_path, many_tasks(3))
    units = _units(file, "cold,rule")
    make_runs(tmp_path / "s.db", units, Scripted(knows_by_example))
    with open_store(tmp_path / "s.db") as store:
        design = new_design(name="trial", tasks="plain", arms=["cold", "rule"])
        keep_design(store, msgspec.structs.replace(design, part="former"), "d1", now=1.0)
        with store.write():
            store.connection.execute(
                "UPDATE run SET document = json_set(document, '$.check', 'broken')"
                " WHERE ended_at IS NOT NULL AND arm = 'cold' AND task = ?",
                (units[0].task.id,),
            )
        found = load_records(store, "trial")
        assert {(one.arm, one.task) for one in found} == {
            (arm, task.id) for arm in ("cold", "rule") for task in (units[1].task, units[2].task)
        }, "a task is left out in every arm"
        assert [one.part for one, _ in designs(store)] == ["former"] == [load_design(store, "trial").part]


def _slow(play: AgentRun) -> list[tuple[str, dict[str, object]]]:
    import time

    time.sleep(0.004)
    return knows_by_example(play)


def _child(file: str, store: str) -> None:
    """What the process that is killed does: runs with a model that takes its time, telling each run that is kept."""
    make_runs(
        Path(store),
        _units(Path(file), "cold,rule"),
        Scripted(_slow),
        on_progress=lambda done, _: print(json.dumps(done), flush=True),  # noqa: T201
    )


def test_killed_again_and_again_it_comes_to_the_same_result(tmp_path: Path) -> None:
    file = write_tasks(tmp_path, many_tasks(70))
    make_runs(tmp_path / "whole.db", _units(file, "cold,rule"), Scripted())
    draw = random.Random(6)
    command = [
        sys.executable,
        "-c",
        f"from {__name__} import _child; _child({str(file)!r}, {str(tmp_path / 'cut.db')!r})",
    ]
    kills = 0
    for _ in range(KILLS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as child:
            assert child.stdout is not None
            for _ in range(draw.randint(1, 8)):
                if not child.stdout.readline():
                    break
            os.kill(child.pid, signal.SIGKILL)
            kills += child.wait() == -signal.SIGKILL
    assert kills == KILLS
    before = len(_stored(tmp_path / "cut.db"))
    assert 0 < before < 140
    make_runs(tmp_path / "cut.db", _units(file, "cold,rule"), Scripted())
    assert _plain(_stored(tmp_path / "cut.db")) == _plain(_stored(tmp_path / "whole.db"))
