"""`experiment …`: proves on tasks with checks whether a warm start helps, and assigns live sessions to arms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import msgspec

from seasoned.app import experiment as experiments
from seasoned.app.experiment import ExperimentPlan
from seasoned.app.extras import require_numbers
from seasoned.cli.experiment import show as output
from seasoned.cli.options import Commands, json_option, yes_option
from seasoned.cli.output import print_json, table
from seasoned.config import load
from seasoned.errors import UsageError
from seasoned.experiment.run.design import check_design, new_design, read_design
from seasoned.experiment.task.task_file import BUILT_IN, PARTS, load_tasks

_PARTS = click.Choice(["train", "former", "development", "confirmation"])
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
@click.argument("tasks", required=False)
@click.option(
    "--arms",
    default=_ARMS,
    show_default=True,
    metavar="ARM,ARM",
    help="The arms to compare; template:NAME shows a template.",
)
@click.option("--part", type=_PARTS, default="confirmation", show_default=True, help="The part of the tasks to run.")
@click.option("--name", help="The name of the experiment. Default: task set and part.")
@click.option("--design", "file", type=click.Path(path_type=Path), help="Read all of this from an experiment file.")
@click.option("--model", help="The model, as for `chat`: openai:NAME, anthropic:NAME, local or local:/path/model.gguf.")
@click.option("--base-url", help="The address of an OpenAI-compatible server.")
@click.option("--primary", type=_MEASURES, default="executed", show_default=True, help="The measure that decides.")
@click.option("--repeats", default=1, show_default=True, help="Run each task under each arm this often.")
@click.option("--banks", default=2, show_default=True, help="Use this many fixed orders of the examples.")
@click.option("-k", "k", default=3, show_default=True, help="Show at most this many examples.")
@click.option("--temperature", default=0.0, show_default=True, help="The sampling temperature of the model.")
@click.option("--samples", default=4, show_default=True, help="Try each train task up to this often.")
@click.option("--seed", default=0, show_default=True, help="The seed of the model, the same for all arms.")
@click.option(
    "--parallel", default=1, show_default=True, type=click.IntRange(1, 64), help="Make this many runs at once."
)
@click.option("--minutes", type=float, help="Start no further run after this many minutes.")
@click.option("--dollars", type=float, help="Start no further run after spending this much.")
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
    """Run tasks under several arms.

    TASKS is a built-in set (conventions, plain, multi-step), a file or a folder. Announces first how many model calls
    it takes, and how long if that is known. After an interruption, the same command continues. Arms that show examples
    learn them first, from real runs on the train part.

    \b
    Example: seasoned experiment run conventions --part development --arms cold,warm,placebo --minutes 20
    Example: seasoned experiment run plain --model local
    """
    if file is not None:
        design = read_design(file)
    elif tasks is None:
        raise UsageError(
            "Name the tasks to run (conventions, plain, multi-step, a file or a folder), or give a --design."
        )
    else:
        # Part of the default name, so that runs on the development part never mix with the confirmation.
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
    # The one option that a design file does not settle: the same design can be run under a new name.
    if file is not None and name is not None:
        design = check_design(msgspec.structs.replace(design, name=name))
    # Before the runs, which can take hours: the analysis at the end needs these libraries.
    require_numbers("experiment")
    plan = ExperimentPlan(design=design, parallel=parallel, minutes=minutes, dollars=dollars)
    observer = output.TerminalObserver(is_agreed=yes)
    used = experiments.run_experiment(load(), plan, model=model, base_url=base_url, observer=observer)
    # Also after a budget ended the runs: the analysis says how much is known so far.
    output.print_found(design.name, model=used, output=None, as_json=as_json)


@experiment.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List experiments and how far each has come.

    \b
    Example: seasoned experiment list
    """
    output.print_list(as_json=as_json)


@experiment.command()
@click.argument("name")
@click.option("--model", help="Only runs with this model.")
@click.option(
    "-o", "--output", "page", type=click.Path(path_type=Path), help="Write the page with the plots to this file."
)
@json_option
def show(name: str, model: str | None, page: Path | None, as_json: bool) -> None:
    """Show what an experiment found.

    Every arm, every contrast, what may be said and what may not. For live sessions, what is known so far: assignments,
    outcomes with intervals that stay valid however often you look, and what each example does.

    \b
    Example: seasoned experiment show conventions-confirmation -o conventions.html
    Example: seasoned experiment show autumn
    """
    output.print_shown(name, model=model, output=page, as_json=as_json)


@experiment.command()
@click.argument("tasks")
@json_option
def tasks(tasks: str, as_json: bool) -> None:
    """Check a task file and count its tasks.

    TASKS is a built-in set, a file or a folder.

    \b
    Example: seasoned experiment tasks conventions
    """
    found = load_tasks(tasks)
    rows = Counter((task.environment.name, task.part) for task in found.tasks)
    # In the order of the file, each once.
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
@click.option("--holdout", default=0.0, show_default=True, help="The share of all sessions that is left alone.")
@json_option
def begin(name: str, arms: str, holdout: float, as_json: bool) -> None:
    """Begin an experiment on live sessions.

    For a name that exists, continue with other weights. The first arm is the control, which is shown nothing.

    \b
    Example: seasoned experiment begin autumn --arms cold,warm --holdout 0.05
    Example: seasoned experiment begin autumn --arms cold,template:code:2
    """
    notes: list[str] = []
    split = experiments.begin(load(), name, arms, holdout=holdout, tell=notes.append)
    if as_json:
        answer = {"name": name, "split": split.digest, "control": split.control, "shares": split.shares}
        print_json("experiment-begun", {**answer, "holdout": holdout, "notes": notes})
        return
    click.echo(f"Sessions are divided between {', '.join(split.shares)}; {split.control} is the control.")
    # The arms are drawn where sessions begin, and those programs read their settings at the start.
    click.echo(f'Set experiment = "{name}" under [warm] in config.toml, and restart the gateway and Hermes.')
    for note in notes:
        click.echo(note)


@experiment.command()
@click.argument("name")
@click.argument("session")
@click.option("--arms", metavar="ARM,ARM", help="Begin an experiment with these arms; ARM:2 weighs twice.")
@click.option("--holdout", default=0.0, show_default=True, help="The share of all sessions that is left alone.")
@json_option
def assign(name: str, session: str, arms: str | None, holdout: float, as_json: bool) -> None:
    """Assign a live session to an arm.

    By chance, and always the same for the same session.

    \b
    Example: seasoned experiment assign autumn claude-code:1e038fbf --arms cold,warm
    """
    found = experiments.assign(load(), name, session, arms=arms, holdout=holdout)
    if as_json:
        print_json("assignment", {"experiment": name, "session": session, "arm": found.arm, "split": found.split})
    else:
        click.echo(found.arm)
