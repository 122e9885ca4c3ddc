"""`up`: one command from nothing to a report, first templates and the pages."""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from seasoned.app.confirm import ListenOptions
from seasoned.app.lessons import lesson_view
from seasoned.app.stores import has_sessions, make_redactor, own_store, read_samples, scan_into_store
from seasoned.cli.options import OWN_PATHS_HELP, json_option, paths_argument, wants_json
from seasoned.cli.output import ReadingBar, answered, percent, printable, say, table, when
from seasoned.cli.project import folder_here, print_passed_over
from seasoned.cli.serve import serve_all
from seasoned.cli.template import example_count
from seasoned.config import Config, load
from seasoned.connect.apply import is_connected
from seasoned.example.library.storage import snapshot
from seasoned.example.library.upkeep import refresh
from seasoned.gateway.history_usage import fill_prices
from seasoned.history.discover import discover
from seasoned.redact.redactor import Redactor
from seasoned.scan.scan import ScanReport
from seasoned.store import Store
from seasoned.store.project import list_projects
from seasoned.text import plural

# All of it is meant to fit on a screen of 24 lines.
_AGENTS_SHOWN = 4
_ACTIONS_SHOWN = 3
_SHEET_LINES = 6
_LINE_CHARS = 100
_DAY = 86400.0


@click.command(epilog=OWN_PATHS_HELP)
@paths_argument
@click.option("--serve/--no-serve", default=None, help="Serve the pages until interrupted. Default: at a terminal.")
@click.option("--port", type=click.IntRange(0, 65535), help="Serve on this port. Default: the policy's, else 7327.")
@json_option
def up(paths: tuple[Path, ...], serve: bool | None, port: int | None) -> None:
    """Read your histories and show what they say.

    Then serve the pages, for this machine alone, by the link that is printed. Without histories, samples are shown.

    \b
    Example: seasoned up
    Example: seasoned up --no-serve
    """
    config = load()
    # Checked first: samples are shown only to those who have no histories at all.
    found = bool(paths or discover(config) or has_sessions(config))
    # In scripts and pipes the command must end by itself.
    serves = sys.stdin.isatty() and sys.stdout.isatty() and not wants_json() if serve is None else serve
    if serves and not found:
        # Samples never mix with the user's own data, so their store is deleted at the end.
        with TemporaryDirectory(prefix="seasoned-samples-") as folder:
            path = Path(folder) / "samples.db"
            _show(config, (), is_sample=True, sample_store=path)
            _serve(port, histories=path)
        return
    _show(config, paths, is_sample=not found)
    if serves:
        _serve(port)


def _show(config: Config, paths: tuple[Path, ...], *, is_sample: bool, sample_store: Path | None = None) -> None:
    """The summary, the report in short, and the first templates."""
    if is_sample:
        report, store = read_samples(config, path=sample_store)
    else:
        report, scanned = scan_into_store(config, paths, progress=ReadingBar)
        print_passed_over(report.failures)
        # Nothing new was found, but an earlier scan may have filled the store.
        store = scanned or own_store(config)
    with store:
        answer: dict[str, Any] = {"is_sample": is_sample, "files": report.files, "seconds": report.seconds}
        answer |= {"unreadable": report.unreadable, "agents": [dict(row) for row in store.rows("session.totals")]}
        tools = [dict(row) for row in store.rows("call.by_tool", {"limit": 1000})]
        if answered("up", {**answer, "tools": tools}):
            return
        if is_sample:
            say("No histories of your own were found. These are the samples that come with Seasoned.\n")
        _print_summary(store, report)
        _print_actions(config, store, is_sample=is_sample)
        _print_sheet(config, store, is_sample=is_sample)
        # The samples are old: seen from today, everything they teach would be too old to show.
        now = max(row["last"] for row in store.rows("session.totals")) + _DAY if is_sample else time.time()
        _print_templates(store, make_redactor(config), now)
        # Pages that are opened at once have the costs already.
        fill_prices(store)
        say("\nNext: `seasoned inbox` and `seasoned connect`; `sessions`, `search WORDS` and `usage` say more.")


