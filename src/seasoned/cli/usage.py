"""`usage`: tokens and cost by session, model, day or key, through the gateway and as histories tell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from seasoned.cli.options import json_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seasoned.gateway.account import Total
    from seasoned.gateway.history_total import HistoryTotal


@click.command()
@click.option(
    "--by",
    type=click.Choice(["session", "model", "day", "key"]),
    default="day",
    show_default=True,
    help="What to sum by.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Only the last so many days. By default all.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Rows at most, of each.")
@json_option
def usage(by: str, days: int | None, limit: int, as_json: bool) -> None:
    """Show tokens and cost: what went through the gateway, and apart from it what was read from histories.

    Input is without what came from a cache or went into one. What no price is known for is counted apart, never as
    zero. A session that went through the gateway and has a history too is only in the first.

    \b
    Example: seasoned usage --by model --days 7
    """
    from seasoned.cli.output import print_json
    from seasoned.config import load
    from seasoned.gateway.account import totals
    from seasoned.gateway.history_total import history_totals
    from seasoned.store import open_database, open_store

    since = 0.0 if days is None else time.time() - days * 86_400
    config = load()
    database = open_database(config)
    try:
        through = totals(database, by, since=since)  # type: ignore[arg-type]  # the choice allows no other
        known = {one.name for one in totals(database, "session") if one.name is not None}
    finally:
        database.close()
    with open_store(config.store_path) as store:
        read = history_totals(store, by, since=since, without=known)  # type: ignore[arg-type]
    if as_json:
        answer: dict[str, Any] = {"by": by, "since": since or None, "count": len(through)}
        answer |= {"rows": [_row(one, "requests") for one in through[:limit]]}
        answer |= {"history_count": len(read), "histories": [_row(one, "sessions") for one in read[:limit]]}
        print_json("usage", answer)
        return
    if through:
        click.echo("Through the gateway:")
        _print(by, "requests", through[:limit])
    else:
        click.echo("Nothing went through the gateway yet: `seasoned gateway` runs it.")
    if read:
        click.echo("\nRead from histories, as the agents themselves count:")
        _print(by, "sessions", read[:limit])


def _row(one: Total | HistoryTotal, counted: str) -> dict[str, Any]:
    from seasoned.session import Usage

    return {
        "name": one.name,
        counted: getattr(one, counted),
        **{f"{name}_tokens": getattr(one.usage, name) for name in Usage.__struct_fields__},
        "cost_usd": one.cost_usd,
        "unpriced": one.unpriced,
        "unrecorded": one.unrecorded,
        "last_at": one.last_at,
    }


def _print(by: str, counted: str, rows: Sequence[Total | HistoryTotal]) -> None:
    from seasoned.cli.output import table, when
    from seasoned.session import Usage

    figures = [counted, "input", "output", "cache read", "cache write", "reasoning", "cost $", "no price"]
    # Most have none, and a table is wide enough.
    gaps = any(one.unrecorded for one in rows)
    figures += ["not recorded"] if gaps else []
    table(
        [by, *figures, "last"],
        [
            (
                one.name,
                getattr(one, counted),
                *[getattr(one.usage, name) for name in Usage.__struct_fields__],
                None if one.cost_usd is None else f"{one.cost_usd:.4f}",
                one.unpriced,
                *([one.unrecorded] if gaps else []),
                when(one.last_at),
            )
            for one in rows
        ],
        whole=[by],
        right=figures,
    )
