"""`experiment …`: proves on tasks with checks whether a warm start helps, and assigns live sessions to arms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import msgspec

from seasoned.cli.experiment.show import Wanted, print_assignment, print_list, print_shown, run_and_report
from seasoned.cli.experiment.show import begin as begin_live
from seasoned.cli.options import Commands, json_option, yes_option
from seasoned.cli.output import print_json, table
from seasoned.errors import UsageError
from seasoned.experiment.run.design import Design, check_design, new_design, read_design
from seasoned.experiment.task.task_file import BUILT_IN, PARTS, load_tasks

_PARTS = click.Choice(["train", "former", "development", "confirmation"])
_MEASURES = click.Choice(
    (
        *("executed", "first_call", "success", "early_errors", "errors", "calls_to_success", "diversity", "valid"),
        *("tokens", "cost_usd", "latency_seconds"),
    )
)
_ARMS = "cold,warm,placebo,rule"
_LIVE_ARMS = "Arms; template:NAME shows a template, cold-… nothing, any other what fits; ARM:2 weighs twice as much."


@click.group(cls=Commands)
def experiment() -> None:
    """Prove whether a warm start helps: the same tasks under several arms, on your own model."""


@experiment.command()
@click.argument("tasks", required=False)
@click.option(
    "--arms", default=_ARMS, show_default=True, metavar="ARM,ARM", help="Arms; template:NAME shows a template."
)
@click.option("--part", type=_PARTS, default="confirmation", show_default=True, help="Which part of the tasks.")
@click.option("--name", help="Of the experiment; by default set and part.")
@click.option("--design", "file", type=click.Path(path_type=Path), help="An experiment file, in the place of all this.")
@click.option("--model", help="As in chat: openai:NAME, anthropic:NAME, local or local:/path/model.gguf.")
@click.option("--base-url", help="Address of an OpenAI-compatible server.")
@click.option("--primary", type=_MEASURES, default="executed", show_default=True, help="The measure that decides.")
@click.option("--repeats", default=1, show_default=True, help="Runs of each task under each arm.")
@click.option("--banks", default=2, show_default=True, help="Fixed orders of the examples.")
@click.option("-k", "k", default=3, show_default=True, help="Examples that are shown at most.")
@click.option("--temperature", default=0.0, show_default=True, help="Of the model.")
@click.option("--samples", default=4, show_default=True, help="Tries of each train task until it is done.")
@click.option("--seed", default=0, show_default=True, help="Of the model, the same for all arms.")
@click.option("--parallel", default=1, show_default=True, type=click.IntRange(1, 64), help="Runs at once.")
@click.option("--minutes", type=float, help="Begin no further run after so many minutes.")
@click.option("--dollars", type=float, help="Begin no further run when so much was spent.")
@yes_option
@json_option
def run(
    tasks: str | None,
    arms: str,
    part: str,
    name: str | None,
    file: Path | None,
    model: str | None,
    base_url: str | None,
    primary: str,
    repeats: int,
    banks: int,
    k: int,
    temperature: float,
    samples: int,
    seed: int,
    parallel: int,
    minutes: float | None,
    dollars: float | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the TASKS (conventions, plain, multi-step, a file or a folder) under several arms.

    Says first how many calls that takes, and how long as far as it is known. Whatever stops it, the same command
    goes on where it ended. Arms that show examples learn them first, from real runs on the train part.

    \b
    Example: seasoned experiment run conventions --part development --arms cold,warm,placebo --minutes 20
    Example: seasoned experiment run plain --model local
    """
    if file is not None:
        design = read_design(file)
    elif tasks is None:
        raise UsageError("Name the tasks to run (conventions, plain, multi-step, a file or a folder), or a --design.")
    else:
        subject = tasks if tasks in BUILT_IN else Path(tasks).stem
        design = new_design(
            name=name or f"{subject}-{part}",
            tasks=tasks,
            arms=[one.strip() for one in arms.split(",") if one.strip()],
            part=part,  # type: ignore[arg-type]
            primary=primary,  # type: ignore[arg-type]
            repeats=repeats,
            banks=banks,
            k=k,
            temperature=temperature,
            samples=samples,
            seed=seed,
        )
    wanted = Wanted(
        design=_named(design, name),
        model=model,
        base_url=base_url,
        parallel=parallel,
        minutes=minutes,
        dollars=dollars,
        is_agreed=yes,
    )
    run_and_report(wanted, as_json=as_json)


def _named(design: Design, name: str | None) -> Design:
    return design if name is None else check_design(msgspec.structs.replace(design, name=name))


@experiment.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the experiments and how far each has come.

    \b
    Example: seasoned experiment list
    """
    print_list(as_json=as_json)


@experiment.command()
@click.argument("name")
@click.option("--model", help="Only the runs with this model.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the page with the plots to this file.")
@json_option
def show(name: str, model: str | None, output: Path | None, as_json: bool) -> None:
    """Show what an experiment found: every arm, every contrast, what may be said and what may not.

    Of one that runs on live sessions it shows what is known so far: who was assigned and shown a block, outcomes with
    intervals that hold however often one looks, and what each example does.

    \b
    Example: seasoned experiment show conventions-confirmation -o conventions.html
    Example: seasoned experiment show autumn
    """
    print_shown(name, model=model, output=output, as_json=as_json)


@experiment.command()
@click.argument("tasks")
@json_option
def tasks(tasks: str, as_json: bool) -> None:
    """Check a task file, a folder of them or a set by name, and count what is in it.

    \b
    Example: seasoned experiment tasks conventions
    """
    found = load_tasks(tasks)
    rows = Counter((task.environment.name, task.part) for task in found.tasks)
    names = list(dict.fromkeys(task.environment.name for task in found.tasks))
    if as_json:
        counted = [
            {"environment": name, "parts": {part: rows[name, part] for part in PARTS if rows[name, part]}}
            for name in names
        ]
        print_json("tasks", {"name": found.name, "digest": found.digest, "environments": counted})
        return
    cells = [(name, *[rows[name, part] for part in PARTS]) for name in names]
    table(["environment", *PARTS], cells, right=PARTS)


@experiment.command()
@click.argument("name")
@click.option("--arms", default="cold,warm", show_default=True, metavar="ARM,ARM", help=_LIVE_ARMS)
@click.option("--holdout", default=0.0, show_default=True, help="The part of all sessions that is left alone.")
@json_option
def begin(name: str, arms: str, holdout: float, as_json: bool) -> None:
    """Begin an experiment on live sessions, or go on with other weights. The first arm is the control, shown nothing.

    \b
    Example: seasoned experiment begin autumn --arms cold,warm --holdout 0.05
    Example: seasoned experiment begin autumn --arms cold,template:code:2
    """
    begin_live(name, arms, holdout=holdout, as_json=as_json)


@experiment.command()
@click.argument("name")
@click.argument("session")
@click.option("--arms", metavar="ARM,ARM", help="Begin an experiment with these arms; ARM:2 weighs twice as much.")
@click.option("--holdout", default=0.0, show_default=True, help="The part of all sessions that is left alone.")
@json_option
def assign(name: str, session: str, arms: str | None, holdout: float, as_json: bool) -> None:
    """Assign a live SESSION to an arm of the experiment NAME: by chance, and always the same.

    \b
    Example: seasoned experiment assign autumn claude-code:1e038fbf --arms cold,warm
    """
    print_assignment(name, session, arms=arms, holdout=holdout, as_json=as_json)
