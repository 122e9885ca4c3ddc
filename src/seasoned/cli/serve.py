"""`serve`: everything that runs as a server, in one process, with its pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from seasoned.app.confirm import need_server, open_book
from seasoned.app.scheduler import start_scheduler
from seasoned.cli.confirm.passphrase import ask_passphrase
from seasoned.cli.confirm.request import DECIDING, named
from seasoned.cli.gateway import make_service
from seasoned.config import Config, load
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.store import open_database

if TYPE_CHECKING:
    from seasoned.confirm.people.credential import Credential
    from seasoned.confirm.service.listen import ColocatedApp
    from seasoned.gateway.service import GatewayMount

_file = click.Path(path_type=Path, dir_okay=False, readable=False)
_OPTIONS = (
    click.option("--host", help="The address to listen on. By default that of the policy, else 127.0.0.1."),
    click.option("--port", type=click.IntRange(0, 65535), help="By default that of the policy, else 7327; 0 for any."),
    click.option("--unix", "socket", type=_file, help="Listen on a Unix socket as well, which tells who calls."),
    click.option("--tls-cert", "tls_certificate", type=_file, help="A certificate, for listening beyond this machine."),
    click.option("--tls-key", type=_file, help="Its key."),
    click.option(
        "--insecure-listen",
        "allow_plain",
        is_flag=True,
        help="Listen beyond this machine without TLS, behind a proxy that has it.",
    ),
    click.option("--policy", "policy_file", type=_file, help="The policy. By default policy.toml in the home folder."),
)


class Wanted(NamedTuple):
    """What the options ask for; what is None is the policy's."""

    host: str | None
    port: int | None
    socket: Path | None
    tls_certificate: Path | None
    tls_key: Path | None
    allow_plain: bool
    policy_file: Path | None


