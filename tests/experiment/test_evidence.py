"""`make evidence` without a model: what sessions are shown of the invented histories, the runs, and the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tools.evidence import project, service
from tools.evidence.page import ABOUT, ModelRuns, below_sentence, evidence_page
from tools.evidence.study import STUDIES, Learned, StudyArm, design_of, planned_runs, task_set

from seasoned.command.written import written
from seasoned.config import load
from seasoned.errors import UsageError
from seasoned.experiment.analysis.analyse import AnalysisPlan, analyse
from seasoned.experiment.analysis.contrast import Contrast
from seasoned.experiment.analysis.task_run import TaskRun
from seasoned.experiment.run.run_store import keep_design, load_records
from seasoned.experiment.run.runner import AgentRun, ModelUnreachable, make_runs
from seasoned.lesson.project_lessons import DEFAULTS
from seasoned.store import open_store
from tests.experiment.scripted import Scripted

MODEL = "scripted"
TOOLS = {tool.name: tool for one in service.SERVICES for tool in one.tools}
STEADY, CHANGED = StudyArm("warm", "steady"), StudyArm("warm-changed", "changed")


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Learned]:
    home = tmp_path_factory.mktemp("evidence")
    return home, Learned(load(), home, is_small=True)


def shown_calls(warm: bytes) -> Iterator[tuple[service.ServiceTool, str]]:
    """The calls of a block: each tool with what its argument was given."""
    for message in json.loads(warm or b"[]"):
        for part in message["parts"]:
            if part["part_kind"] == "tool-call":
                tool = TOOLS[part["tool_name"]]
                yield tool, json.loads(part["args"])[tool.argument]


def test_after_a_change_no_session_is_shown_the_former_way(learned: tuple[Path, Learned]) -> None:
    study, (_, one) = STUDIES["tools"], learned
    # A small model is shown the tool with whose words its task agrees: at least two in three. A task more or less
    # depends on the numbers in the calls that were learned: one at 12:20 also agrees with an example of 12 April.
    for arm in (STEADY, CHANGED):
        starts = {task.id: one.start(study, arm, task) for task in study.tasks(2)}
        calls = [call for start in starts.values() for call in shown_calls(start.warm)]
        assert [value for tool, value in calls if not re.fullmatch(tool.like, value)] == []
        own = [name for name, start in starts.items() if name.rpartition("-")[0] in _shown_tools(start.warm)]
        assert len(own) >= 27, f"{len(own)} of 40 tasks are shown their tool"


def _shown_tools(warm: bytes) -> set[str]:
    return {tool.name for tool, _ in shown_calls(warm)}


def test_a_sheet_never_names_a_former_command_and_follows_most_changes(learned: tuple[Path, Learned]) -> None:
    study, (_, one) = STUDIES["projects"], learned
    missed: dict[str, set[str]] = {"steady": set(), "changed": set()}
    for arm in study.arms[1:]:
        assert arm.history is not None
        for task, made in zip(study.tasks(1), _commands(), strict=True):
            text = one.start(study, arm, task).instructions
            former, now = made
            assert f"`{former}`" not in text
            if f"`{now}`" not in text:
                missed[arm.history].add(now)
    # What every agent tries first is said only where sessions first got it wrong: after the change.
    obvious = {now for now in missed["steady"] if written(now)[0].form in DEFAULTS}
    assert 0 < len(obvious) <= 11
    assert len(missed["steady"] - obvious) <= 1
    assert len(missed["changed"]) <= 4


def _commands() -> list[tuple[str, str]]:
    return [pair for one in project.PROJECTS for pair in zip(one.formerly, one.now, strict=True)]


def copies(play: AgentRun) -> Sequence[tuple[str, dict[str, Any]]]:
    """Knows how to write only what it was shown: it has the right call where an example of the tool is in its block."""
    (task,) = [one for one in STUDIES["tools"].tasks(1) if one.prompt == play.prompt]
    (asked,) = task.check
    ((argument, wanted),) = asked.with_.items()
    assert asked.called is not None
    return [(asked.called, {argument: wanted if asked.called in _shown_tools(play.warm) else "?"})]


def test_a_study_that_is_broken_off_goes_on_and_its_page_says_what_came_out(learned: tuple[Path, Learned]) -> None:
    study, (home, one) = STUDIES["tools"], learned
    tasks = task_set(study, 1)
    design = design_of(study, tasks, study.arms, minutes=5, now=1.0)
    path = home / "runs" / "seasoned.db"
    path.parent.mkdir(exist_ok=True)
    with open_store(path) as store:
        keep_design(store, design, tasks.digest, now=1.0)
    runs = list(planned_runs(study, tasks, design, one, model=MODEL))
    with pytest.raises(ModelUnreachable):
        make_runs(path, runs, Scripted(copies, gone_after=30))
    done = make_runs(path, list(planned_runs(study, tasks, design, one, model=MODEL)), Scripted(copies))
    assert (done.kept, done.made, done.left) == (30, 50, 0)
    with open_store(path) as store:
        assert len(load_records(store, "tools")) == 80
        changed = msgspec.structs.replace(design, plan=AnalysisPlan(contrasts=(Contrast("warm", "placebo"),)))
        with pytest.raises(UsageError, match="cannot be changed"):
            keep_design(store, changed, tasks.digest, now=2.0)
    about = ModelRuns(name=MODEL, model=MODEL, size=0, versions="", machine="", minutes=5, begun_at=done.made * 1e9)
    (home / ABOUT).write_bytes(msgspec.json.encode(about))
    page = evidence_page([home])
    assert "20 tasks in the arms cold, warm, warm-changed, placebo: 80 runs" in page
    assert "Made: 80 of 80 runs, on 20 tasks." in page
    assert "warm is better than cold" in page
    assert "After the change warm-changed is not below cold" in page
    # The other study was never begun, and its part says so.
    assert "Not run: No experiment 'projects'" in page
    # On a page that has runs of another time and another model, those stay as they are.
    earlier = [f"### {name}, {{0}}\n\nEarlier: {name}.\n" for name in ("tools", "projects")]
    parts = [f"## {name}\n\nOf {name}.\n\n" + "\n".join(earlier).format(name) for name in ("large", MODEL)]
    merged = evidence_page([home], "# Head\n\n" + "\n".join(parts))
    assert merged.index("## large\n") < merged.index(f"## {MODEL}\n") and merged.count("\n## ") == 3
    assert merged.count("Earlier: projects.") == 2 and merged.count("Earlier: tools.") == 1
    assert evidence_page([home], merged) == merged, "written again it is the same"


def runs_of(arm: str, passed: str) -> list[TaskRun]:
    return [
        TaskRun(
            experiment="x", model=MODEL, arm=arm, task=f"t{at}", repeat=0, check="passed" if one == "1" else "failed"
        )
        for at, one in enumerate(passed)
    ]


@pytest.mark.parametrize(
    ("warm", "cold", "said"),
    [
        ("1" * 18 + "00", "0" * 20, "a loss of 10 points is excluded, as registered"),
        ("1110000000", "0001110000", "but a loss of 10 points is not excluded"),
        ("1000000000", "1110000000", "is below cold (10.0 % against 30.0 %): what was registered does not hold"),
    ],
)
def test_whether_warm_is_below_cold_is_said_by_the_registered_rule(warm: str, cold: str, said: str) -> None:
    plan = AnalysisPlan(contrasts=(Contrast("warm", "cold"),), primary="success")
    (effect,) = analyse([*runs_of("warm", warm), *runs_of("cold", cold)], plan).effects
    assert said in below_sentence(effect, 0.1)
