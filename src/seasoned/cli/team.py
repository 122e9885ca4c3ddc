"""`team`: join a team, share what sessions learn, and run its server."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from seasoned.app import team as app
from seasoned.cli.options import Commands, file_type, json_option, yes_option
from seasoned.cli.output import print_json, table, when
from seasoned.config import load
from seasoned.errors import UsageError
from seasoned.text import plural

_project_option = click.option(
    "--project", "projects", multiple=True, metavar="PROJECT", help="As host/owner/name; may be repeated."
)


@click.group(cls=Commands)
def team() -> None:
    """Share what sessions learn with a team.

    Your machine keeps its own store. It pushes what you allow, by project, and pulls what others learned there.
    """


@team.command()
@click.argument("url")
@click.argument("code")
@_project_option
@json_option
def join(url: str, code: str, projects: tuple[str, ...], as_json: bool) -> None:
    """Join a team with a code from an admin.

    Without --project you are asked which projects to share; none is shared by default. Nothing leaves this machine
    before you have seen it: `seasoned team preview` writes it to a file, and `seasoned team push` sends it.

    \b
    Example: seasoned team join https://seasoned.example.com join_… --project github.com/acme/shop
    """
    config = load()
    if not projects and not config.team.projects and sys.stdin.isatty() and not as_json:
        known = app.shareable_projects(config)
        projects = tuple(one for one in known if click.confirm(f"Share what sessions learn in {one}?", default=False))
    found = app.join(config, url, code, projects)
    config = load()
    made = app.preview(config)
    pulled = app.pull(config)
    if as_json:
        answer = {"machine": found.machine, "person": found.person, "projects": list(config.team.projects)}
        print_json("team-join", {**answer, "preview": str(made.file), "records": made.records})
        return
    shared = ", ".join(config.team.projects) or "no project yet; name some under [team] in config.toml"
    click.echo(f"Joined as {found.machine} of {found.person}. Shared: {shared}.")
    click.echo(f"Pulled what {plural(pulled.sessions, 'session')} of others showed.")
    if made.records:
        click.echo(f"A push would send {plural(made.records, 'record')}: read {made.file}, then `seasoned team push`.")


@team.command()
@click.option("--output", "-o", "file", type=file_type, help="Write to this file. Default: one in the home folder.")
@json_option
def preview(file: Path | None, as_json: bool) -> None:
    """Write what a push would send to a file.

    Exactly that, one record a line.

    \b
    Example: seasoned team preview -o push.jsonl
    """
    made = app.preview(load(), file)
    if as_json:
        print_json("team-preview", {**msgspec.structs.asdict(made), "file": str(made.file)})
        return
    gone = f", and withdraw {made.withdrawn}" if made.withdrawn else ""
    click.echo(f"A push would send {plural(made.records, 'record')} ({made.bytes:,} bytes){gone}: {made.file}")


@team.command()
@yes_option
@json_option
def push(yes: bool, as_json: bool) -> None:
    """Push what is new in the shared projects.

    The first time you are asked; from then on it happens by itself when sessions end.

    \b
    Example: seasoned team push
    """
    config = load()
    if not app.has_agreed(config) and not yes:
        made = app.preview(config)
        if not sys.stdin.isatty():
            raise UsageError(f"Read {made.file}: that is what would leave this machine. Then add --yes.")
        question = f"Push {plural(made.records, 'record')} ({made.file} shows them), and from now on by itself?"
        if not click.confirm(question):
            raise click.exceptions.Exit(1)
    done = app.push(config)
    if as_json:
        print_json("team-push", msgspec.structs.asdict(done))
        return
    click.echo(f"Pushed {plural(done.sent, 'record')}, withdrew {done.withdrawn}.")
    if done.refused:
        click.echo(f"The server refused {plural(done.refused, 'record')}; they are not sent again.", err=True)


@team.command()
@_project_option
@json_option
def pull(projects: tuple[str, ...], as_json: bool) -> None:
    """Pull what others learned.

    For the projects that have sessions here or that the settings name, or for those given.

    \b
    Example: seasoned team pull --project github.com/acme/shop
    """
    done = app.pull(load(), projects)
    if as_json:
        print_json("team-pull", msgspec.structs.asdict(done))
        return
    where = f"in {plural(done.projects, 'project')}"
    click.echo(f"Pulled {plural(done.sessions, 'session')} of others {where}, removed {done.withdrawn}.")


@team.command()
@json_option
def status(as_json: bool) -> None:
    """Show the membership of this machine.

    Exits with 1 when the server cannot be reached or no longer accepts this machine.

    \b
    Example: seasoned team status
    """
    config = load()
    found = app.status(config)
    is_well = found.problem is None
    if as_json:
        answer = {**msgspec.structs.asdict(found), "projects": list(config.team.projects)}
        print_json("team-status", {**answer, "membership": msgspec.structs.asdict(found.membership)})
    else:
        one = found.membership
        click.echo(f"{one.machine} of {one.person}, in the team at {one.url} since {when(one.joined_at)}.")
        agreed = "by itself" if one.agreed_at is not None else "only after your first `seasoned team push`"
        click.echo(f"Shared: {', '.join(config.team.projects) or 'no project'}; pushed {agreed}.")
        click.echo(f"Last push: {when(one.pushed_at)}. Last pull: {when(one.pulled_at)}.")
        click.echo(f"{plural(found.waiting, 'record')} to push.")
        rows = [(row["project"], row["kind"], row["records"], row["refused"]) for row in found.pushed]
        if rows:
            table(["project", "kind", "pushed", "refused"], rows)
        others = [(row["project"], row["sessions"], row["people"]) for row in found.pulled]
        if others:
            table(["project", "sessions of others", "people"], others)
        if found.experiments:
            named = ", ".join(repr(one) for one in found.experiments)
            click.echo(
                f"Experiments that this machine does not take part in: {named}. To do so, name them under [team]."
            )
        for note in found.notes:
            click.echo(note, err=True)
        if found.problem is not None:
            click.echo(found.problem, err=True)
    if not is_well:
        raise click.exceptions.Exit(1)


@team.command()
@click.option("--output", "-o", "file", type=file_type, required=True, help="Write to this file.")
def export(file: Path) -> None:
    """Export everything the server has of you.

    From all your machines, one record a line.

    \b
    Example: seasoned team export -o mine.jsonl
    """
    count = app.export(load(), file)
    click.echo(f"Wrote {plural(count, 'record')} to {file}.")


@team.command()
@click.option("--withdraw", is_flag=True, help="Also withdraw what this machine pushed.")
@click.option("--server-is-gone", is_flag=True, help="Do not tell the server, which no longer exists.")
@yes_option
def leave(withdraw: bool, server_is_gone: bool, yes: bool) -> None:
    """Leave the team.

    What was pulled is removed from this machine. What it pushed stays with the team unless you withdraw it; then it
    also goes from every machine that pulled it.

    \b
    Example: seasoned team leave --withdraw
    """
    if not yes and not click.confirm("Leave the team" + (" and withdraw what you pushed?" if withdraw else "?")):
        raise click.exceptions.Exit(1)
    withdrawn = app.leave(load(), withdraw=withdraw, is_gone=server_is_gone)
    click.echo(f"Left the team, withdrew {plural(withdrawn, 'record')}.")


@team.command()
@click.argument("person")
@click.option("--as", "admin", metavar="NAME", help="Who you are; needed if there are several.")
@json_option
def invite(person: str, admin: str | None, as_json: bool) -> None:
    """Make a code for one machine of a person.

    Run this on the server. The code works once, within a day. Asks for your passphrase, once there is an admin.

    \b
    Example: seasoned team invite alice
    """
    from seasoned.cli.confirm.prompt import ask_passphrase

    code, machine = app.invite(load(), person, admin=admin, ask=ask_passphrase)
    if as_json:
        print_json("team-invite", {"code": code, "machine": machine, "person": person})
        return
    click.echo(f"A machine of {person} can join, once, within a day, and will be called {machine}:")
    click.echo(f"seasoned team join URL {code}")


@team.command()
@json_option
def machines(as_json: bool) -> None:
    """List the machines of the team and their volumes.

    Run this on the server. Shows when each machine pushed and how much, but not what.

    \b
    Example: seasoned team machines
    """
    found = app.machines(load())
    if as_json:
        print_json("team-machines", {"machines": found})
        return
    rows = [
        (one["name"], one["person"], when(one["pushed_at"]), one["records"], f"{one['bytes']:,}", when(one["left_at"]))
        for one in found
    ]
    table(["machine", "person", "last push", "records", "bytes", "left"], rows)


@team.command()
@click.argument("machine")
@yes_option
def remove(machine: str, yes: bool) -> None:
    """Remove a machine and what was learned from it.

    Run this on the server. Every machine that pulled from it removes that with its next pull.

    \b
    Example: seasoned team remove team.alice.3f2a1c
    """
    if not yes and not click.confirm(f"Remove {machine} and everything that was learned from it?"):
        raise click.exceptions.Exit(1)
    removed = app.remove(load(), machine, by="system:terminal")
    click.echo(f"Removed {machine}, withdrew {plural(removed, 'record')}.")
