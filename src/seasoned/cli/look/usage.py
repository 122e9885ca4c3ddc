"""`usage`: tokens and cost, by what a person asks for."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, get_args

import click
import msgspec

from seasoned.app.gateway import WORK, budgets, gateway_usage, history_usage, month_forecast
from seasoned.app.stores import user_store
from seasoned.cli.options import all_option, json_option, project_option, since_option, words_in
from seasoned.cli.output import answered, console, cut, money, printable, say, table, when
from seasoned.cli.output import shown as shown_text
from seasoned.cli.project import chosen_project
from seasoned.config import load
from seasoned.gateway.accounting import GROUPINGS, UsageTotal, one_source
from seasoned.gateway.history_usage import TIMES, HistoryGroup, HistoryTotal, unpriced_models
from seasoned.session import Usage, sum_usage
from seasoned.store.project import refs_in
from seasoned.text import plural

# Only rows from histories have these: what went through the gateway has its real price.
_ESTIMATE = ("estimated_usd", "estimated", "price_source")
_LEAST_NAME = 12
_NAMED = 5  # models without a price that are named


_GROUPS: tuple[HistoryGroup, ...] = get_args(HistoryGroup)


def _groups(context: click.Context, parameter: click.Parameter, text: str) -> tuple[HistoryGroup, HistoryGroup | None]:
    """What to sum by: one thing or two, with a comma between them."""
    names = words_in(text)
    unknown = [name for name in names if name not in _GROUPS]
    alone = {"key"} | ({"block"} if {*WORK} & set(names) else set())
    if unknown or not 1 <= len(names) <= 2 or (len(names) == 2 and alone & set(names)):
        raise click.BadParameter(f"{text!r}: name one of {', '.join(_GROUPS)}, or two like project,week.")
    return names[0], names[1] if names[1:] else None  # type: ignore[return-value]


@click.command()
@click.option(
    "--by", "groups", default="day", show_default=True, callback=_groups, metavar="WHAT", help=f"{', '.join(_GROUPS)}."
)
@since_option
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Rows of each table.")
@project_option
@all_option
@json_option
def usage(
    groups: tuple[HistoryGroup, HistoryGroup | None],
    since: float | None,
    limit: int,
    project: str | None,
    everything: bool,
) -> None:
    """Show tokens and cost.

    By day, week, month, project, model, agent, session, git branch, commit, pull request, five-hour block or gateway
    key, or by two of them: the dearest first, times from the newest. What went through the gateway is a separate table
    (its days are UTC), and not counted again from histories. Input is without what was read from or written to a cache.
    What has no known price is counted apart, never as zero.

    A commit cost what its session used since the last one; a pull request, what was used on its branch.

    \b
    Example: seasoned usage --by project --since "this week"
    Example: seasoned usage --by project,week
    Example: seasoned usage --by pr
    """
    config = load()
    by, part = groups
    first = since or 0.0
    # A request names no project, and its day is all it says of its time: then only the sum of all is shown.
    known_by: Any = by if by in GROUPINGS and part is None else None
    with user_store(config) as store:
        key = chosen_project(store, project, everything=everything)
        only = None if key is None else refs_in(store, key)
        # Of git the gateway knows nothing; its sessions are counted from their histories then.
        is_work = bool({*WORK} & set(groups))
        through = [] if is_work else gateway_usage(config, known_by or "day", since=first, only=only)
        read = _in_order(history_usage(config, store, by, part, since=first, project=key), by, part)
        limits, forecast = budgets(config, store), month_forecast(store)
        unpriced = unpriced_models(store, since=first, project=key)
    shown = through[:limit] if known_by else []
    answer: dict[str, Any] = {"by": ",".join(filter(None, groups)), "since": since, "project": key}
    # `count` is of all rows, so that a program sees whether the limit cut any off; totals are of all rows too.
    answer |= {"count": len(through), "rows": [_row(one, "requests") for one in shown]}
    answer |= {"history_count": len(read), "histories": [_row(one, "sessions") for one in read[:limit]]}
    answer["totals"] = {"gateway": _sums(through, "requests"), "histories": _sums(read, "sessions")}
    answer["unpriced_models"] = unpriced
    answer["budgets"] = [{**msgspec.to_builtins(one), "is_over": one.is_over} for one in limits]
    if answered("usage", {**answer, "month": msgspec.to_builtins(forecast)}):
        return
    if through:
        say("Through the gateway:")
        _print((known_by or "",), "requests", shown, through)
    if read:
        if through:
            say()
        say("Read from histories, as the agents themselves count:")
        _print((by, part) if part else (by,), "sessions", read[:limit], read)
        _print_estimates(read, unpriced)
    if not through and not read:
        say("No usage is known. `seasoned scan` reads your histories; `seasoned gateway` counts requests.")
    if forecast is not None and key is None:
        rest = f", without {plural(forecast.unpriced, 'session')} of unknown price" if forecast.unpriced else ""
        said = f"This month: ${forecast.spent_usd:,.2f} so far, about ${forecast.expected_usd:,.2f} by its end"
        say(f"{said}, at the pace of the last two weeks{rest}.")
    for one in limits:
        say(one.sentence)


def _in_order(rows: Sequence[HistoryTotal], by: HistoryGroup, part: HistoryGroup | None) -> list[HistoryTotal]:
    """The dearest first, times from the newest; of two things, the rows of the first stay together."""
    costs: Counter[str | None] = Counter()
    for one in rows:
        costs[one.name] += one.cost_usd or 0.0  # type: ignore[assignment] # a counter of dollars

    def newest(name: str | None) -> str:
        return name or ""

    found = sorted(rows, key=lambda one: newest(one.part) if part in TIMES else one.cost_usd or 0.0, reverse=True)
    # Sorting is stable, so the order within the first thing stays.
    return sorted(
        found, key=lambda one: (newest(one.name) if by in TIMES else costs[one.name], one.name or ""), reverse=True
    )


def _row(one: UsageTotal | HistoryTotal, counted: str) -> dict[str, Any]:
    return {
        "name": one.name,
        **({"part": one.part} if isinstance(one, HistoryTotal) else {}),
        counted: getattr(one, counted),
        **{f"{name}_tokens": getattr(one.usage, name) for name in Usage.__struct_fields__},
        "total_tokens": one.usage.total,
        "last_prompt_tokens": one.last_prompt,
        "cost_usd": one.cost_usd,
        "cost_source": one.cost_source,
        "unpriced": one.unpriced,
        "unrecorded": one.unrecorded,
        "last_at": one.last_at,
        **({name: getattr(one, name) for name in _ESTIMATE if hasattr(one, name)}),
    }


def _sums(rows: Sequence[UsageTotal | HistoryTotal], counted: str) -> dict[str, Any]:
    """Everything together. A session that lasted several days is in several rows by day, and counts in each."""
    usage = sum_usage(one.usage for one in rows)
    costs = [one.cost_usd for one in rows if one.cost_usd is not None]
    sources: str | None = None
    for one in rows:
        sources = one_source(sources, one.cost_source)
    return {
        counted: sum(getattr(one, counted) for one in rows),
        **{f"{name}_tokens": getattr(usage, name) for name in Usage.__struct_fields__},
        "total_tokens": usage.total,
        "cost_usd": sum(costs) if costs else None,
        "cost_source": sources,
        "unpriced": sum(one.unpriced for one in rows),
    }


def _print_estimates(read: Sequence[HistoryTotal], unpriced: Sequence[str]) -> None:
    """Say which part of the cost is an estimate, and what has no price."""
    # Marked, because an estimate from list prices and a bill are not the same.
    estimated = [one for one in read if one.estimated_usd is not None]
    if estimated:
        usd = sum(one.estimated_usd or 0.0 for one in estimated)
        say(f"~ ${usd:.2f} of this is an estimate by {estimated[0].price_source}: no cost was recorded.")
    if unpriced:
        named = ", ".join(printable(one) for one in unpriced[:_NAMED]) + (" …" if len(unpriced) > _NAMED else "")
        say(f"No price is known for {named}: not in the cost.")


def _print(
    groups: Sequence[str],
    counted: str,
    rows: Sequence[UsageTotal | HistoryTotal],
    every: Sequence[UsageTotal | HistoryTotal],
) -> None:
    # The sums are of all rows, also of those that are not shown.
    total = {**_sums(every, counted), "name": "total", "part": "", "last_at": None}
    total |= {"unrecorded": sum(one.unrecorded for one in every), "estimated": any(map(_is_estimate, every))}
    cells = [*[_row(one, counted) for one in rows], total]
    names = [[row["name"] for row in cells], [row.get("part") for row in cells]][: len(groups)]
    columns = _columns(groups, counted, cells)
    shown = [_short_names(column, by) for by, column in zip(groups, names, strict=True)]
    figures = [[value(row) for value in columns.values()] for row in cells]
    if sys.stdout.isatty():
        # Branches and subjects of commits may be long: what they cost counts more.
        taken = sum(
            max(len(title), *map(len, map(shown_text, one))) + 1
            for title, one in zip(columns, zip(*figures, strict=True), strict=True)
        )
        room = max((console().width - taken) // len(groups) - 1, _LEAST_NAME)
        shown = [[one and cut(one, room) for one in column] for column in shown]
    lines = [[*line, *row] for line, row in zip(zip(*shown, strict=True), figures, strict=True)]
    table([*groups, *columns], lines, nowrap=["last"], gap=1)


def _is_estimate(one: UsageTotal | HistoryTotal) -> bool:
    return isinstance(one, HistoryTotal) and bool(one.estimated)


def _columns(
    groups: Sequence[str], counted: str, cells: Sequence[dict[str, Any]]
) -> dict[str, Callable[[dict[str, Any]], object]]:
    """What fits 80 columns: rounded, caches in one column, and without what the name says already."""
    columns: dict[str, Callable[[dict[str, Any]], object]] = {}
    if "session" not in groups:
        columns[counted] = itemgetter(counted)
    if {"session", *WORK} & set(groups):
        columns["tokens"] = lambda row: _rounded(row["total_tokens"])
    else:
        columns["input"] = lambda row: _rounded(row["input_tokens"])
        columns["output"] = lambda row: _rounded(row["output_tokens"])
    columns["cached"] = lambda row: _rounded(_added(row["cache_read_tokens"], row["cache_write_tokens"]))
    columns["cost"] = lambda row: money(row["cost_usd"], is_estimate=bool(row.get("estimated")))
    # Of one session, a cost that is missing says it.
    missing = {"no price": "unpriced", "not recorded": "unrecorded"} if "session" not in groups else {}
    columns |= {title: itemgetter(name) for title, name in missing.items() if cells[-1][name]}
    if not set(groups) & set(TIMES):
        columns["last"] = lambda row: when(row["last_at"])[:10]
    return columns


def _short_names(keys: Sequence[str | None], by: str) -> list[str | None]:
    """The names of projects; of those with one name, as much of the ends of their keys as tells them apart."""
    if by == "pr":
        return [key and key.rpartition("/")[2] for key in keys]
    if by != "project":
        return [*keys]
    ends = [f"/{key}" for key in keys if key]

    def short(key: str) -> str:
        parts = key.split("/")
        tails = ("/".join(parts[-size:]) for size in range(1, len(parts)))
        return next((tail for tail in tails if len({end for end in ends if end.endswith(f"/{tail}")}) == 1), key)

    return [key and short(key) for key in keys]


def _added(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def _rounded(count: float | None) -> str | None:
    """`820`, `97.8k`, `57.3M`, `2.6B`."""
    if count is None or count < 1000:
        return None if count is None else str(count)
    for letter in "kM":
        count /= 1000
        if count < 999.95:
            return f"{count:.1f}{letter}"
    return f"{count / 1000:.1f}B"
