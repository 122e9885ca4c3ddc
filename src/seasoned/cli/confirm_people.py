"""`confirm token`, `passphrase`, `policy`, `allow`: who may do what; and how a passphrase or token is asked for.

A passphrase is typed on the terminal itself: never taken from an argument, the environment, or a pipe.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from types import ModuleType

import click

from seasoned.app.confirm import open_book
from seasoned.cli.options import Commands, file_type, json_option, wants_json
from seasoned.cli.output import answered, as_fields, records, say, when
from seasoned.command.action import HIGH_RISK
from seasoned.config import load
from seasoned.confirm.client import ConfirmClient, configured_client
from seasoned.confirm.policy import FILE, load_policy
from seasoned.errors import CannotDo, UsageError
from seasoned.project import checkout_root

_NO_TERMINAL = (
    "The passphrase must be typed at a terminal, and there is none here. Run this at one, or decide from elsewhere with"
    " --url and an approver's token."
)
_MOST_TOKEN = 4096


def ask_passphrase(prompt: str) -> str:
    """What a person types at the terminal, without echo."""
    from getpass import GetPassWarning, getpass

    try:
        if os.name != "nt":
            # The terminal and not stdin, which it would read otherwise: a passphrase must not come from a pipe.
            os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        with warnings.catch_warnings():
            # That it would be shown.
            warnings.simplefilter("error", GetPassWarning)
            return getpass(prompt)
    except UnicodeDecodeError as error:
        raise UsageError("What you typed is not valid UTF-8. Try again.") from error
    except (OSError, EOFError, GetPassWarning) as error:
        raise CannotDo(_NO_TERMINAL) from error


def ask_new_passphrase(name: str) -> str:
    """A new passphrase, typed twice."""
    first = ask_passphrase(f"New passphrase for {name}: ")
    # Typed blind, so a slip would lock its owner out.
    if first != ask_passphrase("Repeat it: "):
        raise UsageError("The passphrases differ, so nothing was changed. Try again.")
    return first


def service_client(url: str | None, token_file: Path | None) -> ConfirmClient:
    """A client of the service at this address, or of the configured one."""
    if url is None and token_file is None:
        return configured_client()
    address = url or load().confirm_url
    if address is None:
        raise UsageError("Say where the service is: --url http://127.0.0.1:7327, or set `confirm_url`.")
    return ConfirmClient(address, read_token(token_file))


def read_token(file: Path | None) -> str:
    """The token in a file, or as typed. Never from an argument, which every process can read."""
    if file is None:
        return ask_passphrase("Token: ").strip()
    try:
        with file.open("rb") as handle:
            # A wrong file, such as a log, is not read whole.
            return handle.read(_MOST_TOKEN).decode("ascii").strip()
    except OSError as error:
        raise CannotDo(f"The token in {str(file)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(file)!r} does not hold a token, which is a line that begins with ssn_.") from error


_ROLES = click.Choice(["agent", "approver", "admin"])
_WHOSE = (
    "The person it belongs to. A person has one vote, and none about their own agents. An agent belongs to the person"
    " who makes it. Default: you for the first admin, NAME for others."
)
_admin_option = click.option("--as", "admin", metavar="NAME", help="Who you are; needed if there are several.")


def _people() -> ModuleType:
    """The rules about people. Imported late, because their libraries come with an extra."""
    from seasoned.app import people

    return people


@click.group(cls=Commands)
def token() -> None:
    """Manage credentials.

    Agents ask and redeem, approvers decide, admins also change who may do what.
    """


@token.command()
@click.argument("name")
@click.option("--alone", is_flag=True, help="With the first admin: you alone decide what your own agents ask for.")
@click.option("--role", type=_ROLES, default="agent", show_default=True, help="What it may do.")
@click.option("--person", help=_WHOSE)
@click.option("--out", type=file_type, help="Write the token to this new file (mode 600) instead of showing it.")
@_admin_option
@json_option
def make(name: str, role: str, person: str | None, out: Path | None, admin: str | None, alone: bool) -> None:
    """Make a credential and show its token once.

    The first admin chooses a passphrase here; later ones are made by an admin. An approver makes tokens for their own
    agents. Asks for your passphrase, once there is an admin.

    \b
    Example: seasoned confirm token make ada --role admin --alone
    Example: seasoned confirm token make claude --role agent --out ~/.seasoned/secrets/confirm_token
    """
    # Before the token is made: it is shown once, and a failed write would lose it.
    if out is not None and out.exists():
        raise UsageError(f"{str(out)!r} exists already. Name another file, or remove it.")
    people, config = _people(), load()

    # Called only for the first admin, inside the rules, which know no terminal.
    def choose_passphrase(who: str) -> str:
        if not wants_json():
            say("This is the first admin. Choose a passphrase of four words or more that no file holds.")
        return ask_new_passphrase(who)

    if alone:
        # Before the book is opened: the first admin agrees to the policy as it is then.
        people.decide_alone(config, role)
    with open_book(config) as book:
        made, secret, warning = people.make(
            config, book, name, role, person=person, admin=admin, ask=ask_passphrase, ask_new=choose_passphrase
        )
        if alone:
            people.give_agents_token(config, book, made)
    if out is not None:
        # After the book is closed: the credential must exist before its token does.
        people.write_token(out, secret)
    # On stderr also with --json, which stays valid for programs.
    if warning is not None:
        say(warning, err=True)
    answer = {**as_fields(made), "token": None if out else secret, "file": None if out is None else str(out)}
    if answered("confirm-token", answer):
        return
    if out is not None:
        say(f"{made.name} is now an {made.role}. The token is in {out}.")
    else:
        say(f"{made.name} is now an {made.role}. The token, shown only once:")
        click.echo(secret)


@token.command("list")
@json_option
def token_list() -> None:
    """List credentials, revoked ones too.

    Tokens are not kept, only their hashes.

    \b
    Example: seasoned confirm token list
    """
    with open_book() as book:
        from seasoned.confirm.people.credential import credentials

        found = credentials(book.database)
    if answered("confirm-tokens", {"count": len(found), "credentials": [as_fields(one) for one in found]}):
        return
    records(found, "name role person made=created_at revoked=revoked_at", nowrap=["name"])


@token.command()
@click.argument("name")
@_admin_option
@json_option
def revoke(name: str, admin: str | None) -> None:
    """Revoke a credential at once.

    What it asked for can no longer be redeemed. Votes that it cast stand.

    \b
    Example: seasoned confirm token revoke claude
    """
    people = _people()
    with open_book() as book:
        ended = people.end(book, name, admin=admin, ask=ask_passphrase)
    if not answered("confirm-credential", as_fields(ended)):
        say(f"{ended.name} has been revoked since {when(ended.revoked_at)}.")


@click.command()
@click.argument("name")
@click.option("--as", "admin", metavar="NAME", help="The admin who sets it, for a first or a forgotten passphrase.")
def passphrase(name: str, admin: str | None) -> None:
    """Set the passphrase of an approver or admin.

    It opens the key that signs what its owner decides, and no file holds it. Asks for the old one. An admin sets a
    first passphrase, or replaces a forgotten one.

    \b
    Example: seasoned confirm passphrase ada
    Example: seasoned confirm passphrase ben --as ada
    """
    people = _people()
    with open_book() as book:
        people.set_new_passphrase(book, name, admin=admin, ask=ask_passphrase, ask_new=ask_new_passphrase)
    say(f"{name} has a new passphrase.")


@click.command()
@click.argument("file", required=False, type=file_type)
@click.option("--use", "puts", is_flag=True, help="Put FILE into force; asks for an admin's passphrase.")
@click.option("--summary", default="", help="With --use: what changes, for the audit.")
@_admin_option
@json_option
def policy(file: Path | None, puts: bool, summary: str, admin: str | None) -> None:
    """Check a policy file, or put it into force.

    Shows what it says: time-outs, limits, approvers and channels. Without FILE, the one in force.

    \b
    Example: seasoned confirm policy draft.toml
    Example: seasoned confirm policy draft.toml --use --summary "two approvers for deploys"
    """
    config = load()
    place = file or config.home / FILE
    # A missing policy means the defaults, which would be a wrong answer about a misspelt path.
    if file is not None and not file.exists():
        raise CannotDo(f"{str(file)!r} does not exist. Check the path.")
    if not puts:
        _print_policy(place)
        return
    if file is None:
        raise UsageError("Name the policy file to put into force.")
    target = config.home / FILE
    with open_book(config) as book:
        by, digest = _people().use_policy(config, book, file, summary=summary, admin=admin, ask=ask_passphrase)
    if answered("confirm-policy-used", {"file": str(target), "sha256": digest, "by": by}):
        return
    say(f"{target} is in force. Start a running service again, so that it applies there too.")
    # Read again from the file: this is what is in force now.
    if (warning := load_policy(target).gives_up()) is not None:
        say(warning)


@click.command()
@click.argument("action", required=False)
@click.option(
    "--project", type=click.Path(path_type=Path, file_okay=False), help="Only for sessions in this folder's project."
)
@click.option("--host", help="Only on this other machine.")
@click.option("--hours", type=click.FloatRange(0.01, 8784), help="Only for so long.")
@click.option("--end", "number", type=int, metavar="NUMBER", help="End an allowance at once; asks for no passphrase.")
@_admin_option
@json_option
def allow(
    action: str | None,
    project: Path | None,
    host: str | None,
    hours: float | None,
    number: int | None,
    admin: str | None,
) -> None:
    """Allow an action without being asked.

    Hooks of agents on this machine then let calls through that need this one of the ten actions: in a project, on a
    host, for a while, or always. It is signed with your passphrase. Without ACTION, lists what is allowed.

    \b
    Example: seasoned confirm allow delete_data --project . --hours 8
    Example: seasoned confirm allow --end 17
    """
    people = _people()
    from seasoned.confirm.people import change

    if action is not None and number is not None:
        raise UsageError("Use one of ACTION and --end at a time.")
    with open_book(agreed=action is not None) as book:
        if number is not None:
            found = [change.end_allowance(book, number)]
        elif action is not None:
            root = None if project is None else checkout_root(str(project.resolve())) or str(project.resolve())
            until = None if hours is None else time.time() + hours * 3600
            by = people.prove_admin(book, admin, ask_passphrase)
            found = [change.allow(book, by, action, project=root, host=host, until=until)]
        else:
            now = time.time()
            known = book.recorded().allowances.values()
            found = [one for one in known if one.until is None or now < one.until]
    if answered("confirm-allowances", {"count": len(found), "allowances": [as_fields(one) for one in found]}):
        return
    if number is not None:
        say(f"{found[0].action} is asked about again.")
    elif not found:
        say("Nothing is allowed without being asked.")
    else:
        until_column = ("until", lambda one: when(one.until))
        records(found, "number action project host", until_column, "by since=at", nowrap=["action"])


def _print_policy(place: Path) -> None:
    found = load_policy(place)
    if answered("confirm-policy", {"file": str(place), "exists": place.exists(), "policy": as_fields(found)}):
        return
    say(f"{place} is a valid policy." if place.exists() else f"There is no {place}: the defaults apply.")
    rate = f"{found.rate.count} requests of an action in {found.rate.window_seconds:g} s"
    say(f"A request waits {found.timeout.default_seconds:g} s for a person; at most {rate}.")
    say(f"Allowed without a person: {', '.join(rule.action for rule in found.allow) or 'nothing'}.")
    say(f"Channels: {', '.join(found.channel) or 'none'}.")
    say(f"Always needs a person: {', '.join(sorted(HIGH_RISK))}.")
    if (warning := found.gives_up()) is not None:
        say(warning)
