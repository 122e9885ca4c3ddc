"""What the commands of experiments do: learn, run, say how far it is, show what was found."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned import __version__
from seasoned.agent.loop.model import choose_model
from seasoned.app.extras import require_numbers
from seasoned.app.stores import redaction_key
from seasoned.cli.output import console, print_json, printable, shows_progress, table, when
from seasoned.config import Config, load
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.experiment.analysis.analyse import Analysis
from seasoned.experiment.analysis.contrast import Effect
from seasoned.experiment.analysis.findings import amount, change, sentences
from seasoned.experiment.analysis.task_run import KINDS
from seasoned.experiment.live.assignment import ArmShare, assign_logged, keep_split, load_split, new_split
from seasoned.experiment.live.live_report import MEASURES, LiveExample, LiveListing, LiveReport, list_live, live_report
from seasoned.experiment.live.online_analysis import SampleRatio
from seasoned.experiment.run.arm import BUILT_IN, Material, arms_named
from seasoned.experiment.run.design import Design
from seasoned.experiment.run.run_store import analyses, counts, designs, keep_design, load_material, recent_records
from seasoned.experiment.run.runner import (
    PlannedRun,
    RoundBudget,
    RoundEstimate,
    RoundProgress,
    RoundResult,
    RunAgent,
    estimate,
    left_of,
    make_runs,
    units_of,
)
from seasoned.experiment.run.train import learn, make_train_runs, train_units
from seasoned.experiment.task.task_file import TaskSet, load_tasks
from seasoned.insight.rate_text import points_between
from seasoned.redact.key import Secrecy
from seasoned.stats.interval import Estimate
from seasoned.store import Database, open_database, open_store
from seasoned.template.library.storage import load as load_template
from seasoned.template.library.storage import snapshot
from seasoned.text import plural


@contextmanager
def shared(config: Config) -> Iterator[Database]:
    """Where assignments are kept: the database that several machines share, or the store."""
    database = open_database(config)
    try:
        yield database
    finally:
        database.close()


def begin(name: str, arms: str, *, holdout: float, as_json: bool) -> None:
    """Lay down how sessions are divided from now on."""
    config = load()
    with shared(config) as database, open_store(config.store_path) as store:
        split = new_split(name, shares_of(arms), holdout=holdout, salt=_known_salt(database, name))
        for arm in split.shares:
            if arm.startswith("template:"):
                load_template(store, arm.removeprefix("template:"))
        keep_split(database, split, now=time.time())
    if as_json:
        answer = {"name": name, "split": split.digest, "control": split.control, "shares": split.shares}
        print_json("experiment-begun", {**answer, "holdout": holdout})
        return
    click.echo(f"Sessions are divided between {', '.join(split.shares)}; {split.control} is the control.")
    click.echo(f'Set experiment = "{name}" under [warm] in config.toml, and restart the gateway and Hermes.')


def _known_salt(database: Database, name: str) -> str | None:
    """An experiment that goes on with other weights keeps its salt, so that few sessions would change their arm."""
    try:
        return load_split(database, name).salt
    except NotFound:
        return None


def shares_of(arms: str) -> list[ArmShare]:
    """Arms and their weights, as they are written: `cold,warm:2`."""
    found = []
    for text in [one.strip() for one in arms.split(",")]:
        # A template's name stands behind a colon too.
        arm, colon, weight = text.rpartition(":")
        try:
            found.append(ArmShare(text) if not colon or arm == "template" else ArmShare(arm, float(weight)))
        except ValueError:
            raise UsageError(f"{text!r} is no arm with a weight: write ARM or ARM:2.") from None
    return found


def live_experiments(config: Config) -> list[LiveListing]:
    """Every experiment that assigns sessions."""
    with shared(config) as database:
        return list_live(database)


def print_live_list(found: Sequence[LiveListing]) -> None:
    """The running experiments, one a line."""
    rows = [
        (one.name, ", ".join(one.arms), one.sessions, one.exposed, when(one.began_at), when(one.last_at))
        for one in found
    ]
    columns = ["running", "arms", "sessions", "shown a block", "since", "last session"]
    table(columns, rows, right=["sessions", "shown a block"], whole=["running"])


def print_live(name: str, *, as_json: bool) -> None:
    """What a running experiment shows so far."""
    require_numbers("experiment")

    config = load()
    with shared(config) as database, open_store(config.store_path) as store:
        report = live_report(database, name, clock=time.time, history=store)
    if as_json:
        answer: dict[str, Any] = msgspec.to_builtins(report)
        print_json("live-experiment", answer, lines=True)
        return
    _print_head(report)
    _print_arms(report)
    _print_effects(report)
    if report.examples:
        _print_examples(report.examples)
    out = console()
    for title, several in (("May be said", report.sentences), ("May not be said", report.may_not)):
        out.print(f"\n{title}:", style="bold")
        for sentence in several:
            out.print(f"- {sentence}", markup=False)


def _print_head(report: LiveReport) -> None:
    parts = [f"{plural(report.sessions, 'session')} since {when(report.began_at)}"]
    if report.waiting:
        parts.append(f"{report.waiting} not counted yet")
    if report.held_out:
        parts.append(f"{report.held_out} held out")
    if report.earlier:
        parts.append(f"{report.earlier} divided otherwise before, and left out")
    click.echo(f"{printable(report.name)}: {', '.join(parts)}.")


def _print_arms(report: LiveReport) -> None:
    rows = [
        (
            one.arm + (" (control)" if one.is_control else ""),
            one.assigned,
            one.exposed,
            one.measured,
            f"{one.failed} of {one.calls}",
            _share(one.error),
            _share(one.first_call),
            _share(one.flawless),
        )
        for one in report.arms
    ]
    right = ["assigned", "shown a block", "with calls", "failed of calls"]
    whole = ["arm", "error rate", "first call works", "no failed call"]
    table(["arm", *right, *whole[1:]], rows, right=right, whole=whole)
    click.echo("Rates are means over sessions, with intervals that hold however often one looks.")
    click.echo(_ratio(report.assigned_ratio))


def _share(one: Estimate) -> str:
    if one.value is None:
        return "–"
    if one.interval is None:
        return f"{100 * one.value:.1f} %"
    return f"{100 * one.value:.1f} % ({100 * one.interval.low:.0f} to {100 * one.interval.high:.0f})"


def _ratio(one: SampleRatio) -> str:
    if one.p_value is None:
        return "Nobody was assigned yet."
    counts = " to ".join(f"{count}" for count in one.counts.values())
    wanted = " to ".join(f"{count:.0f}" for count in one.expected.values())
    said = "this is no chance" if one.is_alarm else "as chance has it"
    return f"Assigned {counts}, {wanted} expected: {said} (p {one.p_value:.2g})."


def _print_effects(report: LiveReport) -> None:
    rows = [
        (
            f"{one.arm} − {one.against}",
            MEASURES[one.measure] + (" (decides)" if one.measure == "error" else ""),
            points_between(one.estimate),
            one.adjusted_p,
        )
        for one in report.effects
    ]
    click.echo()
    table(["contrast", "measure", "difference", "p (Holm)"], rows, right=["p (Holm)"], whole=["contrast"])


def _print_examples(examples: Sequence[LiveExample]) -> None:
    rows = [
        (
            one.effect.example_id,
            one.effect.tool,
            one.effect.arm,
            one.effect.measured,
            one.effect.measured_without,
            points_between(one.effect.estimate),
            one.effect.answer,
            one.state,
        )
        for one in examples
    ]
    columns = ["example", "tool", "arm", "with", "without", "calls that work", "", "state"]
    click.echo()
    table(columns, rows, right=["with", "without"], whole=["example"])
    for one in examples:
        if one.state != "active":
            about = f"{one.effect.example_id} is {one.state} since {when(one.changed_at)}"
            click.echo(f"{about}: {printable(one.state_reason or '')}")


_MADE_BY = "`seasoned experiment run` makes one on tasks, `seasoned experiment begin` one on live sessions."
_PROBES = 3
"""Runs that tell how long the others will take, where nothing is known of a model."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment as somebody asks for it."""

    design: Design
    model: str | None = None
    base_url: str | None = None
    parallel: int = 1
    minutes: float | None = None
    dollars: float | None = None
    is_agreed: bool = False