def listen_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command these options, and hands them to it as one value."""

    @wraps(command)
    def called(**given: Any) -> None:
        wanted = Wanted(**{name: given.pop(name) for name in Wanted._fields})
        command(wanted, **given)

    for option in reversed(_OPTIONS):
        called = option(called)
    return called


_FORBIDDEN_TO_BROWSERS = 6000


def has_admin(config: Config) -> bool:
    """Whether somebody can change who may do what; until then whoever comes first could become that."""
    from seasoned.confirm.people.credential import active_admins

    database = open_database(config)
    try:
        return bool(active_admins(database))
    finally:
        database.close()


def run_service(
    wanted: Wanted,
    *,
    has_pages: bool = False,
    guest: Credential | None = None,
    reads: bool = False,
    histories: Path | None = None,
    beside: ColocatedApp | None = None,
) -> None:
    """Serve until interrupted, and say where; with a link that logs the guest in, or one that lets people read.

    `histories` is a store whose sessions are shown in the stead of the user's own.
    """
    need_server("fastapi", "uvicorn", "httpx2", "prometheus_client", *(["jinja2"] if has_pages else []))
    from seasoned.confirm.service import ConfirmService, create_app, serve

    config = load()
    if wanted.policy_file is not None and not wanted.policy_file.exists():
        # The defaults in its stead would ask for fewer people than somebody laid down.
        raise CannotDo(f"The policy {str(wanted.policy_file)!r} does not exist: check the path.")
    service = ConfirmService(config, policy_file=wanted.policy_file)
    policy = service.policy
    given = {
        name: value
        for name in ("host", "port", "socket", "tls_certificate", "tls_key")
        if (value := getattr(wanted, name)) is not None
    }
    listen = msgspec.structs.replace(policy.listen, **given)
    if wanted.allow_plain:
        listen = msgspec.structs.replace(listen, allow_plain=True)
    if has_pages := has_pages and listen.port != _FORBIDDEN_TO_BROWSERS:
        from seasoned.web.app import create_web

        app = create_web(service, histories=histories)
    else:
        app = create_app(service)

    def ready(addresses: Sequence[str]) -> None:
        for address in addresses:
            click.echo(f"Listening on {address}")
        if has_pages and guest is not None:
            link = f"{service.base_url}/login/{app.state.visits.invite(guest)}"
            click.echo(f"Log in as {guest.name}, once, within ten minutes: {link}")
        elif has_pages and reads:
            click.echo(f"Look at it: {service.base_url}/login/{app.state.visits.invite_onlooker()}")
        elif has_pages:
            click.echo(f"Log in with an approver's token: {service.base_url}/login")
        if beside is not None:
            click.echo(f"OPENAI_BASE_URL={addresses[0]}/v1  ANTHROPIC_BASE_URL={addresses[0]}")
        if (told := policy.gives_up()) is not None:
            click.echo(told, err=True)
        if not has_admin(config):
            click.echo(
                "There is no admin yet: `seasoned confirm token make NAME --role admin`, before agents run.", err=True
            )
        if listen.port == _FORBIDDEN_TO_BROWSERS:
            click.echo("Browsers refuse port 6000: there is no page here, only the service.", err=True)

    serve(app, service, listen, ready=ready, beside=beside)


@click.command()
@listen_options
@click.option("--as", "name", metavar="NAME", help="Who logs in by the link; needed where there are several.")
@click.option(
    "--link/--no-link", default=None, help="Print a link that logs your browser in. By default at a terminal."
)
@click.option("--schedule/--no-schedule", default=True, show_default=True, help="Keep the schedule of `cron` as well.")
@click.option(
    "--gateway/--no-gateway", default=True, show_default=True, help="Answer agents under /v1/ as `gateway` does."
)
def serve(wanted: Wanted, name: str | None, link: bool | None, schedule: bool, gateway: bool) -> None:
    """Run the confirmation service, the pages, the gateway and the schedule, until it is interrupted.

    A link that decides asks for your passphrase first: an agent that runs as you could start this too. Without it the
    link lets you read.

    \b
    Example: seasoned serve
    """
    wants_link = sys.stdin.isatty() or name is not None if link is None else link
    guest = _guest(name, must=link or name is not None) if wants_link else None
    serve_all(wanted, guest=guest, reads=wants_link, schedule=schedule, gateway=gateway)


def serve_all(
    wanted: Wanted,
    *,
    guest: Credential | None = None,
    reads: bool = True,
    schedule: bool = True,
    gateway: bool = True,
    histories: Path | None = None,
) -> None:
    """Everything in one process, until interrupted, with a link for the guest or for whoever reads."""
    with _schedule_kept() if schedule else nullcontext():
        beside = _gateway() if gateway else None
        run_service(wanted, has_pages=True, guest=guest, reads=reads, histories=histories, beside=beside)


def _gateway() -> GatewayMount | None:
    """The gateway, to be served beside the rest; where what it needs is not installed, that is said."""
    from importlib.util import find_spec

    if find_spec("genai_prices") is None or find_spec("httptools") is None:
        click.echo("There is no gateway here: install the extra with `pip install 'seasoned[gateway]'`.", err=True)
        return None
    from seasoned.gateway.service import GatewayMount

    return GatewayMount(make_service())


@contextmanager
def _schedule_kept() -> Iterator[None]:
    """The schedule, kept meanwhile; where what it needs is not installed, that is said and the rest is served."""
    from importlib.util import find_spec

    if find_spec("cronsim") is None or find_spec("pydantic_ai") is None:
        click.echo("The schedule is not kept: install the extra with `pip install 'seasoned[schedule]'`.", err=True)
        yield
        return

    running = start_scheduler(load())
    try:
        yield
    finally:
        running.stop()


def _guest(name: str | None, *, must: bool) -> Credential | None:
    """Whoever proves to be one who decides; None where nobody can, or wants to."""
    from seasoned.confirm.people.passphrase import authenticate_passphrase

    with open_book() as book:
        try:
            who = named(book.database, name, DECIDING)
        except (NotFound, UsageError) as error:
            if must:
                raise
            click.echo(f"No link that decides: {error}", err=True)
            return None
        typed = ask_passphrase(f"Passphrase of {who} for a login link, or only Enter for one that only reads: ")
        return authenticate_passphrase(book.database, who, typed, now=book.clock()) if typed else None


@click.command()
@click.option("--http", "address", metavar="HOST:PORT", help="Listen there, over streamable HTTP; port 0 for any.")
@click.option(
    "--insecure-listen",
    "allow_open",
    is_flag=True,
    help="With --http: listen beyond this machine, behind a proxy that has TLS.",
)
def mcp(address: str | None, allow_open: bool) -> None:
    """Serve Seasoned's tools to an agent over MCP, on stdin and stdout or over HTTP.

    The agent starts it by itself: name this command in its settings. It offers warm_session, recall and tools that ask
    a person; the latter need `confirm_url` and the secret `confirm_token`. Over HTTP every request shows the token that
    is made in `secrets/mcp_token` of the home folder.

    \b
    Example: seasoned mcp --http 127.0.0.1:7331
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise CannotDo("`seasoned mcp` needs the library mcp: pip install 'seasoned[mcp]'.")
    if address is None:
        from seasoned.mcp_server import serve

        serve()
        return
    from seasoned.mcp_server.http import serve_http

    serve_http(address, home=load().home, allow_open=allow_open, say=lambda text: click.echo(text, err=True))
