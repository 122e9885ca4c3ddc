"""`usage`: what requests through the gateway took, by session, model, day or key."""

from __future__ import annotations

import time

import click

from seasoned.cli.options import json_option


@click.command()
@click.option(
    "--by",
    type=click.Choice(["session", "model", "day", "key"]),
    default="day",
    show_default=True,
    help="What to sum by.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Only the last so many days. By default all.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Rows at most.")
@json_option
def usage(by: str, days: int | None, limit: int, as_json: bool) -> None:
    """Show tokens and cost of what went through the gateway, as providers count them.

    What no price is known for is counted apart, never as zero.

    \b
    Example: seasoned usage --by model --days 7
    """
    from seasoned.cli.output import print_json, table, when
    from seasoned.config import load
    from seasoned.gateway.account import totals
    from seasoned.session import Usage
    from seasoned.store import open_database

    since = 0.0 if days is None else time.time() - days * 86_400
    database = open_database(load())
    try:
        found = totals(database, by, since=since)  # type: ignore[arg-type]  # the choice allows no other
    finally:
        database.close()
    shown = found[:limit]
    if as_json:
        rows = [
            {
                "name": one.name,
                "requests": one.requests,
                **{f"{name}_tokens": getattr(one.usage, name) for name in Usage.__struct_fields__},
                "cost_usd": one.cost_usd,
                "unpriced": one.unpriced,
                "last_at": one.last_at,
            }
            for one in shown
        ]
        print_json("usage", {"by": by, "since": since or None, "count": len(found), "rows": rows})
        return
    if not found:
        click.echo("Nothing went through the gateway yet: `seasoned gateway` runs it.")
        return
    table(
        [by, "requests", "input", "output", "cache read", "cache write", "reasoning", "cost $", "no price", "last"],
        [
            (
                one.name,
                one.requests,
                *[getattr(one.usage, name) for name in Usage.__struct_fields__],
                None if one.cost_usd is None else f"{one.cost_usd:.4f}",
                one.unpriced,
                when(one.last_at),
            )
            for one in shown
        ],
        whole=[by],
        right=["requests", "input", "output", "cache read", "cache write", "reasoning", "cost $", "no price"],
    )