def run_and_report(wanted: Wanted, *, as_json: bool) -> None:
    """Run an experiment to its end or to its budget, and show what was found."""
    require_numbers("experiment")
    from seasoned.app.player import Player

    config = load()
    tasks = load_tasks(wanted.design.tasks)
    choice = choose_model(config, wanted.model, wanted.base_url)
    key, keep = redaction_key(config)
    keep()
    secrecy = Secrecy(key, config.redact)
    with Player(config, secrecy, choice) as player:
        run_all(config, secrecy, wanted, tasks, player, model=choice.name)
    print_found(wanted.design.name, model=choice.name, output=None, as_json=as_json)


def run_all(
    config: Config, secrecy: Secrecy, wanted: Wanted, tasks: TaskSet, run_agent: RunAgent, *, model: str
) -> RoundResult:
    """Learn what the arms show, say what the runs will take, and make them."""
    design, begun = wanted.design, time.time()
    if not tasks.of(design.part):
        raise UsageError(f"{tasks.name!r} has no tasks in the part {design.part!r}: choose another --part.")
    with open_store(config.store_path) as store:
        library = snapshot(store)
        arms = arms_named(design.arms, library)
        keep_design(store, design, tasks.digest, now=begun)
    material = _learned(config, secrecy, wanted, tasks, run_agent, model=model)
    material = msgspec.structs.replace(material, library=library)
    units = units_of(design, tasks, arms, material, model=model)
    if not units:
        raise CannotDo("No arm has anything to show for these tasks: nothing was learned on the train part.")
    _announce("The experiment", _expected(config, units, run_agent), wanted)
    spent = time.time() - begun
    seconds = None if wanted.minutes is None else max(0.0, 60 * wanted.minutes - spent)
    with _bar(f"{design.name}, {model}") as tell:
        finished = make_runs(
            config.store_path,
            units,
            run_agent,
            budget=RoundBudget(seconds, wanted.dollars),
            parallel=wanted.parallel,
            on_progress=tell,
        )
    if finished.left:
        _say(f"{plural(finished.left, 'run')} not made: {finished.reason}. The same command goes on from here.")
    return finished


