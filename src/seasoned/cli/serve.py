"""`serve`: everything that runs as a server, in one process, with its pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click

from seasoned.cli.listening import Wanted, listen_options

if TYPE_CHECKING:
    from seasoned.confirm.credential import Credential


@click.command()
@listen_options
@click.option("--as", "name", metavar="NAME", help="Who logs in by the link; needed where there are several.")
@click.option(
    "--link/--no-link", default=None, help="Print a link that logs your browser in. By default at a terminal."
)
@click.option("--schedule/--no-schedule", default=True, show_default=True, help="Keep the schedule of `cron` as well.")
def serve(wanted: Wanted, name: str | None, link: bool | None, schedule: bool) -> None:
    """Run the confirmation service, the pages where people decide and the schedule, until it is interrupted.

    The link that logs your browser in asks for your passphrase first: an agent that runs as you could start this too.

    \b
    Example: seasoned serve
    """
    from seasoned.cli.confirm_serving import run_service

    wants_link = sys.stdin.isatty() or name is not None if link is None else link
    guest = _guest(name, must=link or name is not None) if wants_link else None
    with _schedule_kept() if schedule else nullcontext():
        run_service(wanted, has_pages=True, guest=guest)


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
    from seasoned.confirm.passphrase import authenticate_passphrase
    from seasoned.errors import NotFound, UsageError

    with open_book() as book:
        try:
            who = named(book.database, name, DECIDING)
        except (NotFound, UsageError) as error:
            if must:
                raise
            click.echo(f"No login link: {error}", err=True)
            return None
        typed = ask_passphrase(f"Passphrase of {who} for a login link, or only Enter for none: ")
        return authenticate_passphrase(book.database, who, typed, now=book.clock()) if typed else None
