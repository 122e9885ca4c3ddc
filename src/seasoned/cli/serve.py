"""`serve`, `gateway` and `mcp`: everything that runs as a server, and the keys of the gateway."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seasoned.app.confirm import (
    ListenOptions,
    build_service,
    has_admin,
)
from seasoned.app.doctor import is_answering, own_address
from seasoned.app.gateway import build_gateway
from seasoned.app.stores import open_log, shared_database
from seasoned.background import start
from seasoned.cli.options import Commands, file_type, json_option, plain_option, tls_certificate_option, tls_key_option
from seasoned.cli.output import answered, as_fields, printable, records, say, when
from seasoned.command.action import action_words
from seasoned.config import load
from seasoned.errors import CannotDo, UsageError
from seasoned.gateway import accounting
from seasoned.gateway.accounting import GatewayKey

if TYPE_CHECKING:
    from seasoned.confirm.request.request import Request
    from seasoned.confirm.service.listen import ColocatedApp

# A first start may have to import and compile everything.
_START_SECONDS = 30.0
# No defaults here: what is not given comes from the policy.
_OPTIONS = (
    click.option("--host", help="Listen on this address. Default: the policy's, else 127.0.0.1."),
    click.option("--port", type=click.IntRange(0, 65535), help="Default: the policy's, else 7327; 0 for any."),
    tls_certificate_option,
    tls_key_option,
    plain_option,
    click.option(
        "--public-url", metavar="URL", help="What people open, if a proxy handles TLS. Default: the policy's."
    ),
    click.option(
        "--policy", "policy_file", type=file_type, help="The policy. Default: policy.toml in the home folder."
    ),
)


def listen_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of where to listen, as one value."""

    @wraps(command)
    def called(**given: Any) -> None:
        options = ListenOptions(**{name: given.pop(name) for name in ListenOptions._fields})
        command(options, **given)

    # Decorators apply from the inside out, so this keeps the order in --help.
    for option in reversed(_OPTIONS):
        called = option(called)
    return called


@click.command()
@listen_options
@click.option("--schedule/--no-schedule", default=True, show_default=True, help="Run the schedule of `cron` too.")
@click.option("--gateway/--no-gateway", default=True, show_default=True, help="Run the gateway too, under /v1/.")
@click.option("--background", is_flag=True, help="Go on when this terminal closes; `doctor` says where.")
def serve(options: ListenOptions, schedule: bool, gateway: bool, background: bool) -> None:
    """Serve the pages, gateway and schedule.

    Also the confirmation service. Runs until interrupted. At a terminal it prints a link with which your browser may
    read; deciding asks for your passphrase, because an agent that runs as you could open the link too.

    \b
    Example: seasoned serve
    """
    if background:
        _serve_in_background(options)
    else:
        serve_all(options, has_link=sys.stdin.isatty(), schedule=schedule, gateway=gateway)


def _serve_in_background(options: ListenOptions) -> None:
    """The same command again, in a process that no terminal ends, and the link to its pages."""
    from seasoned.web.browser_session import BrowserSessions, load_pages_key

    config = load()
    service, listen = build_service(config, options)
    if not listen.port:
        raise UsageError("A server in the background needs a port that you can find again: leave out --port 0.")
    address = own_address(listen)
    if is_answering(address):
        click.echo(f"Already running at {address}.")
    else:
        process = start("seasoned.cli.main", *[one for one in sys.argv[1:] if one != "--background"])
        end = time.monotonic() + _START_SECONDS
        while not is_answering(address):
            if time.monotonic() > end:
                raise CannotDo(f"The server did not answer at {address}. `seasoned serve` shows why.")
            time.sleep(0.1)
        click.echo(f"Running at {address} until you stop process {process} (`kill {process}`) or log out.")
    link = BrowserSessions(service.clock, load_pages_key(config.home)).link
    click.echo(f"Open it: {service.base_url or address}/login/{link}")


def serve_all(
    options: ListenOptions,
    *,
    has_link: bool = True,
    schedule: bool = True,
    gateway: bool = True,
    histories: Path | None = None,
) -> None:
    """Everything in one process, until interrupted."""
    from seasoned.app.scheduler import running_scheduler
    from seasoned.gateway.service import GatewayMount

    # Outermost, so that the scheduler also stops when the server fails to start.
    with running_scheduler(load()) if schedule else nullcontext():
        mounted = GatewayMount(build_gateway(load())) if gateway else None
        run_service(options, has_pages=True, has_link=has_link, histories=histories, mounted=mounted)