def _print_summary(store: Store, report: ScanReport) -> None:
    agents = store.rows("session.totals")
    if not agents:
        say("No sessions yet.")
        return
    say(f"Scanned {plural(report.files, 'file')} in {report.seconds:.2f} s, {report.read} changed.\n")
    counts = ["sessions", "calls", "failed"]
    figures = [[row[name] for name in ("agent", *counts)] for row in agents]
    ends = [(percent(row["failed"], row["ok"] + row["failed"]), when(row["last"])) for row in agents]
    rows = [[*one, *end] for one, end in zip(figures, ends, strict=True)]
    table(["agent", *counts, "error rate", "last"], rows[:_AGENTS_SHOWN], nowrap=["last"])
    more = len(agents) - _AGENTS_SHOWN
    if more > 0:
        say(f"and {plural(more, 'agent')} more.")
    if report.unreadable:
        say(f"{plural(report.unreadable, 'record')} could not be read. `seasoned doctor` shows where and why.")


def _print_actions(config: Config, store: Store, *, is_sample: bool) -> None:
    """What waits for the user, in one line each."""
    if not store.rows("session.totals"):
        return
    # Imported here: it reads much that the rest of this command does not need.
    from seasoned.cli.lessons import inbox_of
    from seasoned.connect.instruction_file import ShownList, save_shown

    found = inbox_of(config, store, None)
    if not is_sample:
        # `seasoned inbox --accept 1` means the first of the list that was seen last.
        save_shown(config.home, ShownList(tuple(one.proposal.id for one in found.items)))
    if not found.items:
        say("\nThe inbox is empty: nothing that sessions taught waits for you.")
        return
    say(f"\nIn the inbox ({plural(len(found.items), 'proposal')}):")
    for number, one in found.first(_ACTIONS_SHOWN):
        where = f" [{one.project}]" if one.project else ""
        said = " ".join(printable(f"{number}. {one.proposal.sentence}{where}").split())
        say(textwrap.shorten(said, width=_LINE_CHARS, placeholder=" …"), indent="   ")


def _print_sheet(config: Config, store: Store, *, is_sample: bool) -> None:
    """What sessions of the newest project that has something to see, see at their start."""
    newest = sorted(list_projects(store), key=lambda one: -(one.last or 0.0))
    # A scan leaves the sheets ready.
    views = ((one, lesson_view(store, one.key, folder_here(store, one.key), refreshed=False)) for one in newest)
    found = next(((one, view) for one, view in views if view.text), None)
    if found is None:
        say("\nA new session sees nothing at its start yet: no command of a project is worth a line.")
        return
    project, view = found
    # Only a connected agent shows anything.
    is_told = is_sample or any(is_connected(agent, home=config.home) for agent in project.agents)
    sees = "sees at its start" if is_told else "would see at its start, if its agent were connected"
    say(f"\nA new session in {printable(view.project)} {sees}:")
    for line in view.text.splitlines()[:_SHEET_LINES]:
        say(f"  {printable(line)}")


def _print_templates(store: Store, redactor: Redactor, now: float) -> None:
    """Builds or refreshes the templates, and says what was learned."""
    refresh(store, now=now, redactor=redactor)
    library = snapshot(store, now=now)
    if library.templates:
        names = ", ".join(f"{one.mark} ({example_count(one, library)})" for one in library.templates)
        say(f"\nFor agents with named tools: {names}; `seasoned warm` shows what a new session gets.")


def _serve(port: int | None, *, histories: Path | None = None) -> None:
    """The pages, until interrupted."""
    say()
    if histories is not None:
        say("The pages show the samples. What you make of them is deleted when this ends.")
    say("Everything as pages, until you press Ctrl+C:")
    serve_all(ListenOptions(None, port, None, None, allow_plain=False, policy_file=None), histories=histories)
