"""`recall`: how a tool was used successfully, and which repair worked for an error."""

from __future__ import annotations

import sys

import click

from seasoned.cli.options import json_option

_FILL_SECONDS = 10.0


@click.command()
@click.option("--tool", help="The tool, by the name that the agent gives it.")
@click.option("--error", help="What it complained of; - reads it from stdin.")
@click.option(
    "--command", help="For a shell: the command that failed, which tells one program's errors from another's."
)
@click.option("--limit", type=click.IntRange(1, 20), default=3, show_default=True, help="Ways to show at most.")
@click.option("--any-age", is_flag=True, help="Also what was last seen to work more than 180 days ago.")
@json_option
def recall(tool: str | None, error: str | None, command: str | None, limit: int, any_age: bool, as_json: bool) -> None:
    """Look up what worked: how a tool was used successfully, or which repair worked for an error.

    Only calls that worked are shown, the newest of each manner; what is old, retired, contradicted by later failures or
    hostile is left out and counted. Where nothing is found, that is said, with exit code 1.

    \b
    Example: seasoned recall --tool Bash --error "wp: missing --env"
    """
    import msgspec

    from seasoned.cli.output import print_json, printable
    from seasoned.cli.place import stored
    from seasoned.config import load
    from seasoned.template.recall.index import fill
    from seasoned.template.recall.lookup import recall as look_up
    from seasoned.template.recall.lookup import recall_text

    if error == "-":
        error = sys.stdin.read()
    with stored(load()) as store:
        fill(store, within_seconds=_FILL_SECONDS)
        arguments = None if command is None else {"command": command}
        found = look_up(store, tool=tool, error=error, arguments=arguments, limit=limit, any_age=any_age)
    if as_json:
        print_json("recall", msgspec.to_builtins(found))
    else:
        click.echo(printable(recall_text(found)))
    if found.is_empty:
        raise click.exceptions.Exit(1)