def run_service(
    options: ListenOptions,
    *,
    has_pages: bool = False,
    has_link: bool = False,
    histories: Path | None = None,
    mounted: ColocatedApp | None = None,
) -> None:
    """Serve until interrupted, and print where, with a link for browsers that read.

    The pages show the sessions of the store at `histories` instead of the user's own.
    """
    from seasoned.confirm.service import create_app
    from seasoned.confirm.service import serve as serve_app

    config = load()
    service, listen = build_service(config, options)
    if has_pages:
        from seasoned.web.app import create_web

        app = create_web(service, histories=histories)
    else:
        app = create_app(service)

    def ready(address: str) -> None:
        # Addresses stay on one line: a terminal opens them by a click.
        click.echo(f"Listening on {address}")
        # The link goes to the terminal of the user who started this, and lets them read only.
        if has_pages and has_link:
            click.echo(f"Open it: {service.base_url}/login/{app.state.visits.link}")
        elif has_pages:
            click.echo(f"Log in with an approver's token: {service.base_url}/login")
        if mounted is not None:
            click.echo(f"OPENAI_BASE_URL={address}/v1  ANTHROPIC_BASE_URL={address}")
        # At every start, so that the choice is not forgotten.
        if (warning := service.policy.gives_up()) is not None:
            say(warning, err=True)
        if not has_admin(config):
            say("There is no admin yet. Before agents run: `seasoned confirm token make NAME --role admin`.", err=True)

    redactor = service.secrecy.redactor()

    def announce(request: Request) -> None:
        click.echo(f"May {request.requester} {action_words(request.action)}? It says:")
        # Indented, so that no description can pass for a line of ours; redacted, because a log may keep it.
        click.echo("  " + printable(redactor.text(request.description)).replace("\n", "\n  "))
        click.echo(f"Look and decide: seasoned confirm approve {request.id}, or deny")

    service.announce = announce
    serve_app(app, service, listen, ready=ready, colocated=mounted)


@click.command()
def mcp() -> None:
    """Serve tools to an agent over MCP.

    On stdin and stdout: the agent starts this command itself. The tools are warm_session, recall, and some that ask a
    person; those need `confirm_url` and the secret `confirm_token`.

    \b
    Example: seasoned mcp
    """
    from seasoned.mcp_server import serve as serve_stdio

    serve_stdio()


@click.group(cls=Commands, invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen on this address.")
@click.option("--port", type=click.IntRange(0, 65535), default=7328, show_default=True, help="Listen here; 0 for any.")
@click.option("--upstream", metavar="URL", help="Send everything to this API instead of those in gateway.toml.")
@tls_certificate_option
@tls_key_option
@plain_option
@click.pass_context
def gateway(context: click.Context, /, upstream: str | None, **listen: Any) -> None:
    """Run the gateway, a proxy for model APIs.

    Point OPENAI_BASE_URL or ANTHROPIC_BASE_URL at it: agents are recorded, their usage is counted, and new
    conversations begin with examples, without a change to the agents. If any of this fails, the request passes through
    unchanged.

    \b
    Example: seasoned gateway
    """
    # `gateway` alone serves; with a subcommand, click calls this function first all the same.
    if context.invoked_subcommand is not None:
        return
    from seasoned.confirm.policy import Listen
    from seasoned.gateway.service import serve

    config = load()
    service = build_gateway(config, upstream)
    # After building: settings that are wrong end the command before a log file is made.
    open_log(config, service.secrecy)

    def ready(address: str) -> None:
        click.echo(f"Listening on {address}")
        click.echo(f"OPENAI_BASE_URL={address}/v1  ANTHROPIC_BASE_URL={address}")
        for one in service.settings.upstream:
            click.echo(f"{one.name}: {one.base_url}")

    serve(service, Listen(**listen), ready=ready)


@gateway.command()
@click.option("--make", metavar="NAME", help="Make a key; it is shown once, and only its hash is kept.")
@click.option("--revoke", metavar="NAME", help="Revoke a key; a running gateway refuses it within a second.")
@click.option("--usd-per-day", type=float, help="Warn in the log when a day (UTC) has cost this much.")
@click.option("--tokens-per-day", type=int, help="Warn when a day has used this many tokens, in and out.")
@click.option("--stop", "stops", is_flag=True, help="Refuse requests beyond the budget until the next day.")
@json_option
def key(make: str | None, revoke: str | None, **budget: Any) -> None:
    """List, make and revoke gateway keys.

    \b
    Example: seasoned gateway key --make laptop --usd-per-day 5 --stop
    """
    if make is not None and revoke is not None:
        raise UsageError("Use one of --make and --revoke at a time.")
    # Durable: after a crash, a revoked key must stay revoked.
    with shared_database(load(), durable=True) as database:
        if make is not None:
            # The token exists only here and on the screen; the database holds its hash.
            made, token = accounting.make_key(database, make, now=time.time(), **budget)
            if not answered("gateway-key", {**as_fields(made), "token": token}):
                click.echo(f"{made.name} can now use the gateway with this key. It is shown only once:\n{token}")
            return
        if revoke is not None:
            ended = accounting.revoke_key(database, revoke, now=time.time())
            if not answered("gateway-key", {**as_fields(ended), "token": None}):
                click.echo(f"{ended.name} has been revoked since {when(ended.revoked_at)}.")
            return
        found = accounting.list_keys(database)
    if not answered("gateway-keys", {"count": len(found), "keys": [as_fields(one) for one in found]}):
        columns = ("name made=created_at revoked=revoked_at", ("a day", _dollars), "tokens=tokens_per_day")
        records(found, *columns, ("beyond", lambda one: "stop" if one.stops else "warn"), nowrap=["name"])


def _dollars(one: GatewayKey) -> str | None:
    return None if one.usd_per_day is None else f"${one.usd_per_day:.2f}"
