"""`profile` and `report`: what one session says, and what many say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seasoned.cli.options import PATHS_HELP, include_option, json_option, paths_argument, store_option


@click.command(epilog=PATHS_HELP)
@click.argument("session", metavar="SESSION|PATH")
@paths_argument
@include_option
@json_option
def profile(session: str, paths: tuple[Path, ...], include: tuple[str, ...], as_json: bool) -> None:
    """Show how one session went: error rate with its interval, by tool, early and late.

    SESSION is an id or its beginning; a PATH instead of it gives the profile of every session it holds.

    \b
    Example: seasoned profile 53ea19c1
    """
    from seasoned.cli.place import sessions_for
    from seasoned.cli.profile import print_profiles
    from seasoned.errors import NotFound
    from seasoned.insight.profile import profile as profile_of
    from seasoned.insight.track import tracks
    from seasoned.outcome.error_rate import Include

    with sessions_for(session, paths) as (store, ids):
        switches = Include(**dict.fromkeys(include, True))
        found = [(track, profile_of(track)) for track in tracks(store, include=switches, sessions=ids)]
    if not found:
        raise NotFound(f"{session!r} holds no sessions: `seasoned sessions {session}` shows what was read.")
    print_profiles(found, as_json=as_json, include=switches.names())


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Where the page goes.")
@click.option("--source", help="Only sessions of one agent, such as claude-code.")
@click.option("--lengths", default="50,100", show_default=True, help="Upper ends of the length buckets, in messages.")
@include_option
@store_option
@json_option
def report(
    paths: tuple[Path, ...],
    output: Path | None,
    source: str | None,
    lengths: str,
    include: tuple[str, ...],
    use_store: bool,
    as_json: bool,
) -> None:
    """Say what many sessions say: does experience help, which errors come back, what do they cost.

    Writes one page that opens offline (report.html, or where -o says) and prints a summary; with --json the figures.

    \b
    Example: seasoned report ~/.claude/projects -o claude.html
    """
    from seasoned.cli.output import print_json
    from seasoned.cli.place import need_numbers, store_for
    from seasoned.cli.report import print_report, write_page
    from seasoned.cli.reporting import report_on

    need_numbers("report")
    with store_for(paths, use_store=use_store) as store:
        made = report_on(store, paths=paths, agent=source, lengths=lengths, include=include)
    if output is not None or not as_json:
        written = write_page(made, output or Path("report.html"))
    if as_json:
        import msgspec

        answer: dict[str, Any] = msgspec.to_builtins(made)
        print_json("report", answer)
        return
    print_report(made)
    click.echo(f"\nThe page with all plots: {written}")