def _learned(
    config: Config, secrecy: Secrecy, wanted: Wanted, tasks: TaskSet, run_agent: RunAgent, *, model: str
) -> Material:
    """What was learned on the train part; where nothing was yet, it is learned now."""
    design = wanted.design
    roles = {BUILT_IN[name].role for name in design.arms if name in BUILT_IN} - {None}
    if not roles:
        return Material()
    with open_store(config.store_path) as store:
        known = load_material(store, task_set=tasks.name, tasks_digest=tasks.digest, model=model)
    if known:
        return Material(known)
    parts: tuple[Any, ...] = ("train", "former") if "stale" in roles else ("train",)
    units = train_units(config.store_path, design, tasks, model=model, sample=0, secrecy=secrecy, parts=parts)
    if not units:
        raise UsageError(f"{tasks.name!r} has no tasks in the part 'train': arms that show examples need some.")
    tries = plural(design.samples, "time")
    _announce(f"Learning on the train part (each task up to {tries})", _expected(config, units, run_agent), wanted)
    with _bar(f"learning, {model}") as tell:
        finished = make_train_runs(
            config.store_path,
            design,
            tasks,
            run_agent,
            model=model,
            secrecy=secrecy,
            parts=parts,
            budget=RoundBudget(None if wanted.minutes is None else 60 * wanted.minutes, wanted.dollars),
            parallel=wanted.parallel,
            clock=time.time,
            on_progress=tell,
        )
    if finished.left:
        raise CannotDo(f"Learning is not finished ({finished.reason}): the same command goes on from here.")
    with open_store(config.store_path) as store:
        found = learn(store, tasks, secrecy, model=model, now=time.time())
    for role in sorted(found):
        _say(f"Learned: {plural(len(found[role].examples), 'example')} ({role}).")
    if not found:
        raise CannotDo(
            "Nothing was learned: no task of the train part was done. Try more --samples, or a larger model."
        )
    return Material(found)


def _expected(config: Config, units: Sequence[PlannedRun], run_agent: RunAgent) -> RoundEstimate:
    """What the runs that are left will take. With a model that nobody has run yet, the first few of them tell."""
    for is_known in (False, True):
        with open_store(config.store_path) as store:
            left = left_of(store, units, units[0].experiment)
            expected = estimate(left, recent_records(store, units[0].model))
        if is_known or not left or expected.seconds is not None:
            break
        make_runs(config.store_path, left[:_PROBES], run_agent)
    return expected


def _announce(what: str, expected: RoundEstimate, wanted: Wanted) -> None:
    """What it will take, before it begins; a person is asked where one is there."""
    calls = "an unknown number of" if expected.calls is None else f"about {expected.calls}"
    words = f"{what}: {plural(expected.runs, 'run')}, {calls} calls of the model (at most {expected.most_calls})"
    if expected.seconds is not None:
        words += f", about {_duration(expected.seconds / max(1, wanted.parallel))}"
    if expected.cost_usd is not None:
        words += f", about ${expected.cost_usd:.2f}"
    limits = [f"{wanted.minutes:.3g} minutes"] if wanted.minutes is not None else []
    limits += [f"${wanted.dollars:g}"] if wanted.dollars is not None else []
    _say(f"{words}." + (f" Budget: {' and '.join(limits)}." if limits else ""))
    is_asked = expected.runs and not wanted.is_agreed and sys.stdin.isatty()
    if is_asked and not click.confirm("Begin?", default=True, err=True):
        raise click.exceptions.Exit(1)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextmanager
