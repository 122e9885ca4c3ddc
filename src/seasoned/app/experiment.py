"""Runs experiments on tasks, and divides live sessions between the arms of one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from seasoned.app.stores import kept_secrecy, shared_database, user_store
from seasoned.config import Config
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.example.example import content_digest
from seasoned.example.library.storage import load as load_template
from seasoned.example.library.storage import snapshot
from seasoned.experiment.live.assignment import (
    TEMPLATE,
    ArmShare,
    Split,
    keep_split,
    load_split,
    new_split,
)
from seasoned.experiment.live.live_report import LiveListing, LiveReport, list_live, live_report
from seasoned.experiment.live.live_session import share_outcomes
from seasoned.experiment.run.design import BUILT_IN, Design, Material, arms_named
from seasoned.experiment.run.run_store import (
    RunCount,
    counts,
    designs,
    keep_design,
    load_learned,
)
from seasoned.experiment.run.runner import (
    OnProgress,
    PlannedRun,
    RoundBudget,
    RunAgent,
    left_of,
    make_runs,
    units_of,
)
from seasoned.experiment.run.train import TRIES, learn, make_train_runs, train_units
from seasoned.experiment.task.task_file import TaskSet, load_tasks
from seasoned.redact.key import Secrecy
from seasoned.stats.proportion import detectable
from seasoned.store import Database, Store, open_store
from seasoned.text import plural


class ExperimentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment on tasks, with its limits."""

    design: Design
    minutes: float | None = None
    dollars: float | None = None


class Observer(Protocol):
    """What a caller shows of an experiment while it runs."""

    def announce(self, what: str, runs: int, most_calls: int, plan: ExperimentPlan) -> None:
        """Called before a round of runs with at most so many model calls begins; raises to stop it."""

    def say(self, text: str) -> None:
        """One sentence about what happened."""

    def progress(self, title: str) -> AbstractContextManager[OnProgress]:
        """Shows how far a round has come."""


def task_experiments(store: Store) -> list[tuple[Design, float, list[RunCount]]]:
    """Every experiment on tasks, when it began, and what is finished of it."""
    return [(design, at, counts(store, design.name)) for design, at in designs(store)]


def live_experiments(config: Config) -> list[LiveListing]:
    """Every experiment that assigns live sessions."""
    with shared_database(config) as database:
        return list_live(database)


def live_experiment(config: Config, name: str) -> LiveReport:
    """What a running experiment shows so far."""
    # Assignments may be shared by several machines; what happened in the sessions is in the store of each of them.
    with shared_database(config) as database, user_store(config) as store:
        if config.database_url:
            share_outcomes(database, store, now=time.time())
        return live_report(database, name, now=time.time(), history=store)


def run_experiment(
    config: Config, plan: ExperimentPlan, *, model: str | None, base_url: str | None, observer: Observer
) -> str:
    """Run an experiment to its end or to its budget; returns the model's name, under which its runs are stored."""
    # Imported here: the agent library takes a second, and comes with an extra.
    from seasoned.app.conversation import Player
    from seasoned.runner.model import choose_model

    tasks = load_tasks(plan.design.tasks)
    choice = choose_model(config, model, base_url)
    secrecy = kept_secrecy(config)
    with Player(config, secrecy, choice) as player:
        _TaskRounds(config, plan, tasks, secrecy, player, choice.name, observer).run()
    return choice.name


