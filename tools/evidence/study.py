"""The experiments: what a new session is shown of each history, by the way that any session takes, and the runs of it.

Histories are scanned, judged, mined and gathered into sheets as those of a user are, and `begin` decides what a session
starts with. The arms differ in nothing but the history behind them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from tools.evidence import project, service
from tools.evidence.history import AFTER, BEFORE, History, write_histories

from seasoned.app.stores import make_redactor, scan_into_store
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config, WarmSettings
from seasoned.example.library.storage import library_for
from seasoned.example.library.upkeep import refresh
from seasoned.example.provision import Begun, BlockRequest, provision
from seasoned.example.render import placebo, render
from seasoned.experiment.analysis.analyse import AnalysisPlan
from seasoned.experiment.analysis.contrast import POWER, Contrast, TestRule, smallest_by_sign
from seasoned.experiment.run.design import INSTRUCTIONS, Design, Registration, RunStart
from seasoned.experiment.run.runner import PlannedRun
from seasoned.experiment.task.task_file import Task, TaskSet
from seasoned.store import Store, open_store

PRIMARY = "success"  # that the call which was asked for was made, by the check of the task
MARGIN = 0.1
_FORMAT = "pydantic-ai"


class StudyArm(msgspec.Struct, frozen=True):
    """One way to begin, and the history that it knows; cold knows none."""

    name: str
    history: History | None = None
    is_placebo: bool = False


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of one kind with the arms that are compared on them, those that matter most first."""

    name: str
    arms: tuple[StudyArm, ...]
    contrasts: tuple[Contrast, ...]
    not_below: Contrast
    tasks: Callable[[int], tuple[Task, ...]]
    is_in_project: bool = False  # whether sessions see the sheet of their project, or a block of examples
    ways: tuple[str, ...] = (service.ODD, service.PLAIN)  # tags that the results are also shown by
    below_when: str = "After the change "


STUDIES = {
    one.name: one
    for one in (
        Study(
            name="tools",
            arms=(
                StudyArm("cold"),
                StudyArm("warm", "steady"),
                StudyArm("warm-changed", "changed"),
                StudyArm("placebo", "steady", is_placebo=True),
            ),
            contrasts=(Contrast("warm", "cold"), Contrast("warm-changed", "cold"), Contrast("warm", "placebo")),
            not_below=Contrast("warm-changed", "cold"),
            tasks=service.tasks,
        ),
        Study(
            name="projects",
            arms=(StudyArm("cold"), StudyArm("sheet", "steady"), StudyArm("sheet-changed", "changed")),
            contrasts=(Contrast("sheet", "cold"), Contrast("sheet-changed", "cold")),
            not_below=Contrast("sheet-changed", "cold"),
            tasks=project.tasks,
            is_in_project=True,
        ),
    )
}


class Learned:
    """The stores of the histories, each made when it is first needed and used again when a run goes on."""

    def __init__(self, config: Config, home: Path, *, is_small: bool) -> None:
        self._config, self._home = config, home
        self._is_small = is_small
        self._stores: dict[str, Store] = {}

    def _store(self, arm: StudyArm) -> Store:
        assert arm.history is not None, "cold knows no history"
        if str(arm.history) not in self._stores:
            self._stores[str(arm.history)] = _learn(self._config_of(arm), arm.history)
        return self._stores[str(arm.history)]

    def _config_of(self, arm: StudyArm) -> Config:
        return msgspec.structs.replace(self._config, home=self._home / str(arm.history))

    def start(self, study: Study, arm: StudyArm, task: Task) -> RunStart:
        """What a run begins with; an arm that has nothing to show for a task begins cold, as a session would."""
        about = task.environment.about
        shown = RunStart(instructions=INSTRUCTIONS.format(about=about), steps=task.steps)
        if arm.history is None:
            return shown
        if arm.is_placebo:
            return self._placebo(arm, task, shown)
        begun = self._begin(study, arm, task)
        if begun.rendered is None:
            return shown
        if study.is_in_project:
            # As a hook adds it: a text behind what the agent says of itself.
            assert begun.content is not None
            return msgspec.structs.replace(shown, instructions=f"{shown.instructions}\n\n{begun.content.decode()}")
        return msgspec.structs.replace(shown, rendered=begun.rendered, template=begun.template or "")

    def _begin(self, study: Study, arm: StudyArm, task: Task) -> Begun:
        store, config = self._store(arm), self._config_of(arm)
        name = session_id(study, task, is_for_task=self._is_small)
        settings = WarmSettings()
        if study.is_in_project:
            session = NewSession(conversation=name, format="text", folder=project.folder_of(task))
        else:
            session = NewSession(
                conversation=name,
                format=_FORMAT,
                task=self._words(task),
                tools=_offered(task),
                is_small=self._is_small,
            )
        return begin(store, config, session, settings, now=time.time())

    def _words(self, task: Task) -> str | None:
        """What a block is chosen by beside the tools. A small model needs examples of the one tool that it is to call.

        A larger one can tell examples of several tools apart; one block for a service is read once for all its tasks.
        """
        return task.prompt if self._is_small else None

    def _placebo(self, arm: StudyArm, task: Task, shown: RunStart) -> RunStart:
        """As many turns of the same length as the block of the warm arm, without anything about the tools."""
        store = self._store(arm)
        made = provision(
            [],
            library=library_for(store, None, now=time.time()),
            asked=BlockRequest(
                tools=_offered(task),
                task=self._words(task),
                format=_FORMAT,
                is_small=self._is_small,
                conversation=session_id(STUDIES["tools"], task, is_for_task=self._is_small),
            ),
        )
        if made.block is None:
            return shown
        block = placebo(made.block)
        return msgspec.structs.replace(shown, rendered=render(block, _FORMAT, "messages"), template=block.template)


