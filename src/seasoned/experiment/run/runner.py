"""Runs model × arm × bank × task × repeat. If it is killed, the next start continues where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from time import time as wall_clock
from typing import Any, Protocol

import msgspec

from seasoned.errors import CannotDo
from seasoned.example.library.storage import WarmBlock, keep_block
from seasoned.experiment.analysis.task_run import RunCall, TaskRun, calls_of
from seasoned.experiment.run.design import Arm, Design, Material, RunStart, show
from seasoned.experiment.run.run_store import begin, load_records, save
from seasoned.experiment.task.task_file import Answer, EndState, EnvironmentTool, Task, TaskSet, check
from seasoned.session import Session, SessionRef, Usage
from seasoned.store import Store, open_store


class ModelUnreachable(CannotDo):
    """The model does not answer; finished runs are saved."""


class AgentRun(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation to run: model, instructions, warm block, tools and prompt."""

    model: str
    instructions: str
    # Messages to begin with, as a block rendered for pydantic-ai; empty for a cold start.
    warm: bytes
    tools: tuple[EnvironmentTool, ...]
    call: Callable[[str, Mapping[str, Any]], Answer]  # makes a call in the world of the run
    prompt: str
    # Must be called with the session before the first request to the model.
    begin: Callable[[SessionRef], None]
    title: str
    seed: int
    temperature: float
    steps: int  # requests to the model
    seconds: float


class AgentRunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a conversation."""

    session: Session  # the conversation as it was recorded, without what it was warmed with
    answer: str
    usage: Usage
    cost_usd: float | None
    seconds: float


class RunAgent(Protocol):
    """Runs one conversation and records it. Raises ModelUnreachable if the model does not answer."""

    def __call__(self, play: AgentRun, /) -> AgentRunResult: ...


RUN_SECONDS = 300.0  # a run that takes longer is stopped, and counts with what it did
Clock = Callable[[], float]
OnProgress = Callable[[int, int], None]  # how many runs of a round are made, and of how many


class PlannedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run to be made."""

    experiment: str
    model: str
    task_set: str
    arm: str
    task: Task
    repeat: int
    shown: RunStart
    temperature: float = 0.0

    @property
    def seed(self) -> int:
        """The same for all arms."""
        digest = blake2b(f"{self.task.id} {self.repeat}".encode(), digest_size=4).digest()
        return int.from_bytes(digest) >> 1

    @property
    def record(self) -> TaskRun:
        """The record of the run before it starts."""
        return TaskRun(
            experiment=self.experiment,
            model=self.model,
            arm=self.arm,
            task=self.task.id,
            repeat=self.repeat,
            seed=self.seed,
            check="failed",
            example_ids=self.shown.example_ids,
            task_set=self.task_set,
            part=self.task.part,
        )


class RoundResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a round of runs."""

    made: int  # runs that were made now
    kept: int  # runs that existed before
    left: int  # runs that were not made, because of `reason`
    reason: str = ""


class RoundBudget(msgspec.Struct, frozen=True):
    """Limits of time and cost for a round; None means no limit."""

    seconds: float | None = None
    cost_usd: float | None = None


def units_of(
    design: Design,
    tasks: TaskSet,
    arms: Sequence[Arm],
    material: Material,
    *,
    model: str,
) -> list[PlannedRun]:
    """Every run of a design, in the order in which they are made.

    Environment by environment, so that a round that stops early has all arms of some environments. Within one, equal
    beginnings come together, so that a model that caches its last prefix reads it once.
    """
    found: list[tuple[tuple[int, int, int, bytes], PlannedRun]] = []
    environments: dict[str, int] = {}
    for task in tasks.of(design.part):
        at = environments.setdefault(task.environment.name, len(environments))
        for number, arm in enumerate(arms):
            shown = show(arm, task, material)
            if shown is None:
                continue
            for repeat in range(design.repeats):
                unit = PlannedRun(
                    experiment=design.name,
                    model=model,
                    task_set=tasks.name,
                    arm=arm.name,
                    task=task,
                    repeat=repeat,
                    shown=shown,
                )
                found.append(((repeat, at, number, shown.warm), unit))
    units = [unit for _, unit in sorted(found, key=lambda pair: pair[0])]
    # An arm that never shows anything would just be a second cold arm.
    empty = {arm.name for arm in arms if arm.shows_examples} - {unit.arm for unit in units if unit.shown.warm}
    return [unit for unit in units if unit.arm not in empty]


def left_of(store: Store, units: Sequence[PlannedRun]) -> list[PlannedRun]:
    """The runs that are not finished yet."""
    done = {record.key for name in {unit.experiment for unit in units} for record in load_records(store, name)}
    return [unit for unit in units if unit.record.key not in done]


def make_runs(
    store_path: Path,
    units: Sequence[PlannedRun],
    run_agent: RunAgent,
    *,
    budget: RoundBudget | None = None,
    run_seconds: float = RUN_SECONDS,
    clock: Clock = wall_clock,
    on_progress: OnProgress = lambda done, of: None,
) -> RoundResult:
    """Make the missing runs and save each as it ends. ModelUnreachable says what was saved."""
    with open_store(store_path) as store:
        waiting = left_of(store, units)
        round_ = _Round(store, store_path, run_agent, budget or RoundBudget(), clock, run_seconds)
        kept = len(units) - len(waiting)
        made = round_.make(waiting, lambda done: on_progress(done, len(waiting)))
        left = len(waiting) - made
        if round_.unreachable is not None:
            raise ModelUnreachable(
                f"{round_.unreachable} {kept + made} of {len(units)} runs are saved: "
                "run the same command again to go on."
            )
    return RoundResult(made=made, kept=kept, left=left, reason=round_.reason if left else "")


class _Round:
    """A round of runs, each saved as it ends."""

    def __init__(
        self,
        store: Store,
        path: Path,
        run_agent: RunAgent,
        budget: RoundBudget,
        clock: Clock,
        run_seconds: float = RUN_SECONDS,
    ) -> None:
        self._store = store
        self._path = path
        self._run_agent = run_agent
        self._budget = budget
        self._clock = clock
        self._run_seconds = run_seconds
        self._begun = clock()
        self._spent = 0.0
        self.unreachable: ModelUnreachable | None = None

    @property
    def reason(self) -> str:
        """Why no further run is started; empty if there is no reason."""
        if self.unreachable is not None:
            return str(self.unreachable)
        budget = self._budget
        if budget.seconds is not None and self._clock() - self._begun >= budget.seconds:
            return f"the budget of {budget.seconds:g} seconds is used up"
        if budget.cost_usd is not None and self._spent >= budget.cost_usd:
            return f"the budget of {budget.cost_usd:g} dollars is used up"
        return ""

    def make(self, waiting: Sequence[PlannedRun], tell: Callable[[int], None]) -> int:
        made = 0
        tell(0)
        for unit in waiting:
            if self.reason:
                break
            try:
                record = self._run(unit)
            except ModelUnreachable as error:
                self.unreachable = error
                break
            save(self._store, record)
            made += 1
            self._spent += record.cost_usd or 0.0
            tell(made)
        return made

    def _run(self, unit: PlannedRun) -> TaskRun:
        world = unit.task.world()
        played = self._run_agent(
            AgentRun(
                model=unit.model,
                instructions=unit.shown.instructions,
                warm=unit.shown.warm,
                tools=tuple(world.tools.values()),
                call=world.call,
                prompt=unit.task.prompt,
                begin=lambda ref: self._begin(ref, unit),
                title=f"{unit.experiment}: {unit.task.id}, {unit.arm}",
                seed=unit.seed,
                temperature=unit.temperature,
                steps=unit.shown.steps,
                seconds=self._run_seconds,
            )
        )
        reason = check(unit.task.check, EndState(world.made, world.files, world.tables, played.answer))
        return msgspec.structs.replace(
            unit.record,
            check="passed" if reason is None else "failed",
            reason=reason or "",
            calls=_calls(played, unit),
            usage=played.usage,
            cost_usd=played.cost_usd,
            latency_seconds=played.seconds,
            session=str(played.session.ref),
            ended_at=self._clock(),
        )

    def _begin(self, ref: SessionRef, unit: PlannedRun) -> None:
        """Called in a thread of the agent, so it opens another connection."""
        shown = unit.shown.rendered
        with open_store(self._path) as store:
            begin(store, ref, unit.record)
            if shown is not None and shown.example_ids:
                name, _, version = unit.shown.template.rpartition("@")
                keep_block(
                    store,
                    WarmBlock(
                        str(ref),
                        shown.format,
                        shown.form,
                        name,
                        int(version),
                        shown.example_ids,
                        shown.content,
                        shown.digest,
                        self._clock(),
                    ),
                )


def _calls(played: AgentRunResult, unit: PlannedRun) -> tuple[RunCall, ...]:
    """The calls of the recording with their verdicts, and whether each fits the schema of its tool."""
    tools = unit.task.world().tools
    made = [call for call in played.session.calls() if not call.synthetic]
    return tuple(
        msgspec.structs.replace(found, is_valid=call.tool in tools and tools[call.tool].takes(call.arguments))
        for found, call in zip(calls_of(played.session), made, strict=True)
    )
