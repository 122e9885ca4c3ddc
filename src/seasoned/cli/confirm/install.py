"""`confirm install` and `confirm uninstall`: the service as another user of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seasoned.cli.options import json_option, yes_option
from seasoned.cli.output import print_json, printable
from seasoned.confirm.install import (
    RootCommand,
    Setup,
    find_program,
    has_backup,
    install_commands,
    installed,
    is_root,
    look,
    make_setup,
    next_steps,
    run_commands,
    setup_for_mac,
    system_here,
    uninstall_commands,
    unit_text,
)
from seasoned.connect.plan import diff_of
from seasoned.errors import UsageError

_COLOURS = {"+": "green", "-": "red"}
_dry_option = click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")


@click.command()
@click.option(
    "--as-user",
    "user",
    is_flag=False,
    flag_value="seasoned",
    metavar="[NAME]",
    help="Run the service as this system user, made if it is missing. Default: seasoned.",
)
@click.option("--for", "person", metavar="NAME", help="The user whose agents ask. Default: you.")
@click.option("--group", metavar="NAME", help="Who can reach the socket. Default: the primary group of that user.")
@click.option("--port", default=7327, show_default=True, type=click.IntRange(1, 65535), help="The page, on loopback.")
@click.option("--alone", is_flag=True, help="You alone decide about your own agents (single_operator).")
@_dry_option
@yes_option
@json_option
def install(
    user: str | None,
    person: str | None,
    group: str | None,
    port: int,
    alone: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the service as another user of this machine.

    Agents that run as you can then neither read nor change requests, audit, key and program. Shows every command
    first; without root it prints them for you to run with sudo. `seasoned confirm uninstall` undoes it.

    \b
    Example: seasoned confirm install --as-user
             sudo seasoned confirm install --as-user --for ada --yes
    """
    if user is None:
        raise UsageError("Add --as-user: the service then runs as another user, out of reach of your agents.")
    setup, groups = make_setup(user=user, person=person, group=group, port=port, alone=alone)
    present = look(setup)
    commands = install_commands(setup, find_program(setup.uid, groups), present=present)
    diff = "" if setup.system == "none" else _unit_diff(setup, present.unit)
    _do(commands, "install", next_steps(setup), diff=diff, dry_run=dry_run, yes=yes, as_json=as_json)


@click.command()
@click.option("--purge", is_flag=True, help="Also delete requests, audit and key, and the user made for them.")
@_dry_option
@yes_option
@json_option
def uninstall(purge: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Undo `confirm install`.

    Requests and audit stay where they are, unless you add --purge.

    \b
    Example: seasoned confirm uninstall
    """
    usual = Setup(person="", uid=0, group="", user="", system=system_here(), port=0, alone=False)
    folder: Path = (setup_for_mac(usual) if usual.system == "launchd" else usual).program_folder
    found = installed(folder)
    commands = uninstall_commands(found.setup, made_user=found.made_user, backup=has_backup(found.setup), purge=purge)
    kept = [] if purge else [f"{found.setup.home} still holds requests, audit and key."]
    _do(commands, "uninstall", kept, diff="", dry_run=dry_run, yes=yes, as_json=as_json)


def _unit_diff(setup: Setup, before: str | None) -> str:
    return diff_of(None if before is None else before.encode(), unit_text(setup).encode(), setup.unit)


def _do(
    commands: list[RootCommand],
    name: str,
    steps: list[str],
    *,
    diff: str,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show the commands, then run them as root after a question, or leave them to the person."""
    answer: dict[str, Any] = {
        "state": "previewed",
        "commands": [{"command": one.shell(), "why": one.why} for one in commands],
        "diff": diff,
        "steps": steps,
    }
    if not as_json:
        _show(commands, diff)
    if not is_root():
        answer["state"] = "previewed" if dry_run else "needs_root"
    elif not dry_run:
        if not yes and as_json:
            raise UsageError("--json asks no questions: add --yes, or --dry-run to look only.")
        if yes or click.confirm("Run these commands?"):
            run_commands(commands, say=lambda one: click.echo(f"{one.why} …", err=True))
            answer["state"] = "done"
        else:
            answer["state"] = "declined"
    if as_json and name == "install":
        print_json("confirm-install", answer)
        return
    if as_json:
        print_json("confirm-uninstall", answer)
        return
    outcome = {
        "needs_root": "Nothing was changed: this needs root. Run the commands above, in this order.",
        "previewed": "Nothing was changed.",
        "declined": "Nothing was changed.",
        "done": "Done.",
    }[answer["state"]]
    click.echo(outcome)
    if steps and answer["state"] != "declined":
        click.echo("Then:" if name == "install" else "Note:")
        for number, step in enumerate(steps, start=1):
            click.echo(f"  {number}. {printable(step)}")


def _show(commands: list[RootCommand], diff: str) -> None:
    for line in printable(diff).splitlines():
        click.secho(line, fg=None if line.startswith(("+++", "---")) else _COLOURS.get(line[:1]))
    if diff:
        click.echo("")
    for one in commands:
        click.secho(f"# {one.why}", dim=True)
        click.echo(printable(one.shell()))
