"""`up`: read what is there, show a first summary, and serve the pages."""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seasoned.cli.listening import Wanted, listen_options
from seasoned.cli.options import PATHS_HELP, json_option, paths_argument

if TYPE_CHECKING:
    from seasoned.config import Config
    from seasoned.redact import Redactor
    from seasoned.store import Store

_PREVIEW_TOKENS = 400
_DAY = 86400.0


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option(
    "--serve/--no-serve", default=None, help="Then serve the pages, until interrupted. By default at a terminal."
)
@listen_options
@json_option
def up(wanted: Wanted, paths: tuple[Path, ...], serve: bool | None, as_json: bool) -> None:
    """Read the histories that are there, show what they say, and serve the pages; samples where there are none.

    The pages are for this machine alone, and open by the link that is printed. What you may decide there needs a
    passphrase, which is asked for the first time that this runs at a terminal.

    \b
    Example: seasoned up
    Example: seasoned up --no-serve
    """
    from seasoned.config import load
    from seasoned.history.discover import discover

    config = load()
    found = bool(paths or discover(config))
    serves = sys.stdin.isatty() and sys.stdout.isatty() and not as_json if serve is None else serve
    if serves and not found:
        from tempfile import TemporaryDirectory

        # Samples never mix with what is the user's own, so their store is gone when this ends.
        with TemporaryDirectory(prefix="seasoned-samples-") as folder:
            path = Path(folder) / "samples.db"
            _show(config, (), is_sample=True, as_json=as_json, kept=path)
            _serve(wanted, histories=path)
        return
    _show(config, paths, is_sample=not found, as_json=as_json)
    if serves:
        _serve(wanted)


def _show(config: Config, paths: tuple[Path, ...], *, is_sample: bool, as_json: bool, kept: Path | None = None) -> None:
    """The summary, and the first templates; samples are kept only where a path says so."""
    from seasoned.cli.place import key_of, look, scan_into_store, stored
    from seasoned.cli.summary import print_summary, summary_answer
    from seasoned.redact import Redactor
    from seasoned.template.recall.index import fill

    if is_sample:
        report, store = look(config, [samples_folder()], path=kept)
        fill(store)
    else:
        report, scanned = scan_into_store(config, paths)
        store = scanned or stored(config)
    with store:
        if as_json:
            from seasoned.cli.output import print_json

            print_json("up", summary_answer(store, report, is_sample=is_sample))
        else:
            if is_sample:
                click.echo("No histories of your own were found: these are the samples that come with Seasoned.\n")
            print_summary(store, report)
            _print_insight(store)
            # The samples were made long ago: seen from today all that they teach would be stale.
            now = max(row["last"] for row in store.rows("session.totals")) + _DAY if is_sample else time.time()
            _print_templates(store, Redactor(key_of(config)[0], config.redact), now)


def _serve(wanted: Wanted, *, histories: Path | None = None) -> None:
    """The pages, where what they need is installed."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "httpx2", "jinja2", "argon2", "cryptography")):
        click.echo("\nAll of it as pages in a browser: pip install 'seasoned[server]'.")
        return
    from seasoned.cli.first_time import operator_here
    from seasoned.cli.serve import serve_all

    click.echo()
    if histories is not None:
        click.echo("The pages show the samples; what you make of them is gone when this ends.")
    guest = operator_here()
    click.echo("Everything as pages, until you press Ctrl+C:")
    serve_all(wanted, guest=guest, histories=histories)


def _print_insight(store: Store) -> None:
    """What the report says first; where its libraries are missing, how to get them."""
    from seasoned.cli.place import missing_numbers

    if not store.rows("session.totals"):
        return
    if missing_numbers():
        click.echo("\nWhether sessions get better, and which errors come back: pip install 'seasoned[insight]'.")
        return
    from seasoned.cli.report import print_recurrences, print_verdict
    from seasoned.cli.reporting import report_on

    made = report_on(store)
    print_verdict(made)
    print_recurrences(made)
    click.echo("\nAll of it with plots: `seasoned report`.")


def _print_templates(store: Store, redactor: Redactor, now: float) -> None:
    """Builds the first templates, or refreshes them, and shows what a new session would be given."""
    from seasoned.cli.library import example_count, print_retired, print_too_old
    from seasoned.cli.output import printable
    from seasoned.template.library.storage import snapshot
    from seasoned.template.library.upkeep import auto, retire_stale, too_old
    from seasoned.template.library.usage import template_use
    from seasoned.template.provision import provision

    auto(store, now=now, redactor=redactor)
    retired = retire_stale(store, snapshot(store), now=now, only_auto=True)
    library = snapshot(store, now=now)
    click.echo()
    print_retired(retired)
    print_too_old(too_old(store, now=now))
    if not library.templates:
        click.echo("No templates yet: they are learned from finished sessions with at least 30 messages.")
        return
    names = ", ".join(f"{one.mark} ({example_count(one, library)})" for one in library.templates)
    shown = provision([], library=library, budget=_PREVIEW_TOKENS, format="text", form="text", use=template_use(store))
    if shown.rendered is None:
        click.echo(f"Learned from what worked: {names}. A new session would begin with nothing: {shown.reason}")
    else:
        click.echo(f"Learned from what worked: {names}. A new session would begin with:\n")
        click.echo(textwrap.indent(printable(shown.rendered.content.decode("utf-8").strip()), "  "))
    click.echo("\n`seasoned template list` shows what there is, `seasoned warm --task …` what a task would be given.")


def samples_folder() -> Path:
    """The sample histories that come with the package."""
    import seasoned

    return Path(seasoned.__file__).parent / "samples"