def _bar(title: str) -> Iterator[Callable[[RoundProgress], None]]:
    """A bar where somebody watches, else nothing."""
    if not shows_progress():
        yield lambda progress: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console(stderr=True), transient=True) as bar:
        shown = bar.add_task(title, total=None)
        yield lambda progress: bar.update(shown, completed=progress.done, total=progress.of)


def print_list(*, as_json: bool) -> None:
    """Every experiment with what is finished of it, and those that run on live sessions."""
    config = load()
    with open_store(config.store_path) as store:
        found = [(design, at, counts(store, design.name)) for design, at in designs(store)]
    live = live_experiments(config)
    if as_json:
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
        print_json("experiments", {"experiments": answer, "count": len(answer), "live": msgspec.to_builtins(live)})
        return
    rows = [
        (design.name, design.tasks, one.part, one.model, one.arms, one.tasks, one.runs, when(one.ended_at))
        for design, _, counted in found
        for one in counted
    ]
    rows += [(design.name, design.tasks, design.part, "–", 0, 0, 0, "–") for design, _, counted in found if not counted]
    columns = ["experiment", "tasks", "part", "model", "arms", "done", "runs", "last run"]
    if rows:
        table(columns, rows, right=["arms", "done", "runs"], whole=["experiment"])
    elif not live:
        click.echo(f"There are none yet. {_MADE_BY}")
    if live:
        print_live_list(live)


def print_shown(name: str, *, model: str | None, output: Path | None, as_json: bool) -> None:
    """What the experiment of this name found on tasks, and what it shows on live sessions."""
    config = load()
    with open_store(config.store_path) as store:
        on_tasks = [design.name for design, _ in designs(store)]
    live = [one.name for one in live_experiments(config)]
    has_runs, is_live = name in on_tasks, name in live
    if not (has_runs or is_live):
        known = ", ".join(dict.fromkeys(map(repr, (*on_tasks, *live))))
        raise NotFound(f"No experiment {name!r}{f', only {known}' if known else ': there are none yet'}. {_MADE_BY}")
    if has_runs:
        print_found(name, model=model, output=output, as_json=as_json)
    elif model is not None or output is not None:
        raise UsageError(f"{name!r} runs on live sessions: leave --model and --output out.")
    if is_live and model is None and output is None:
        print_live(name, as_json=as_json)


def print_found(name: str, *, model: str | None, output: Path | None, as_json: bool) -> None:
    """What an experiment found, for each model that ran it."""
    require_numbers("experiment")

    with open_store(load().store_path) as store:
        found = analyses(store, name, model=model)
    if output is not None:
        from seasoned.experiment.page import render

        output.write_text(render(name, found, made_at=time.time(), versions={"seasoned": __version__}), "utf-8")
    for one in found:
        said = sentences(one)
        if as_json:
            answer = msgspec.to_builtins(one)
            print_json("experiment", {**answer, "may": list(said.may), "may_not": list(said.may_not)}, lines=True)
        else:
            _print_analysis(one)
            out = console()
            for title, several in (("May be said", said.may), ("May not be said", said.may_not)):
                out.print(f"\n{title}:", style="bold")
                for sentence in several:
                    out.print(f"- {sentence}", markup=False)


def _print_analysis(found: Analysis) -> None:
    primary = found.plan.primary
    title = f"{found.experiment}: {found.model}, {found.task_set} ({found.part}), {KINDS[primary].label}"
    names = tuple(dict.fromkeys((primary, "first_call", "success", "errors", "tokens")))
    rows = [
        (arm.arm, arm.tasks, arm.runs, *[amount(arm.measures[name].value, name) for name in names])
        for arm in found.arms
    ]
    columns = ["arm", "tasks", "runs", *[KINDS[name].label for name in names]]
    table(columns, rows, right=columns[1:], title=title)
    table(
        ["contrast", "difference", "p (Holm)", "tasks"],
        [(f"{one.arm} − {one.against}", _change(one), one.adjusted_p, one.estimate.clusters) for one in found.effects],
        right=["p (Holm)", "tasks"],
    )


def _change(one: Effect) -> str:
    return change(one.estimate, one.measure)


def print_assignment(name: str, session: str, *, arms: str | None, holdout: float, as_json: bool) -> None:
    """The arm of a live session; logged, so that it never changes."""
    with shared(load()) as database:
        if arms is not None:
            keep_split(database, new_split(name, shares_of(arms), holdout=holdout), now=time.time())
        found = assign_logged(database, load_split(database, name), session, now=time.time())
    assert found is not None, "only a review is in no arm"
    if as_json:
        print_json("assignment", {"experiment": name, "session": session, "arm": found.arm, "split": found.split})
    else:
        click.echo(found.arm)
