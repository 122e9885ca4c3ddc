"""`up`: read what is there, show a first summary, and serve the pages."""

from __future__ import annotations

import re
import sys
import textwrap
import time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seasoned.app.confirm import open_book
from seasoned.app.extras import NUMBERS, missing
from seasoned.app.stores import own_store, read_histories, redaction_key, scan_into_store
from seasoned.cli.confirm.grant import user_name
from seasoned.cli.confirm.passphrase import ask_passphrase
from seasoned.cli.confirm.request import DECIDING
from seasoned.cli.insight import print_recurrences, print_verdict, report_on
from seasoned.cli.options import PATHS_HELP, json_option, paths_argument
from seasoned.cli.output import ReadingBar, percent, print_json, printable, table, when
from seasoned.cli.serve import Wanted, listen_options, serve_all
from seasoned.cli.template.show import example_count, print_retired, print_too_old
from seasoned.config import Config, load
from seasoned.confirm.policy import FILE, policy_bytes
from seasoned.errors import Unauthorised, UsageError
from seasoned.history.discover import discover
from seasoned.redact import Redactor
from seasoned.scan.scan import ScanReport
from seasoned.store import Store
from seasoned.template.library.storage import snapshot
from seasoned.template.library.upkeep import auto, retire_stale, too_old
from seasoned.template.library.usage import template_use
from seasoned.template.provision import provision
from seasoned.template.recall.index import fill
from seasoned.text import plural

if TYPE_CHECKING:
    from seasoned.confirm.people.credential import Credential
    from seasoned.confirm.request.book import Book

_TOOLS_SHOWN = 8


def summary_answer(store: Store, report: ScanReport, *, is_sample: bool) -> dict[str, Any]:
    """The summary for programs."""
    return {
        "is_sample": is_sample,
        "files": report.files,
        "seconds": report.seconds,
        "unreadable": report.unreadable,
        "agents": [dict(row) for row in store.rows("session.totals")],
        "tools": [dict(row) for row in store.rows("call.by_tool", {"limit": 1000})],
    }


def print_summary(store: Store, report: ScanReport) -> None:
    """The summary for people."""
    agents = store.rows("session.totals")
    if not agents:
        click.echo("No sessions yet.")
        return
    click.echo(
        f"{plural(report.files, 'file')} looked at in {report.seconds:.2f} s, "
        f"{plural(report.read, 'file')} with news.\n"
    )
    table(
        ["agent", "sessions", "messages", "calls", "failed", "error rate", "unclear", "left out", "last"],
        [
            (
                row["agent"],
                row["sessions"],
                row["messages"],
                row["calls"],
                row["failed"],
                percent(row["failed"], row["ok"] + row["failed"]),
                row["unclear"],
                row["declined"] + row["cancelled"] + row["interrupted"] + row["trivial"],
                when(row["last"]),
            )
            for row in agents
        ],
        right=["sessions", "messages", "calls", "failed", "error rate", "unclear", "left out"],
        whole=["last"],
    )
    failing = [row for row in store.rows("call.by_tool", {"limit": _TOOLS_SHOWN}) if row["failed"]]
    if failing:
        click.echo("\nTools whose calls fail most often:\n")
        table(
            ["tool", "calls", "failed", "error rate", "in sessions"],
            [
                (
                    row["tool"],
                    row["calls"],
                    row["failed"],
                    percent(row["failed"], row["ok"] + row["failed"]),
                    row["sessions"],
                )
                for row in failing
            ],
            right=["calls", "failed", "error rate", "in sessions"],
        )
    click.echo(
        "\nError rate = failed / (ok + failed); declined, cancelled and interrupted calls, trivial tools and copies"
        "\nare left out. Next: `seasoned sessions`, `seasoned show SESSION`, `seasoned agreement`."
    )
    unreadable = store.rows("source.unreadable")
    if unreadable:
        first = unreadable[0]
        click.echo(
            f"{plural(len(unreadable), 'record')} could not be read; the first is "
            f"{Path(first['path']).name}, {first['place']}: {first['reason']}."
        )


_ALONE = "# You alone decide what your own agents ask for: nobody else looks at it.\nsingle_operator = true\n"


