"""`confirm token|allow|passphrase|policy`: who may do what. Changing it needs an admin's passphrase."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import click

from seasoned.cli.options import Commands, json_option

_ROLES = click.Choice(["agent", "approver", "admin"])
_file = click.Path(path_type=Path, dir_okay=False, readable=False)
_WHOSE = (
    "Whom it belongs to; one person has one vote, and none about an agent of their own. By default the user who runs"
    " this for agents and the first admin, NAME for others."
)
admin_option = click.option("--as", "admin", metavar="NAME", help="The admin; needed where there are several.")


def _granting() -> ModuleType:
    """What carries it out; it needs libraries that not everybody has."""
    from seasoned.app.confirm import need_server

    need_server()
    from seasoned.cli.confirm import grant

    return grant


@click.group(cls=Commands)
def token() -> None:
    """Credentials: agents ask and redeem, approvers decide, admins also change who may do what."""


@token.command()
@click.argument("name")
@click.option("--role", type=_ROLES, default="agent", show_default=True, help="What it may do.")
@click.option("--person", help=_WHOSE)
@click.option("--out", type=_file, help="Write the token to this file (mode 600) instead of showing it.")
@admin_option
@json_option
def make(name: str, role: str, person: str | None, out: Path | None, admin: str | None, as_json: bool) -> None:
    """Make a credential; its token is shown once. The first admin chooses a passphrase here.

    \b
    Example: seasoned confirm token make claude --role agent --out ~/.seasoned/secrets/confirm_token
    """
    _granting().make_token(name, role, person=person, out=out, admin=admin, as_json=as_json)


@token.command("list")
@json_option
def token_list(as_json: bool) -> None:
    """List the credentials, revoked ones too. Tokens are kept nowhere, only their hashes.

    \b
    Example: seasoned confirm token list
    """
    _granting().print_tokens(as_json=as_json)


@token.command()
@click.argument("name")
@admin_option
@json_option
def revoke(name: str, admin: str | None, as_json: bool) -> None:
    """End a credential at once. What it asked can no longer be redeemed; votes that it cast stand.

    \b
    Example: seasoned confirm token revoke claude
    """
    _granting().revoke_token(name, admin=admin, as_json=as_json)


@click.group(cls=Commands)
def allow() -> None:
    """Actions that need no person. None of the ten high-risk ones can be among them."""


@allow.command("add")
@click.argument("action")
@click.option("--session", metavar="KEY", help="Only in this session.")
@click.option("--for", "duration", metavar="TIME", help="Only so long: 90m, 8h, 7d.")
@admin_option
@json_option
def allow_add(action: str, session: str | None, duration: str | None, admin: str | None, as_json: bool) -> None:
    """Let an ACTION through without a person. Asks for an admin's passphrase.

    \b
    Example: seasoned confirm allow add send_email --session seasoned:3f2a --for 8h
    """
    _granting().add_allowed(action, session=session, duration=duration, admin=admin, as_json=as_json)


@allow.command("list")
@json_option
def allow_list(as_json: bool) -> None:
    """List what is allowed: on the stored list, and in the policy file.

    \b
    Example: seasoned confirm allow list
    """
    _granting().print_allowed(as_json=as_json)


@allow.command("remove")
@click.argument("allowed_id", metavar="ID")
@admin_option
@json_option
def allow_remove(allowed_id: str, admin: str | None, as_json: bool) -> None:
    """Take something off the stored list. Asks for an admin's passphrase.

    \b
    Example: seasoned confirm allow remove Kq7sYhX1T2mJv0o9cR5n8g
    """
    _granting().remove_allowed(allowed_id, admin=admin, as_json=as_json)


@click.group(cls=Commands)
def passphrase() -> None:
    """What proves an approver at the terminal. No file holds it, only a verifier."""


@passphrase.command("set")
@click.argument("name")
@click.option("--token-file", type=_file, help="The approver's token; without it the old passphrase is asked for.")
def passphrase_set(name: str, token_file: Path | None) -> None:
    """Give an approver or admin a passphrase, or another one.

    \b
    Example: seasoned confirm passphrase set ada --token-file ada.token
    """
    _granting().change_passphrase(name, token_file=token_file)


@click.group(cls=Commands)
def policy() -> None:
    """The policy file: time-outs, limits, approvers, channels."""


@policy.command()
@click.argument("file", required=False, type=_file)
@json_option
def check(file: Path | None, as_json: bool) -> None:
    """Check a policy file, by default the one in force, and show what it lays down.

    \b
    Example: seasoned confirm policy check draft.toml
    """
    _granting().check_policy(file, as_json=as_json)


@policy.command()
@click.argument("file", type=_file)
@click.option("--summary", default="", help="What changes, for the audit.")
@admin_option
@json_option
def use(file: Path, summary: str, admin: str | None, as_json: bool) -> None:
    """Put a policy file into force. Asks for an admin's passphrase.

    \b
    Example: seasoned confirm policy use draft.toml --summary "two approvers for deploys"
    """
    _granting().use_policy(file, summary=summary, admin=admin, as_json=as_json)
