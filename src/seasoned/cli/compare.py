"""`compare` and `compress-check`: who fails less, and whether a compression of the context was survived."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seasoned.cli.options import PATHS_HELP, include_option, json_option, paths_argument

if TYPE_CHECKING:
    from seasoned.insight.track import Track
    from seasoned.outcome.error_rate import Include


@click.command(epilog=PATHS_HELP)
@click.argument("warm", metavar="A")
@click.argument("cold", metavar="B")
@paths_argument
@click.option("--set", "as_sets", is_flag=True, help="A and B are sets of sessions.")
@include_option
@json_option
def compare(
    warm: str, cold: str, paths: tuple[Path, ...], as_sets: bool, include: tuple[str, ...], as_json: bool
) -> None:
    """Compare two sessions, or two sets: A is called warm, B cold.

    A and B are ids of sessions, or files that hold one session. With --set each is a path, ids joined by commas, or
    @FILE with an id on each line.

    \b
    Example: seasoned compare 53ea19c1 40904d81
    Example: seasoned compare --set ~/warm-runs ~/cold-runs
    """
    from seasoned.cli.comparison import print_comparison
    from seasoned.cli.place import need_numbers
    from seasoned.insight.compare import compare_sessions, compare_sets
    from seasoned.outcome.error_rate import Include

    switches = Include(**dict.fromkeys(include, True))
    if as_sets:
        need_numbers("compare --set")
        found = compare_sets(_members(warm, paths, switches), _members(cold, paths, switches))
    else:
        found = compare_sessions(_one(warm, paths, switches), _one(cold, paths, switches))
    print_comparison(found, as_sets=as_sets, include=switches.names(), as_json=as_json)


def _one(text: str, paths: tuple[Path, ...], include: Include) -> Track:
    """The one session that is meant."""
    from seasoned.cli.place import sessions_for
    from seasoned.errors import NotFound, UsageError
    from seasoned.insight.track import tracks

    with sessions_for(text, paths) as (store, ids):
        if not ids:
            raise NotFound(f"{text!r} holds no sessions: `seasoned sessions {text}` shows what was read.")
        if len(ids) > 1:
            raise UsageError(
                f"{text!r} holds {len(ids)} sessions: give the id of one (`seasoned sessions {text}` lists them), or "
                "compare sets with --set."
            )
        return next(tracks(store, include=include, sessions=ids))


def _members(text: str, paths: tuple[Path, ...], include: Include) -> Iterator[Track]:
    """The sessions of a set: all of a path, or those with these ids, found in one store."""
    from seasoned.cli.place import exists, look, sessions_for
    from seasoned.config import load
    from seasoned.insight.track import tracks
    from seasoned.store.search import find_session

    names = _names(text)
    if all(map(exists, names)):
        with look(load(), [Path(name) for name in names])[1] as store:
            yield from tracks(store, include=include)
        return
    with sessions_for(names[0], paths) as (store, ids):
        ids += [find_session(store, name)["id"] for name in names[1:]]
        yield from tracks(store, include=include, sessions=set(ids))


def _names(text: str) -> list[str]:
    """Paths or ids: one, several between commas, or those in a file."""
    from seasoned.cli.place import exists
    from seasoned.errors import NotFound, UsageError

    if exists(text):
        return [text]
    if not text.startswith("@"):
        names = [name.strip() for name in text.split(",") if name.strip()]
    else:
        try:
            lines = Path(text[1:]).expanduser().read_text("utf-8", "replace").splitlines()
        except OSError as error:
            raise NotFound(
                f"{text[1:]!r} could not be read ({error.strerror}): give a file with an id on each line."
            ) from error
        names = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not names:
        raise UsageError(
            f"{text!r} names no session: give a path, ids joined by commas, or @FILE with an id on each line."
        )
    return names


@click.command("compress-check", epilog=PATHS_HELP)
@click.argument("session", metavar="SESSION|PATH")
@paths_argument
@include_option
@json_option
def compress_check(session: str, paths: tuple[Path, ...], include: tuple[str, ...], as_json: bool) -> None:
    """Check whether proficiency survived a compression of the context: error rates before and after, and what was lost.

    SESSION is an id or its beginning; a PATH with several sessions gives the judgement over all of them.

    \b
    Example: seasoned compress-check 53ea19c1
    """
    from seasoned.cli.compression import print_check, print_pooled
    from seasoned.cli.place import need_numbers, sessions_for
    from seasoned.errors import NotFound
    from seasoned.insight.compression import check_many, fill, is_compressed, outlines
    from seasoned.insight.track import tracks
    from seasoned.outcome.error_rate import Include

    switches = Include(**dict.fromkeys(include, True))
    with sessions_for(session, paths) as (store, ids):
        if not ids:
            raise NotFound(f"{session!r} holds no sessions: `seasoned sessions {session}` shows what was read.")
        chains = outlines(store)
        asked = next(tracks(store, sessions=ids[:1])).ref
        if len(ids) == 1:
            chains = [chain for chain in chains if asked in [track.ref for track in chain]]
        if len(chains) == 1:
            print_check(asked, fill(store, chains[0], include=switches), include=switches.names(), as_json=as_json)
            return
        need_numbers("compress-check")
        found = check_many(fill(store, one, include=switches) if is_compressed(one) else one for one in chains)
    print_pooled(found, include=switches.names(), as_json=as_json)
