"""`confirm …`: agents hand over risky actions, and a person agrees, once, to exactly that one."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.cli.options import Commands, json_option
from seasoned.cli.serve import Wanted, listen_options

_STATUSES = click.Choice(["pending", "approved", "denied", "expired", "auto_approved"])
_file = click.Path(path_type=Path, dir_okay=False, readable=False)
url_option = click.option(
    "--url", help="The service: http://127.0.0.1:7327, https://…, unix:/path. By default `confirm_url`."
)
remote_option = click.option(
    "--url", help="Over HTTP, with the token in --token-file or typed in. By default on this machine's store."
)
token_option = click.option("--token-file", type=_file, help="The file that holds the token.")
as_option = click.option("--as", "name", metavar="NAME", help="Your credential; needed where there are several.")


class ConfirmCommands(Commands):
    """Has the groups of further files as well, imported when they are called."""

    _OTHERS = ("token", "allow", "passphrase", "policy")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self._OTHERS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._OTHERS:
            return super().get_command(ctx, cmd_name)
        from seasoned.cli.confirm import people

        command: click.Command = getattr(people, cmd_name)
        return command


@click.group(cls=ConfirmCommands)
def confirm() -> None:
    """A person decides: agents hand over risky actions, and wait until somebody agrees to exactly that.

    An agent that runs as you can run every command that you can. So deciding at the terminal asks for a passphrase that
    no file holds; or decide from elsewhere: the page, a phone, another user.
    """


@confirm.command()
@listen_options
def serve(wanted: Wanted) -> None:
    """Run the confirmation service alone, until it is interrupted.

    Port 6000 is for callers of the first version; browsers refuse to open pages there.

    \b
    Example: seasoned confirm serve --port 6000
    """
    from seasoned.cli.serve import run_service

    run_service(wanted)


@confirm.command()
@click.argument("action")
@click.argument("description")
@click.option("--details", default="{}", metavar="JSON|@FILE|-", help="The exact arguments, as a JSON object.")
@click.option("--session", default="", metavar="KEY", help="The session that asks, for allow rules.")
@click.option("--timeout", type=float, metavar="SECONDS", help="How long a person may take, 30 to 3600.")
@click.option("--idempotency-key", metavar="KEY", help="Asked twice with the same key, it is one request.")
@click.option("--wait", "waits", is_flag=True, help="Wait for the decision; exit code 1 unless it is a yes.")
@click.option("--redeem", "redeems", is_flag=True, help="Wait, and use the approval up: do the thing right after.")
@url_option
@token_option
@json_option
def submit(
    action: str,
    description: str,
    details: str,
    session: str,
    timeout: float | None,
    idempotency_key: str | None,
    waits: bool,
    redeems: bool,
    url: str | None,
    token_file: Path | None,
    as_json: bool,
) -> None:
    """Ask a person to agree to an ACTION, with an agent's token.

    \b
    Example: seasoned confirm submit delete_data "Delete last year's logs" --details '{"path": "/srv/logs/2025"}'
    Example: seasoned confirm submit delete_data "Delete the logs" --redeem && rm -r /srv/logs/2025
    """
    from seasoned.cli.confirm.request import Wished, ask

    wished = Wished(
        action=action,
        description=description,
        details=details,
        session_key=session,
        timeout_seconds=timeout,
        idempotency_key=idempotency_key,
    )
    ask(wished, url=url, token_file=token_file, waits=waits or redeems, redeems=redeems, as_json=as_json)


@confirm.command()
@click.argument("request_id", metavar="ID")
@click.option("--seconds", default=3600.0, show_default=True, type=click.FloatRange(0, 86400), help="Wait so long.")
@url_option
@token_option
@json_option
def wait(request_id: str, seconds: float, url: str | None, token_file: Path | None, as_json: bool) -> None:
    """Wait until a request is decided. Exit code 0 when it is approved, 1 when it is not.

    \b
    Example: seasoned confirm wait 6sXlJ0bVQ8OJkq2m9Yd3Zw --seconds 60
    """
    from seasoned.cli.confirm.request import wait_for

    wait_for(request_id, seconds, url=url, token_file=token_file, as_json=as_json)


def _decide(
    request_id: str,
    *,
    approve: bool,
    reason: str,
    name: str | None,
    url: str | None,
    token_file: Path | None,
    as_json: bool,
) -> None:
    from seasoned.cli.confirm.request import Vote, decide_here, decide_over_http

    vote = Vote(request_id=request_id, approve=approve, reason=reason)
    if url is not None or token_file is not None:
        decide_over_http(vote, url=url, token_file=token_file, as_json=as_json)
    else:
        decide_here(vote, name=name, as_json=as_json)


@confirm.command()
@click.argument("request_id", metavar="ID")
@click.option("--reason", default="", help="Why; it is kept and shown.")
@as_option
@remote_option
@token_option
@json_option
def approve(
    request_id: str, reason: str, name: str | None, url: str | None, token_file: Path | None, as_json: bool
) -> None:
    """Show a request with its exact arguments, and agree to it. Asks for your passphrase.

    \b
    Example: seasoned confirm approve 6sXlJ0bVQ8OJkq2m9Yd3Zw --reason "checked the backup"
    """
    _decide(request_id, approve=True, reason=reason, name=name, url=url, token_file=token_file, as_json=as_json)


@confirm.command()
@click.argument("request_id", metavar="ID")
@click.option("--reason", default="", help="Why; the one who asked is told.")
@as_option
@remote_option
@token_option
@json_option
def deny(
    request_id: str, reason: str, name: str | None, url: str | None, token_file: Path | None, as_json: bool
) -> None:
    """Refuse a request. Asks for your passphrase.

    \b
    Example: seasoned confirm deny 6sXlJ0bVQ8OJkq2m9Yd3Zw --reason "wrong database"
    """
    _decide(request_id, approve=False, reason=reason, name=name, url=url, token_file=token_file, as_json=as_json)


@confirm.command("list")
@click.option("--status", type=_STATUSES, help="Only those that stand so.")
@click.option("--unused", is_flag=True, help="Only those that were approved and never redeemed.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="How many at most.")
@remote_option
@token_option
@json_option
def list_(
    status: str | None, unused: bool, limit: int, url: str | None, token_file: Path | None, as_json: bool
) -> None:
    """List requests, the newest first.

    \b
    Example: seasoned confirm list --status pending
    """
    from seasoned.cli.confirm.show import print_requests

    print_requests(status, unused=unused, limit=limit, url=url, token_file=token_file, as_json=as_json)


@confirm.command()
@click.argument("request_id", metavar="ID")
@remote_option
@token_option
@json_option
def show(request_id: str, url: str | None, token_file: Path | None, as_json: bool) -> None:
    """Show one request: its arguments, exact while it is pending, and who voted how.

    \b
    Example: seasoned confirm show 6sXlJ0bVQ8OJkq2m9Yd3Zw
    """
    from seasoned.cli.confirm.show import print_request

    print_request(request_id, url=url, token_file=token_file, as_json=as_json)


@confirm.command()
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="How many at most.")
@click.option("--request", "request_id", metavar="ID", help="Only what happened to this request, oldest first.")
@remote_option
@token_option
@json_option
def audit(limit: int, request_id: str | None, url: str | None, token_file: Path | None, as_json: bool) -> None:
    """Show what happened, the newest first.

    \b
    Example: seasoned confirm audit --limit 20
    """
    from seasoned.cli.confirm.show import print_audit

    print_audit(limit, request_id=request_id, url=url, token_file=token_file, as_json=as_json)


@confirm.command()
@click.option("--heads", type=_file, help="A file of exported heads, which the audit must still hold.")
@json_option
def verify(heads: Path | None, as_json: bool) -> None:
    """Check that the audit is whole and unchanged, and that every request stands as it says. Names the first bad row.

    \b
    Example: seasoned confirm verify --heads /mnt/elsewhere/heads.jsonl
    """
    from seasoned.cli.confirm.show import print_verified

    print_verified(heads, as_json=as_json)


@confirm.command()
@click.option(
    "--to",
    "--export",
    "to",
    metavar="FILE|URL",
    help="Add it to a file, or post it as a signed webhook: somewhere that no agent can write.",
)
@json_option
def head(to: str | None, as_json: bool) -> None:
    """Show how far the audit has come. Kept elsewhere, it shows later whether the audit was written anew.

    \b
    Example: seasoned confirm head --to /mnt/elsewhere/heads.jsonl
    Example: seasoned confirm head --to https://keeper.example.org/heads
    """
    from seasoned.cli.confirm.show import print_head

    print_head(to, as_json=as_json)