def _learn(config: Config, history: History) -> Store:
    """The store of a history: written, scanned, judged and mined if that has not been done."""
    if not config.store_path.exists():
        written = config.home / "histories"
        write_histories(written, history, end=time.time())
        config.home.mkdir(parents=True, exist_ok=True)
        report, store = scan_into_store(config, [written])
        assert store is not None and not report.failures, report.failures
        refresh(store, now=time.time(), redactor=make_redactor(config))
        store.close()
    return open_store(config.store_path)


def _offered(task: Task) -> list[dict[str, Any]]:
    return [
        {"type": "function", "function": {"name": one.name, "description": one.description, "parameters": one.schema()}}
        for one in task.world().tools.values()
    ]


def session_id(study: Study, task: Task, *, is_for_task: bool) -> str:
    """The name under which what a session begins with is kept in a history: for one task, or for all of a service."""
    # Each session of a project has its own, whatever the model; of a place it is one for all.
    is_own = is_for_task or study.is_in_project
    return f"seasoned:{study.name}-{task.id if is_own else task.environment.name}"


def task_set(study: Study, each: int) -> TaskSet:
    """The tasks with a digest of what is asked and checked, so that runs of other ones are not mixed with them."""
    tasks = study.tasks(each)
    whole = blake2b(f"{BEFORE} {AFTER}".encode(), digest_size=8)
    for task in tasks:
        whole.update(msgspec.json.encode((task.id, task.prompt, task.check, task.environment, task.steps)))
    return TaskSet(study.name, tasks, whole.hexdigest())


def design_of(study: Study, tasks: TaskSet, arms: Sequence[StudyArm], *, minutes: float, now: float) -> Design:
    """Everything that is decided before the first run."""
    names = [arm.name for arm in arms]
    contrasts = tuple(one for one in study.contrasts if one.arm in names and one.against in names)
    plan = AnalysisPlan(contrasts=contrasts, primary=PRIMARY)
    level = TestRule(contrasts=len(contrasts)).shared_level
    return Design(
        name=study.name,
        tasks=study.name,
        plan=plan,
        arms=tuple(names),
        registration=Registration(
            tasks=len(tasks.tasks),
            runs=len(tasks.tasks) * len(names),
            stopping=(
                f"all runs are made, or {minutes:.0f} minutes are over; services and projects come in a fixed order, "
                "all arms of one before the next, so that an early end leaves tasks out and no arm"
            ),
            detectable=smallest_by_sign(len(tasks.tasks), level=level, wanted=POWER),
            not_below=(study.not_below,),
            margin=MARGIN,
            at=now,
        ),
    )


def planned_runs(study: Study, tasks: TaskSet, design: Design, learned: Learned, *, model: str) -> Iterator[PlannedRun]:
    """Every run: place by place, all arms of its tasks together, equal beginnings next to each other."""
    arms = [arm for arm in study.arms if arm.name in design.arms]
    groups: dict[str, list[Task]] = {}
    for task in tasks.tasks:
        groups.setdefault(task.environment.name, []).append(task)
    for group in groups.values():
        for arm in arms:
            starts = [(learned.start(study, arm, task), task) for task in group]
            for shown, task in sorted(starts, key=lambda pair: pair[0].warm):
                yield PlannedRun(
                    experiment=design.name,
                    model=model,
                    task_set=tasks.name,
                    arm=arm.name,
                    task=task,
                    repeat=0,
                    shown=shown,
                )
