"""`gateway` and `usage`: the proxy between agents and model APIs, its keys, and what was used."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.gateway import budgets, build_gateway, first_moment, gateway_usage, history_usage
from seasoned.app.stores import open_log, shared_database, user_store
from seasoned.cli.options import Commands, all_option, file_type, json_option, project_option
from seasoned.cli.output import print_json, printable, table, when
from seasoned.cli.project import chosen_project
from seasoned.config import load
from seasoned.errors import UsageError
from seasoned.gateway import accounting
from seasoned.gateway.accounting import GROUPINGS, GatewayKey, UsageTotal, one_source
from seasoned.gateway.history_usage import HistoryTotal, unpriced_models
from seasoned.project import name_of
from seasoned.session import Usage, sum_usage
from seasoned.store.project import refs_in

# Only rows from histories have these: what went through the gateway has its real price.
_ESTIMATE = ("estimated_usd", "estimated", "price_source")
_NAMED = 5  # models without a price that are named


@click.group(cls=Commands, invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen on this address.")
@click.option("--port", type=click.IntRange(0, 65535), default=7328, show_default=True, help="Listen here; 0 for any.")
@click.option("--upstream", metavar="URL", help="Send everything to this API instead of those in gateway.toml.")
@click.option("--keys", "wants_keys", is_flag=True, help="Accept only requests with a gateway key.")
@click.option("--no-record", is_flag=True, help="Count tokens and cost, but record no messages.")
@click.option("--no-warm", is_flag=True, help="Add no examples to new conversations.")
@click.option("--tls-cert", "tls_certificate", type=file_type, help="TLS certificate, to listen beyond this machine.")
@click.option("--tls-key", type=file_type, help="The certificate's key.")
@click.option(
    "--insecure-listen", "allow_plain", is_flag=True, help="Listen beyond this machine without TLS, behind a TLS proxy."
)
@click.option("--settings", "settings_file", type=file_type, help="Settings. Default: gateway.toml in the home folder.")
@click.pass_context
def gateway(
    context: click.Context,
    /,
    upstream: str | None,
    wants_keys: bool,
    no_record: bool,
    no_warm: bool,
    settings_file: Path | None,
    **listen: Any,
) -> None:
    """Run the gateway, a proxy for model APIs.

    Point OPENAI_BASE_URL or ANTHROPIC_BASE_URL at it: agents are recorded, their usage is counted, and new
    conversations begin with examples, without a change to the agents. If any of this fails, the request passes through
    unchanged.

    \b
    Example: seasoned gateway
    """
    # `gateway` alone serves; with a subcommand, click calls this function first all the same.
    if context.invoked_subcommand is not None:
        return
    from seasoned.confirm.policy import Listen
    from seasoned.gateway.service import serve

    config = load()
    service = build_gateway(
        config,
        settings_file=settings_file,
        upstream=upstream,
        keys=wants_keys,
        record=not no_record,
        warm=not no_warm,
    )
    # After building: settings that are wrong end the command before a log file is made.
    open_log(config, service.secrecy, verbose=False)

    def ready(address: str) -> None:
        click.echo(f"Listening on {address}")
        click.echo(f"OPENAI_BASE_URL={address}/v1  ANTHROPIC_BASE_URL={address}")
        for one in service.settings.upstream:
            click.echo(f"{one.name}: {one.base_url}")

    serve(service, Listen(**listen), ready=ready)


@gateway.command()
@click.option("--make", metavar="NAME", help="Make a key; it is shown once, and only its hash is kept.")
@click.option("--revoke", metavar="NAME", help="Revoke a key; a running gateway refuses it within a second.")
@click.option("--usd-per-day", type=float, help="Warn in the log when a day (UTC) has cost this much.")
@click.option("--tokens-per-day", type=int, help="Warn when a day has used this many tokens, in and out.")
@click.option("--stop", "stops", is_flag=True, help="Refuse requests beyond the budget until the next day.")
@json_option
def key(make: str | None, revoke: str | None, as_json: bool, **budget: Any) -> None:
    """List, make and revoke gateway keys.

    \b
    Example: seasoned gateway key --make laptop --usd-per-day 5 --stop
    """
    if make is not None and revoke is not None:
        raise UsageError("Use one of --make and --revoke at a time.")
    # Durable: after a crash, a revoked key must stay revoked.
    with shared_database(load(), durable=True) as database:
        if make is not None:
            # The token exists only here and on the screen; the database holds its hash.
            made, token = accounting.make_key(database, make, now=time.time(), **budget)
            if as_json:
                print_json("gateway-key", {**_answer(made), "token": token})
                return
            click.echo(f"{made.name} can now use the gateway with this key. It is shown only once:\n{token}")
        elif revoke is not None:
            ended = accounting.revoke_key(database, revoke, now=time.time())
            if as_json:
                print_json("gateway-key", {**_answer(ended), "token": None})
                return
            click.echo(f"{ended.name} has been revoked since {when(ended.revoked_at)}.")
        else:
            _print_keys(accounting.list_keys(database), as_json=as_json)


def _print_keys(found: Sequence[GatewayKey], *, as_json: bool) -> None:
    if as_json:
        print_json("gateway-keys", {"count": len(found), "keys": [_answer(one) for one in found]})
        return
    rows = [
        (
            one.name,
            when(one.created_at),
            when(one.revoked_at),
            None if one.usd_per_day is None else f"${one.usd_per_day:.2f}",
            one.tokens_per_day,
            "stop" if one.stops else "warn",
        )
        for one in found
    ]
    table(["name", "made", "revoked", "a day", "tokens", "beyond"], rows, nowrap=["name"])


def _answer(one: GatewayKey) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(one)
    return fields


@click.command()
@click.option(
    "--by",
    type=click.Choice(["day", "project", "model", "agent", "session", "block", "key"]),
    default="day",
    show_default=True,
    help="What to sum by.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Only the last days, today included. Default: all.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="Rows of each table.")
@project_option
@all_option
@json_option
def usage(by: Any, days: int | None, limit: int, project: str | None, everything: bool, as_json: bool) -> None:
    """Show tokens and cost.

    Requests through the gateway, and apart from them what histories say. Input does not include what was read from or
    written to a cache. Requests without a known price are counted apart, never as zero. A session that went through the
    gateway and has a history too is counted once, in the first.

    \b
    Example: seasoned usage --by model --days 7
    """
    config = load()
    since = first_moment(days)
    with user_store(config) as store:
        key = chosen_project(store, project, everything=everything)
        only = None if key is None else refs_in(store, key)
    # A request names no project and no agent: its session does, in the other table once its history is read.
    through = gateway_usage(config, by if by in GROUPINGS else "day", since=since, only=only)
    read = history_usage(config, by, since=since, project=key)
    with user_store(config) as store:
        limits = budgets(config, store)
        unpriced = unpriced_models(store, since=since, project=key)
    if as_json:
        answer: dict[str, Any] = {"by": by, "since": since or None, "project": key, "count": len(through)}
        # `count` is of all rows, so that a program sees whether the limit cut any off.
        answer |= {"rows": [_row(one, "requests") for one in through[:limit]]}
        answer |= {"history_count": len(read), "histories": [_row(one, "sessions") for one in read[:limit]]}
        # Of all rows, whatever the limit.
        answer["totals"] = {"gateway": _sums(through, "requests"), "histories": _sums(read, "sessions")}
        answer["unpriced_models"] = unpriced
        answer["budgets"] = [{**msgspec.to_builtins(one), "is_over": one.is_over} for one in limits]
        print_json("usage", answer)
        return
    if through:
        click.echo("Through the gateway:")
        _print(by, "requests", through, limit)
    if read:
        if through:
            click.echo()
        click.echo("Read from histories, as the agents themselves count:")
        _print(by, "sessions", read, limit)
        _print_estimates(read, unpriced)
    if not through and not read:
        click.echo("No usage is known. `seasoned scan` reads your histories; `seasoned gateway` counts requests.")
    for one in limits:
        click.echo(f"Budget of this {one.period}: ${one.spent_usd:.2f} of ${one.budget_usd:.2f} spent.")


def _row(one: UsageTotal | HistoryTotal, counted: str) -> dict[str, Any]:
    return {
        "name": one.name,
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
        click.echo(f"~ ${usd:.2f} of this is an estimate by {estimated[0].price_source}: no cost was recorded.")
    if unpriced:
        named = ", ".join(printable(one) for one in unpriced[:_NAMED]) + (" …" if len(unpriced) > _NAMED else "")
        click.echo(f"No price is known for {named}: not in the cost.")


def _print(by: str, counted: str, every: Sequence[UsageTotal | HistoryTotal], limit: int) -> None:
    # The sums are of all rows, also of those that are not shown.
    sums, rows = _sums(every, counted), every[:limit]
    total = {**sums, "name": "total", "unrecorded": sum(one.unrecorded for one in every), "last_at": None}
    cells = [*[_row(one, counted) for one in rows], total]
    columns = _columns(by, counted, cells)
    names = [row["name"] for row in cells]
    if by == "project":
        names = _short_names(names)
    table(
        [by, *columns],
        [(name, *[value(row) for value in columns.values()]) for name, row in zip(names, cells, strict=True)],
        nowrap=["last"],
        gap=1,
    )


def _columns(by: str, counted: str, cells: Sequence[dict[str, Any]]) -> dict[str, Callable[[dict[str, Any]], object]]:
    """What fits 80 columns: rounded, caches in one column, and without what the name says already."""
    if by == "session":
        columns: dict[str, Callable[[dict[str, Any]], object]] = {"tokens": lambda row: _rounded(row["total_tokens"])}
    else:
        columns = {
            counted: itemgetter(counted),
            "input": lambda row: _rounded(row["input_tokens"]),
            "output": lambda row: _rounded(row["output_tokens"]),
            "cached": lambda row: _rounded(_added(row["cache_read_tokens"], row["cache_write_tokens"])),
        }
    columns["cost $"] = _cost
    # Of one session, a cost that is missing says it.
    missing = {"no price": "unpriced", "not recorded": "unrecorded"} if by != "session" else {}
    columns |= {title: itemgetter(name) for title, name in missing.items() if cells[-1][name]}
    if by not in ("day", "block"):
        columns["last"] = lambda row: when(row["last_at"])[:10]
    return columns


def _short_names(keys: Sequence[str | None]) -> list[str | None]:
    """The names of projects; of two with one name, the keys."""
    names = [key and name_of(key) for key in keys]
    return [name if names.count(name) == 1 else key for key, name in zip(keys, names, strict=True)]


def _cost(row: dict[str, Any]) -> str | None:
    if row["cost_usd"] is None:
        return None
    digits = 4 if 0 < row["cost_usd"] < 0.1 else 2
    return f"{'~' if row.get('estimated') else ''}{row['cost_usd']:.{digits}f}"


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
