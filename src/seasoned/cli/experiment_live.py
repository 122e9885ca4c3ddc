"""What the commands of running experiments do: begin one, list them, show what one shows so far."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec

from seasoned.cli.output import console, print_json, printable, table, when
from seasoned.cli.place import need_numbers
from seasoned.config import Config, load
from seasoned.errors import UsageError
from seasoned.store import Database, open_database, open_store
from seasoned.text import plural

if TYPE_CHECKING:
    from seasoned.experiment.live.assignment import ArmShare
    from seasoned.experiment.live.live_report import LiveExample, LiveListing, LiveReport
    from seasoned.experiment.live.online_analysis import SampleRatio
    from seasoned.stats.interval import Estimate


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
    from seasoned.experiment.live.assignment import keep_split, new_split
    from seasoned.template.library.storage import load as load_template

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
    click.echo(f'Set `experiment = "{name}"` in gateway.toml, and start the gateway anew.')


def _known_salt(database: Database, name: str) -> str | None:
    """An experiment that goes on with other weights keeps its salt, so that few sessions would change their arm."""
    from seasoned.errors import NotFound
    from seasoned.experiment.live.assignment import load_split

    try:
        return load_split(database, name).salt
    except NotFound:
        return None


def shares_of(arms: str) -> list[ArmShare]:
    """Arms and their weights, as they are written: `cold,warm:2`."""
    from seasoned.experiment.live.assignment import ArmShare

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
    from seasoned.experiment.live.live_report import list_live

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
    need_numbers("experiment")
    from seasoned.experiment.live.live_report import live_report

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
    from seasoned.experiment.live.live_report import MEASURES
    from seasoned.insight.rate_text import points_between

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
    from seasoned.insight.rate_text import points_between

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
