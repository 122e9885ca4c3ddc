"""`gateway` and `usage`: the proxy between agents and model APIs, its keys, and what was used."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from seasoned.app.gateway import build_gateway
from seasoned.app.stores import open_log, shared_database
from seasoned.cli.options import (
    Commands,
    file_type,
    json_option,
    plain_option,
    tls_certificate_option,
    tls_key_option,
)
from seasoned.cli.output import as_fields, print_json, table, when
from seasoned.config import load
from seasoned.errors import UsageError
from seasoned.gateway import accounting
from seasoned.gateway.accounting import GatewayKey


@click.group(cls=Commands, invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen on this address.")
@click.option("--port", type=click.IntRange(0, 65535), default=7328, show_default=True, help="Listen here; 0 for any.")
@click.option("--upstream", metavar="URL", help="Send everything to this API instead of those in gateway.toml.")
@tls_certificate_option
@tls_key_option
@plain_option
@click.option("--settings", "settings_file", type=file_type, help="Settings. Default: gateway.toml in the home folder.")
@click.pass_context
def gateway(
    context: click.Context,
    /,
    upstream: str | None,
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
    service = build_gateway(config, settings_file=settings_file, upstream=upstream)
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
                print_json("gateway-key", {**as_fields(made), "token": token})
                return
            click.echo(f"{made.name} can now use the gateway with this key. It is shown only once:\n{token}")
        elif revoke is not None:
            ended = accounting.revoke_key(database, revoke, now=time.time())
            if as_json:
                print_json("gateway-key", {**as_fields(ended), "token": None})
                return
            click.echo(f"{ended.name} has been revoked since {when(ended.revoked_at)}.")
        else:
            _print_keys(accounting.list_keys(database), as_json=as_json)


def _print_keys(found: Sequence[GatewayKey], *, as_json: bool) -> None:
    if as_json:
        print_json("gateway-keys", {"count": len(found), "keys": [as_fields(one) for one in found]})
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