def operator_here() -> Credential | None:
    """Whoever proves to be one who decides, for a link that decides; None for one who only reads."""
    from seasoned.confirm.people.credential import credentials

    if not sys.stdin.isatty():
        return None
    with open_book() as book:
        known = [one for one in credentials(book.database) if one.role in DECIDING and one.revoked_at is None]
        if not known:
            return _first(book)
        return _known(book, known[0].name) if len(known) == 1 else None


def _known(book: Book, name: str) -> Credential | None:
    from seasoned.confirm.people.passphrase import authenticate_passphrase

    typed = ask_passphrase(f"Passphrase of {name}, to decide in the browser; or only Enter, to read: ")
    if not typed:
        return None
    try:
        return authenticate_passphrase(book.database, name, typed, now=book.clock())
    except Unauthorised as error:
        click.echo(f"{str(error).capitalize()}. The link only lets you read.", err=True)
        return None


def _first(book: Book) -> Credential | None:
    """The first admin with a passphrase of theirs, or nobody yet."""
    from seasoned.confirm.people.change import first_admin
    from seasoned.confirm.people.passphrase import make_verifier

    click.echo("Agents can ask you before they do what is risky. Only you may answer, so choose a passphrase that no")
    click.echo("file holds, of four words or more. Only Enter puts that off: you can read all the same.")
    name = re.sub(r"[^a-z0-9._@+-]", "", user_name().lower()).lstrip("._@+-")[:64] or "operator"
    first = ask_passphrase(f"New passphrase for {name}: ")
    if not first:
        return None
    try:
        if first != ask_passphrase("The same again: "):
            raise UsageError("the two were not the same")
        make_verifier(first)
        policy = load().home / FILE
        if not policy.exists() and click.confirm("Do you alone decide what your own agents ask for?", default=True):
            policy.write_text(_ALONE, encoding="utf-8")
            policy.chmod(0o600)
        digest = sha256(policy_bytes(policy)).hexdigest()
        made, _ = first_admin(book.database, name, first, now=book.clock(), person=user_name(), policy_sha256=digest)
    except UsageError as error:
        click.echo(f"{str(error).capitalize()}: nothing was set up. Try again the next time.", err=True)
        return None
    return made


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
    if is_sample:
        report, store = read_histories(config, [samples_folder()], path=kept, progress=ReadingBar)
        fill(store)
    else:
        report, scanned = scan_into_store(config, paths, progress=ReadingBar)
        store = scanned or own_store(config)
    with store:
        if as_json:
            print_json("up", summary_answer(store, report, is_sample=is_sample))
        else:
            if is_sample:
                click.echo("No histories of your own were found: these are the samples that come with Seasoned.\n")
            print_summary(store, report)
            _print_insight(store)
            # The samples were made long ago: seen from today all that they teach would be stale.
            now = max(row["last"] for row in store.rows("session.totals")) + _DAY if is_sample else time.time()
            _print_templates(store, Redactor(redaction_key(config)[0], config.redact), now)


def _serve(wanted: Wanted, *, histories: Path | None = None) -> None:
    """The pages, where what they need is installed."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "httpx2", "jinja2", "argon2", "cryptography")):
        click.echo("\nAll of it as pages in a browser: pip install 'seasoned[server]'.")
        return

    click.echo()
    if histories is not None:
        click.echo("The pages show the samples; what you make of them is gone when this ends.")
    guest = operator_here()
    click.echo("Everything as pages, until you press Ctrl+C:")
    serve_all(wanted, guest=guest, histories=histories)


def _print_insight(store: Store) -> None:
    """What the report says first; where its libraries are missing, how to get them."""
    if not store.rows("session.totals"):
        return
    if missing(*NUMBERS):
        click.echo("\nWhether sessions get better, and which errors come back: pip install 'seasoned[insight]'.")
        return

    made = report_on(store)
    print_verdict(made)
    print_recurrences(made)
    click.echo("\nAll of it with plots: `seasoned report`.")


def _print_templates(store: Store, redactor: Redactor, now: float) -> None:
    """Builds the first templates, or refreshes them, and shows what a new session would be given."""
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
