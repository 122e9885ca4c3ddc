"""`search`: finds sessions by what was said and done in them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from seasoned.app.stores import own_store
from seasoned.cli.options import all_option, json_option, project_option
from seasoned.cli.output import console, print_json, printable, when
from seasoned.cli.project import chosen_project
from seasoned.config import load
from seasoned.project import name_of
from seasoned.store.full_text import VERDICTS, SearchFilter, SearchHit, fill
from seasoned.store.full_text import search as find
from seasoned.text import plural

_DAY_SECONDS = 86_400
# After a first scan everything is still to be indexed; a person waits so long at most.
_FILL_SECONDS = 20.0
_WHO = {"title": "title", "person": "you", "agent": "agent"}


def _day(context: click.Context, parameter: click.Parameter, value: datetime | None) -> float | None:
    return None if value is None else value.replace(tzinfo=UTC).timestamp()


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--agent", help="Only sessions of one agent, such as claude-code.")
@click.option("--tool", help="Only in calls of one tool, such as Bash.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Only in calls with this verdict.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), callback=_day, help="Only sessions since this day (UTC).")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), callback=_day, help="Only sessions up to this day.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="List at most this many.")
@project_option
@all_option
@json_option
def search(
    words: tuple[str, ...],
    agent: str | None,
    tool: str | None,
    verdict: str | None,
    since: float | None,
    until: float | None,
    limit: int,
    project: str | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Find sessions by what was said and done.

    All words must be in a session: in its title, in what you or the agent said, in a command, a path or an error. Words
    in "quotation marks" must be adjacent, and `word*` matches any word with that beginning. The newest come first.

    \b
    Example: seasoned search "connection refused" --tool Bash --verdict failed
    """
    config = load()
    with own_store(config) as store:
        fill(store, within_seconds=_FILL_SECONDS)
        wanted = SearchFilter(
            project=chosen_project(store, project, everything=everything),
            agent=agent,
            tool=tool,
            verdict=verdict,
            since=since,
            until=None if until is None else until + _DAY_SECONDS,
        )
        # A word with spaces was quoted in the shell: it is meant as it stands.
        asked = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
        found = find(store, asked, wanted, limit=limit)
    if as_json:
        answer = {"words": asked, "project": wanted.project, "count": len(found.hits)}
        answer |= {"has_more": found.before is not None, "waiting": found.waiting}
        print_json("search", {**answer, "hits": [_answer(one) for one in found.hits]})
        return
    for hit in found.hits:
        _print(hit)
    if not found.hits:
        click.echo("No session has all of these words." + ("" if wanted.project is None else " Try --all."))
    elif found.before is not None:
        click.echo("More match. Add a word, or use --limit.")
    if found.waiting:
        click.echo(f"{plural(found.waiting, 'session')} not indexed yet. Search again to continue.", err=True)


def _answer(hit: SearchHit) -> dict[str, Any]:
    session, place = hit.session, hit.place
    return {
        "agent": session["agent"],
        "session_id": session["native_id"],
        "title": session["title"],
        "project": session["project"],
        "ended": session["ended"],
        "message": place.message,
        "by": place.by,
        "call": place.position,
        "tool": place.tool,
        "verdict": place.verdict,
        "snippet": hit.snippet,
        "matches": list(hit.pieces[1::2]),
        "lines": hit.lines,
    }


def _print(hit: SearchHit) -> None:
    from rich.text import Text

    session, place = hit.session, hit.place
    head = Text(f"{when(session['ended'] or session['started'])}  ", style="dim")
    head.append(printable(f"{session['agent']}:{session['native_id']}"), style="bold")
    if session["project"]:
        head.append(f"  {printable(name_of(session['project']))}")
    line = Text("  ")
    who = f"call {place.position + 1}, {place.verdict}" if place.position is not None else _WHO[place.by]
    line.append(f"{who}: ", style="dim")
    for number, piece in enumerate(hit.pieces):
        line.append(printable(piece), style="bold yellow" if number % 2 else "")
    if hit.lines > 1:
        line.append(f"  ({hit.lines - 1} more)", style="dim")
    out = console()
    out.print(head)
    if session["title"] and place.by != "title":
        out.print(Text(f"  {printable(session['title'])[:100]}"))
    out.print(line)
