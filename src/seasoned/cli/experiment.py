"""`experiment …`: proves on tasks with checks whether a warm start helps, and assigns live sessions to arms."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import experiment as experiments
from seasoned.app.experiment import ExpectedPower, ExperimentPlan, live_experiment, live_experiments, task_experiments
from seasoned.app.stores import user_store
from seasoned.cli.options import Commands, base_url_option, json_option, model_option, wants_json, words_in, yes_option
from seasoned.cli.output import ReadingBar, answered, printable, records, say, table, when
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.experiment.analysis.analyse import Analysis, amount, change, sentences
from seasoned.experiment.analysis.task_run import KINDS
from seasoned.experiment.live.assignment import SampleRatio
from seasoned.experiment.live.live_report import (
    MEASURES,
    LiveEffect,
    LiveExample,
    LiveMeasure,
    LiveReport,
)
from seasoned.experiment.run.design import new_design
from seasoned.experiment.run.run_store import analyses
from seasoned.experiment.run.runner import OnProgress
from seasoned.experiment.task.task_file import BUILT_IN, PARTS, load_tasks
from seasoned.report.trials import points, points_between, share
from seasoned.stats.interval import Estimate
from seasoned.text import plural

_MADE_BY = "`seasoned experiment run` makes one on tasks, `seasoned experiment begin` one on live sessions."


class TerminalObserver:
    """Announces rounds on stderr, asks before they begin, and shows a bar."""

    def __init__(self, *, is_agreed: bool) -> None:
        self._is_agreed = is_agreed

    def announce(self, what: str, runs: int, most_calls: int, plan: ExperimentPlan) -> None:
        words = f"{what}: {plural(runs, 'run')}, at most {plural(most_calls, 'model call')}"
        limits = [f"{plan.minutes:.3g} minutes"] if plan.minutes is not None else []
        limits += [f"${plan.dollars:g}"] if plan.dollars is not None else []
        self.say(f"{words}." + (f" Budget: {' and '.join(limits)}." if limits else ""))
        # Without a terminal there is no one to ask; the budget and the announcement must do.
        is_asked = runs and not self._is_agreed and sys.stdin.isatty()
        if is_asked and not click.confirm("Begin?", default=True, err=True):
            raise click.exceptions.Exit(1)

    def say(self, text: str) -> None:
        say(text, err=True)

    @contextmanager
    def progress(self, title: str) -> Iterator[OnProgress]:
        with ReadingBar(title, of_bytes=False) as bar:
            yield bar


def print_live(name: str) -> None:
    """What a running experiment shows so far."""
    report = live_experiment(load(), name)
    # One line, because an experiment on tasks of the same name prints its own before it.
    if answered("live-experiment", msgspec.to_builtins(report), lines=True):
        return
    parts = [f"{plural(report.sessions, 'session')} since {when(report.began_at)}"]
    parts += [f"{report.waiting} not counted yet"] if report.waiting else []
    parts += [f"{report.earlier} with an earlier split, left out"] if report.earlier else []
    say(f"{printable(report.name)}: {', '.join(parts)}.")
    _print_arms(report)
    say()
    records(report.effects, ("contrast", _contrast), ("measure", _measure), ("difference", _difference), _P_VALUE)
    if report.examples:
        _print_examples(report.examples)
    _print_sentences(report.sentences, report.may_not)


_P_VALUE = ("p (Holm)", lambda one: one.adjusted_p)


def _contrast(one: Any) -> str:
    return f"{one.arm} − {one.against}"


def _measure(one: LiveEffect) -> str:
    return MEASURES[one.measure].label + (" (decides)" if one.measure == "error" else "")


def _print_sentences(may: Sequence[str], may_not: Sequence[str]) -> None:
    """What the data supports, and what it does not: readers tend to assume it."""
    for title, several in (("May be said", may), ("May not be said", may_not)):
        say(f"\n{title}:", bold=True)
        for sentence in several:
            say(f"- {sentence}")


def _print_arms(report: LiveReport) -> None:
    records(
        report.arms,
        ("arm", lambda one: one.arm + (" (control)" if one.is_control else "")),
        "assigned",
        ("shown a block", lambda one: one.exposed),
        ("with calls", lambda one: one.measured),
        ("failed of calls", lambda one: f"{one.failed} of {one.calls}"),
        nowrap=["arm"],
    )
    means = [
        (
            kind.label + (" (decides)" if name == "error" else ""),
            *[_mean(one.measures[name], kind) for one in report.arms],
        )
        for name, kind in MEASURES.items()
    ]
    table(["mean over sessions", *[one.arm for one in report.arms]], means)
    most = ", ".join(f"{kind.most:g} {kind.label}" for kind in MEASURES.values() if not kind.is_share)
    say(f"The intervals stay valid however often you look. A session counts at most {most}.")
    say(_ratio(report.assigned_ratio))


def _mean(one: Estimate, kind: LiveMeasure) -> str:
    if one.value is None:
        return "–"
    scale, unit = (100, " %") if kind.is_share else (1, "")
    value = f"{scale * one.value:.1f}{unit}"
    if one.interval is None:
        return value
    return f"{value} ({scale * one.interval.low:.1f} to {scale * one.interval.high:.1f})"


def _difference(one: LiveEffect) -> str:
    estimate, kind = one.estimate, MEASURES[one.measure]
    if kind.is_share or estimate.value is None or estimate.interval is None:
        return points_between(estimate)
    low, high, level = estimate.interval.low, estimate.interval.high, estimate.interval.level
    said = f"{estimate.value:+.1f} ({100 * level:g} % interval {low:+.1f} to {high:+.1f})"
    return said.replace("-", "−")


def _ratio(one: SampleRatio) -> str:
    if one.p_value is None:
        return "No session was assigned yet."
    counts = " to ".join(f"{count}" for count in one.counts.values())
    wanted = " to ".join(f"{count:.0f}" for count in one.expected.values())
    # A wrong ratio means that assignment or counting is broken, and then no difference can be trusted.
    said = "chance does not explain that" if one.is_alarm else "within chance"
    return f"Assigned {counts}, {wanted} expected: {said} (p {one.p_value:.2g})."


def _print_examples(examples: Sequence[LiveExample]) -> None:
    say()
    records(
        examples,
        "example=effect.example_id tool=effect.tool arm=effect.arm",
        "with=effect.measured without=effect.measured_without",
        ("calls that work", lambda one: points_between(one.effect.estimate)),
        ("", lambda one: one.effect.answer),
        "state",
        nowrap=["example"],
    )
    for one in examples:
        if one.state != "active":
            about = f"{one.effect.example_id} is {one.state} since {when(one.changed_at)}"
            say(f"{about}: {printable(one.state_reason or '')}")


def print_list() -> None:
    """Every experiment with what is finished of it, and those that run on live sessions."""
    config = load()
    with user_store(config) as store:
        found = task_experiments(store)
    live = live_experiments(config)
    answer = [
        {
            "name": design.name,
            "tasks": design.tasks,
            "part": design.part,
            "arms": list(design.arms),
            "primary": design.plan.primary,
            "created_at": at,
            "models": [{"model": one.model, "runs": one.runs, "ended_at": one.ended_at} for one in counted],
        }
        for design, at, counted in found
    ]
    if answered("experiments", {"experiments": answer, "count": len(answer), "live": msgspec.to_builtins(live)}):
        return
    rows = [
        (design.name, design.tasks, one.part, one.model, one.arms, one.tasks, one.runs, when(one.ended_at))
        for design, _, counted in found
        for one in counted
    ]
    # Planned or interrupted before the first run; listed, so that it can be continued.
    rows += [(design.name, design.tasks, design.part, "–", 0, 0, 0, "–") for design, _, counted in found if not counted]
    if rows:
        table(["experiment", "tasks", "part", "model", "arms", "done", "runs", "last run"], rows, nowrap=["experiment"])
    elif not live:
        say(f"There are no experiments yet. {_MADE_BY}")
    if live:
        shown = ("shown a block", lambda one: one.exposed)
        last = ("last session", lambda one: when(one.last_at))
        records(live, "running=name arms sessions", shown, "since=began_at", last, nowrap=["running"])


def print_shown(name: str, *, model: str | None) -> None:
    """What the experiment of this name found on tasks, and what it shows on live sessions."""
    config = load()
    with user_store(config) as store:
        on_tasks = [design.name for design, _, _ in task_experiments(store)]
    live = [one.name for one in live_experiments(config)]
    has_runs, is_live = name in on_tasks, name in live
    if not (has_runs or is_live):
        # A name may be in both lists.
        known = ", ".join(dict.fromkeys(map(repr, (*on_tasks, *live))))
        raise NotFound(f"No experiment {name!r}{f'. Known: {known}' if known else ''}. {_MADE_BY}")
    if has_runs:
        print_found(name, model=model)
    elif model is not None:
        raise UsageError(f"{name!r} runs on live sessions. Drop --model.")
    if is_live and model is None:
        print_live(name)


def print_found(name: str, *, model: str | None) -> None:
    """What an experiment found, for each model that ran it."""
    with user_store(load()) as store:
        found = analyses(store, name, model=model)
    for one in found:
        said = sentences(one)
        answer = {**msgspec.to_builtins(one), "may": list(said.may), "may_not": list(said.may_not)}
        if not answered("experiment", answer, lines=True):
            _print_analysis(one)
            _print_sentences(said.may, said.may_not)


def _print_analysis(found: Analysis) -> None:
    primary = found.plan.primary
    title = f"{found.experiment}: {found.model}, {found.task_set} ({found.part}), {KINDS[primary].label}"
    # The deciding measure first, and not twice.
    names = tuple(dict.fromkeys((primary, "first_call", "success", "errors", "tokens")))
    rows = [
        (arm.arm, arm.tasks, arm.runs, *[amount(arm.measures[name].value, name) for name in names])
        for arm in found.arms
    ]
    table(["arm", "tasks", "runs", *[KINDS[name].label for name in names]], rows, title=title)
    difference = ("difference", lambda one: change(one.estimate, one.measure))
    records(found.effects, ("contrast", _contrast), difference, _P_VALUE, "tasks=estimate.clusters")


_PARTS = click.Choice(["train", "development", "confirmation"])
_MEASURES = click.Choice(
    (
        *("executed", "first_call", "success", "early_errors", "errors", "calls_to_success", "diversity", "valid"),
        *("tokens", "cost_usd", "latency_seconds"),
    )
)
# The placebo has the same length but no experience, and `rule` states the convention in words: warm should beat both.
_ARMS = "cold,warm,placebo,rule"
_LIVE_ARMS = "The arms: template:NAME shows a template, cold-… nothing, any other what fits. ARM:2 weighs twice."


@click.group(cls=Commands)
def experiment() -> None:
    """Measure whether a warm start helps.

    The same tasks run under several arms, on your own model; or live sessions are divided between arms.
    """


@experiment.command()
@click.argument("tasks")
@click.option(
    "--arms",
    default=_ARMS,
    show_default=True,
    metavar="ARM,ARM",
    help="The arms to compare; template:NAME shows a template.",
)
@click.option("--part", type=_PARTS, default="confirmation", show_default=True, help="The part of the tasks to run.")
@click.option("--name", help="The name of the experiment. Default: task set and part.")
@model_option
@base_url_option
@click.option("--primary", type=_MEASURES, default="executed", show_default=True, help="The measure that decides.")
@click.option("--repeats", default=1, show_default=True, help="Run each task under each arm this often.")
@click.option("--minutes", type=float, help="Start no further run after this many minutes.")
@click.option("--dollars", type=float, help="Start no further run after spending this much.")
@click.option("--check", "only_check", is_flag=True, help="Only check the tasks and count them.")
@yes_option
@json_option
def run(
    tasks: str,
    arms: str,
    part: str,
    name: str | None,
    model: str | None,
    base_url: str | None,
    only_check: bool,
    yes: bool,
    **asked: Any,
) -> None:
    """Run tasks under several arms.

    TASKS is a built-in set (conventions, plain, multi-step), a file or a folder. Announces first how many model calls
    it takes at most. After an interruption, the same command continues. Arms that show examples
    learn them first, from real runs on the train part.

    \b
    Example: seasoned experiment run conventions --part development --arms cold,warm,placebo --minutes 20
    Example: seasoned experiment run plain --model local
    """
    if only_check:
        _print_tasks(tasks)
        return
    # Part of the default name, so that runs on the development part never mix with the confirmation.
    subject = tasks if tasks in BUILT_IN else Path(tasks).stem
    design = new_design(
        name=name or f"{subject}-{part}",
        tasks=tasks,
        arms=words_in(arms),
        part=part,  # type: ignore[arg-type]
        primary=asked.pop("primary"),
        repeats=asked.pop("repeats"),
    )
    plan = ExperimentPlan(design=design, **asked)
    observer = TerminalObserver(is_agreed=yes)
    used = experiments.run_experiment(load(), plan, model=model, base_url=base_url, observer=observer)
    # Also after a budget ended the runs: the analysis says how much is known so far.
    print_found(design.name, model=used)


@experiment.command()
@click.argument("name", required=False)
@click.option("--model", help="Only runs with this model.")
@json_option
def show(name: str | None, model: str | None) -> None:
    """Show what an experiment found, or list them.

    Every arm, every contrast, what may be said and what may not. For live sessions, what is known so far: assignments,
    outcomes with intervals that stay valid however often you look, and what each example does.

    \b
    Example: seasoned experiment show conventions-confirmation
    Example: seasoned experiment show autumn
    """
    if name is None:
        print_list()
        return
    print_shown(name, model=model)


@experiment.command()
@click.argument("name")
@click.option("--arms", default="cold,warm", show_default=True, metavar="ARM,ARM", help=_LIVE_ARMS)
@json_option
def begin(name: str, arms: str) -> None:
    """Begin an experiment on live sessions.

    For a name that exists, continue with other weights. The first arm is the control, which is shown nothing.

    \b
    Example: seasoned experiment begin autumn --arms cold,warm
    Example: seasoned experiment begin autumn --arms cold,template:code:2
    """
    config = load()
    experiments.shares_of(arms)  # a wrong arm is said before what the experiment can find
    power = experiments.expected_power(config, now=time.time())
    if not wants_json():
        say(_power_sentence(power))
    split = experiments.begin(config, name, arms)
    answer = {"name": name, "split": split.digest, "control": split.control, "shares": split.shares}
    if answered("experiment-begun", {**answer, "power": msgspec.to_builtins(power)}):
        return
    say(f"Sessions are divided between {', '.join(split.shares)}; {split.control} is the control.")
    # The arms are drawn where sessions begin, and those programs read their settings at the start.
    say(f'Set experiment = "{name}" under [warm] in config.toml, and restart the gateway and Hermes.')


def _power_sentence(power: ExpectedPower | None) -> str:
    """How many sessions the experiment needs, told before it begins."""
    if power is None:
        return "No failed calls in recent sessions: how many sessions this needs cannot be told from your history."
    found = [f"{points(fall)} with {each} sessions" for each, fall in power.falls.items() if fall is not None]
    can = f"Found 4 times in 5: a fall of {', '.join(found)} in each arm" if found else "It is too low to find a fall"
    return (
        f"You have about {power.sessions_per_week:.0f} sessions a week, with {share(power.error_rate)} failed calls. "
        f"{can}; looking again and again takes some more."
    )


def _print_tasks(tasks: str) -> None:
    """Check the tasks and count them."""
    found = load_tasks(tasks)
    rows = Counter((task.environment.name, task.part) for task in found.tasks)
    # In the order of the file, each once.
    names = list(dict.fromkeys(task.environment.name for task in found.tasks))
    counted = [
        {"environment": name, "parts": {part: rows[name, part] for part in PARTS if rows[name, part]}} for name in names
    ]
    if not answered("tasks", {"name": found.name, "digest": found.digest, "environments": counted}):
        table(["environment", *PARTS], [(name, *[rows[name, part] for part in PARTS]) for name in names])
