"""`recall`: what worked before for a tool or an error."""

from __future__ import annotations

import sys

import click
import msgspec

from seasoned.app.recall import recall as look_up
from seasoned.app.stores import own_store
from seasoned.cli.options import all_option, json_option, project_option
from seasoned.cli.output import print_json, printable
from seasoned.cli.project import project_or_none
from seasoned.config import load
from seasoned.template.recall.lookup import recall_text


@click.command()
@click.option("--tool", help="The tool's name, as the agent calls it.")
@click.option("--error", help="The error message; `-` reads it from standard input.")
@click.option("--command", help="The shell command that failed, to tell one program's errors from another's.")
@click.option("--limit", type=click.IntRange(1, 20), default=3, show_default=True, help="Show at most this many.")
@click.option("--any-age", is_flag=True, help="Also show what last worked more than 180 days ago.")
@project_option
@all_option
@json_option
def recall(
    tool: str | None,
    error: str | None,
    command: str | None,
    limit: int,
    any_age: bool,
    project: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Look up what worked for a tool or an error.

    Shows how a tool was used successfully, or which repair worked for an error. What is old, retired, contradicted by
    later failures or hostile is left out and counted. Searches the project of this folder; a folder without sessions
    needs --project or --all. Exits with 1 when nothing is found.

    \b
    Example: seasoned recall --tool Bash --error "wp: missing --env" --all
    """
    with own_store(load()) as store:
        key, unknown = project_or_none(store, project, everything=everything)
        found = look_up(
            store,
            tool=tool,
            error=sys.stdin.read() if error == "-" else error,
            # Errors are filed by program as well, so the command narrows the search.
            arguments=None if command is None else {"command": command},
            limit=limit,
            any_age=any_age,
            project=key,
        )
    if found.is_empty and unknown:
        found = msgspec.structs.replace(found, reason=unknown)
    if as_json:
        print_json("recall", msgspec.to_builtins(found))
    else:
        click.echo(printable(recall_text(found)))
    if found.is_empty:
        raise click.exceptions.Exit(1)