class _TaskRounds(msgspec.Struct, frozen=True):
    """The two rounds of an experiment on tasks: what the arms show is learned, then every arm is tried."""

    config: Config
    plan: ExperimentPlan
    tasks: TaskSet
    secrecy: Secrecy
    run_agent: RunAgent
    model: str
    observer: Observer

    def run(self) -> None:
        """Learn what the arms show, announce what the runs will take, and make them."""
        # The clock starts before learning, because --minutes limits the whole command.
        design, begun, tasks = self.plan.design, time.time(), self.tasks
        if not tasks.of(design.part):
            raise UsageError(f"{tasks.name!r} has no tasks in the part {design.part!r}. Choose another --part.")
        with open_store(self.config.store_path) as store:
            # One snapshot for all runs: templates that change meanwhile would give the runs of one arm other examples.
            library = snapshot(store)
            arms = arms_named(design.arms, library)
            keep_design(store, design, tasks.digest, now=begun)
        # After the design is stored, so that an interrupted experiment is listed and can be continued.
        material = msgspec.structs.replace(self._learned(), library=library)
        units = units_of(design, tasks, arms, material, model=self.model)
        if not units:
            raise CannotDo("No arm has anything to show for these tasks: nothing was learned from the train part.")
        self._announce("The experiment", units)
        # What learning took is taken from the budget; at zero, no further run starts but the results are shown.
        budget = self._budget(time.time() - begun)
        with self.observer.progress(f"{design.name}, {self.model}") as tell:
            done = make_runs(self.config.store_path, units, self.run_agent, budget=budget, on_progress=tell)
        if done.left:
            self.observer.say(f"{plural(done.left, 'run')} left: {done.reason}. Run the same command to continue.")

    def _learned(self) -> Material:
        """What was learned on the train part; learns it now if that has not been done."""
        # Arms such as cold show nothing, so an experiment of only those has nothing to learn.
        if not any(BUILT_IN[name].shows_learned for name in self.plan.design.arms if name in BUILT_IN):
            return Material()
        path, tasks, model, secrecy = self.config.store_path, self.tasks, self.model, self.secrecy
        with open_store(path) as store:
            known = load_learned(store, task_set=tasks.name, tasks_digest=tasks.digest, model=model)
        # Learned once per task set and model: learning again would show other examples than the finished runs had.
        if known is not None:
            return Material(known)
        units = train_units(path, tasks, model=model, sample=0, secrecy=secrecy)
        if not units:
            raise UsageError(f"{tasks.name!r} has no tasks in the part 'train', which arms that show examples need.")
        self._announce(f"Learning on the train part (each task up to {plural(TRIES, 'time')})", units)
        with self.observer.progress(f"learning, {model}") as tell:
            done = make_train_runs(
                path, tasks, self.run_agent, model=model, secrecy=secrecy, budget=self._budget(0.0), on_progress=tell
            )
        if done.left:
            raise CannotDo(f"Learning is not finished ({done.reason}). Run the same command to continue.")
        with open_store(path) as store:
            found = learn(store, tasks, secrecy, model=model, now=time.time())
        if found is None:
            raise CannotDo("Nothing was learned, because no task of the train part succeeded. Try a larger model.")
        self.observer.say(f"Learned: {plural(len(found.examples), 'example')}.")
        return Material(found)

    def _budget(self, spent_seconds: float) -> RoundBudget:
        minutes = self.plan.minutes
        return RoundBudget(None if minutes is None else max(0.0, 60 * minutes - spent_seconds), self.plan.dollars)

    def _announce(self, what: str, units: Sequence[PlannedRun]) -> None:
        with open_store(self.config.store_path) as store:
            left = left_of(store, units)
        self.observer.announce(what, len(left), sum(unit.shown.steps for unit in left), self.plan)


def shares_of(arms: str) -> list[ArmShare]:
    """Arms and their weights, written as `cold,warm:2`."""
    found = []
    for text in [one.strip() for one in arms.split(",")]:
        # A template's name follows a colon too: `template:code`.
        arm, colon, weight = text.rpartition(":")
        try:
            found.append(ArmShare(text) if not colon or arm == "template" else ArmShare(arm, float(weight)))
        except ValueError:
            raise UsageError(f"{text!r} is not a valid arm. Write ARM or ARM:2.") from None
    return found


_RECENT_WEEKS = 8
_SESSIONS_OF_ARM = (50, 200, 1000)


class ExpectedPower(msgspec.Struct, frozen=True):
    """What an experiment on live sessions can find, if the next sessions are like the recent ones."""

    sessions_per_week: float
    error_rate: float  # the mean over sessions
    # By sessions in each arm: the smallest fall of the error rate found four times in five; None if none would be.
    falls: dict[int, float | None]


def expected_power(config: Config, *, now: float) -> ExpectedPower | None:
    """From the sessions of the last weeks; None if they had no calls that count, or nothing failed in them."""
    with open_store(config.store_path) as store:
        row = store.row("session.recent_rates", {"since": now - _RECENT_WEEKS * 7 * 86400})
    if row is None or not row["mean"] or row["mean"] >= 1:
        return None
    mean = row["mean"]
    # The unit is a session, whose error rate varies less than a single call does.
    effect = (row["mean_square"] - mean**2) / (mean * (1 - mean))
    falls = {each: detectable(mean, each, each, design_effect=effect or 1.0).fall for each in _SESSIONS_OF_ARM}
    return ExpectedPower(row["sessions"] / _RECENT_WEEKS, mean, falls)


def begin(config: Config, name: str, arms: str) -> Split:
    """Divide live sessions between these arms from now on."""
    with shared_database(config) as database, open_store(config.store_path) as store:
        # A misspelt template is an error here: otherwise no session would be assigned.
        shares = [
            msgspec.structs.replace(one, template=content_digest(load_template(store, one.arm.removeprefix(TEMPLATE))))
            if one.arm.startswith(TEMPLATE)
            else one
            for one in shares_of(arms)
        ]
        split = new_split(name, shares, salt=_known_salt(database, name))
        keep_split(database, split, now=time.time())
    return split


def _known_salt(database: Database, name: str) -> str | None:
    # With other weights the salt stays, so that few sessions would change their arm.
    try:
        return load_split(database, name).salt
    except NotFound:
        return None
