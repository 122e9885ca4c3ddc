"""`serve`: everything that runs as a server, in one process, with its pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seasoned.cli.listening import Wanted, listen_options

if TYPE_CHECKING:
    from seasoned.confirm.people.credential import Credential
    from seasoned.gateway.listen import Beside


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
    from seasoned.cli.confirm_serving import run_service

    with _schedule_kept() if schedule else nullcontext():
        beside = _gateway() if gateway else None
        run_service(wanted, has_pages=True, guest=guest, reads=reads, histories=histories, beside=beside)


def _gateway() -> Beside | None:
    """The gateway, to be served beside the rest; where what it needs is not installed, that is said."""
    from importlib.util import find_spec

    if find_spec("genai_prices") is None or find_spec("httptools") is None:
        click.echo("There is no gateway here: install the extra with `pip install 'seasoned[gateway]'`.", err=True)
        return None
    from seasoned.cli.gateway_running import make_service
    from seasoned.gateway.listen import Beside

    return Beside(make_service())


@contextmanager
def _schedule_kept() -> Iterator[None]:
    """The schedule, kept meanwhile; where what it needs is not installed, that is said and the rest is served."""
    from importlib.util import find_spec

    if find_spec("cronsim") is None or find_spec("pydantic_ai") is None:
        click.echo("The schedule is not kept: install the extra with `pip install 'seasoned[schedule]'`.", err=True)
        yield
        return
    from seasoned.cli.working import start_scheduler
    from seasoned.config import load

    running = start_scheduler(load())
    try:
        yield
    finally:
        running.stop()


def _guest(name: str | None, *, must: bool) -> Credential | None:
    """Whoever proves to be one who decides; None where nobody can, or wants to."""
    from seasoned.cli.confirm_deciding import DECIDING, named
    from seasoned.cli.confirm_place import open_book
    from seasoned.cli.secret_prompt import ask_passphrase
    from seasoned.confirm.people.passphrase import authenticate_passphrase
    from seasoned.errors import NotFound, UsageError

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
