"""`gateway`: the proxy between agents and their models, and the keys that let them in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from seasoned.app.confirm import need_server
from seasoned.app.log import open_log
from seasoned.cli.options import Commands, json_option
from seasoned.cli.output import print_json, table, when
from seasoned.config import command_environment, load
from seasoned.confirm.policy import Listen
from seasoned.gateway.account.keys import GatewayKey, list_keys
from seasoned.gateway.account.totals import HistoryTotal, UsageTotal, history_totals, totals
from seasoned.gateway.settings import FILE, load_settings
from seasoned.session import Usage
from seasoned.store import Database, open_database, open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seasoned.gateway.service import GatewayService


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the options ask for."""

    host: str
    port: int
    upstream: str | None
    wants_keys: bool
    records: bool
    warms: bool
    tls_certificate: Path | None
    tls_key: Path | None
    allow_plain: bool
    settings_file: Path | None


def make_service(wanted: Wanted | None = None) -> GatewayService:
    """The gateway of this configuration, with what the options change."""
    from seasoned.gateway.service import GatewayService

    config = load()
    given = None if wanted is None else wanted.settings_file
    settings = load_settings(given or config.home / FILE, upstream_url=None if wanted is None else wanted.upstream)
    if wanted is not None:
        settings = msgspec.structs.replace(
            settings,
            mode="keys" if wanted.wants_keys else settings.mode,
            record=settings.record and wanted.records,
            warm=settings.warm and wanted.warms,
        )
    return GatewayService(config, settings, environment=command_environment(), apart=True)


def run_gateway(wanted: Wanted) -> None:
    """Serve until interrupted, and say where."""
    need_server("uvicorn", "httptools", "httpx2", "prometheus_client", "starlette")
    from seasoned.gateway.service import serve

    listen = Listen(
        host=wanted.host,
        port=wanted.port,
        tls_certificate=wanted.tls_certificate,
        tls_key=wanted.tls_key,
        allow_plain=wanted.allow_plain,
    )
    service = make_service(wanted)
    open_log(load(), service.secrecy, verbose=False)

    def ready(address: str) -> None:
        click.echo(f"Listening on {address}")
        click.echo(f"OPENAI_BASE_URL={address}/v1  ANTHROPIC_BASE_URL={address}")
        for one in service.settings.upstream:
            click.echo(f"{one.name}: {one.base_url}")

    serve(service, listen, ready=ready)


def make_key(name: str, *, usd_per_day: float | None, tokens_per_day: int | None, stops: bool, as_json: bool) -> None:
    """A new key, shown this once."""
    from seasoned.gateway.account.keys import make_key as make

    with _opened() as database:
        made, token = make(
            database, name, now=time.time(), usd_per_day=usd_per_day, tokens_per_day=tokens_per_day, stops=stops
        )
    if as_json:
        print_json("gateway-key", {**_fields(made), "token": token})
        return
    click.echo(f"{made.name} may use the gateway now, with this key, shown this once:")
    click.echo(token)


def print_keys(*, as_json: bool) -> None:
    """Every key."""
    with _opened() as database:
        found = list_keys(database)
    if as_json:
        print_json("gateway-keys", {"count": len(found), "keys": [_fields(one) for one in found]})
        return
    rows = [
        (
            one.name,
            when(one.created_at),
            when(one.revoked_at),
            None if one.usd_per_day is None else f"${one.usd_per_day:.2f}",
            one.tokens_per_day,
            "stop" if one.stops else "tell",
        )
        for one in found
    ]
    table(["name", "made", "revoked", "a day", "tokens", "beyond"], rows, whole=["name"], right=["a day", "tokens"])


def revoke_key(name: str, *, as_json: bool) -> None:
    """End a key."""
    from seasoned.gateway.account.keys import revoke_key as revoke

    with _opened() as database:
        ended = revoke(database, name, now=time.time())
    if as_json:
        print_json("gateway-key", {**_fields(ended), "token": None})
    else:
        click.echo(f"{ended.name} is revoked since {when(ended.revoked_at)}.")


@contextmanager
def _opened() -> Iterator[Database]:
    database = open_database(load(), durable=True)
    try:
        yield database
    finally:
        database.close()


def _fields(key: GatewayKey) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(key)
    return fields


_file = click.Path(path_type=Path, dir_okay=False, readable=False)


@click.group(cls=Commands, invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=7328, show_default=True, help="0 for any.")
@click.option("--upstream", metavar="URL", help="Send everything there, instead of where gateway.toml says.")
@click.option("--keys", "wants_keys", is_flag=True, help="Let in only who has a key of the gateway.")
@click.option("--no-record", is_flag=True, help="Account for requests, but keep nothing that was said.")
@click.option("--no-warm", is_flag=True, help="Let every conversation begin as it came.")
@click.option("--tls-cert", type=_file, help="A certificate, for listening beyond this machine.")
@click.option("--tls-key", type=_file, help="Its key.")
@click.option(
    "--insecure-listen", is_flag=True, help="Listen beyond this machine without TLS, behind a proxy that has it."
)
@click.option("--settings", "settings_file", type=_file, help="By default gateway.toml in the home folder.")
@click.pass_context
def gateway(
    context: click.Context,
    host: str,
    port: int,
    upstream: str | None,
    wants_keys: bool,
    no_record: bool,
    no_warm: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    insecure_listen: bool,
    settings_file: Path | None,
) -> None:
    """Run the gateway until it is interrupted: point OPENAI_BASE_URL or ANTHROPIC_BASE_URL at it.

    Agents are recorded and accounted for and begin warm, without a change to them. When anything of this fails, the
    request goes through as it came.

    \b
    Example: seasoned gateway
    """
    if context.invoked_subcommand is not None:
        return
    run_gateway(
        Wanted(
            host=host,
            port=port,
            upstream=upstream,
            wants_keys=wants_keys,
            records=not no_record,
            warms=not no_warm,
            tls_certificate=tls_cert,
            tls_key=tls_key,
            allow_plain=insecure_listen,
            settings_file=settings_file,
        )
    )


@gateway.group()
def key() -> None:
    """Keys of the gateway's own: who may send requests, and how much a day may take."""


@key.command()
@click.argument("name")
@click.option("--usd-per-day", type=float, help="Tell, in the log, when a day (UTC) has taken so much.")
@click.option("--tokens-per-day", type=int, help="The same in tokens, in and out.")
@click.option("--stop", is_flag=True, help="Refuse what goes beyond, until the next day.")
@json_option
def make(name: str, usd_per_day: float | None, tokens_per_day: int | None, stop: bool, as_json: bool) -> None:
    """Make a key. It is shown once: only its hash is kept.

    \b
    Example: seasoned gateway key make laptop --usd-per-day 5 --stop
    """
    make_key(name, usd_per_day=usd_per_day, tokens_per_day=tokens_per_day, stops=stop, as_json=as_json)


@key.command(name="list")
@json_option
def list_(as_json: bool) -> None:
    """List the keys, without what opens them.

    \b
    Example: seasoned gateway key list
    """
    print_keys(as_json=as_json)


@key.command()
@click.argument("name")
@json_option
def revoke(name: str, as_json: bool) -> None:
    """End a key. A gateway that runs takes it no more within a second.

    \b
    Example: seasoned gateway key revoke laptop
    """
    revoke_key(name, as_json=as_json)


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


def _row(one: UsageTotal | HistoryTotal, counted: str) -> dict[str, Any]:
    return {
        "name": one.name,
        counted: getattr(one, counted),
        **{f"{name}_tokens": getattr(one.usage, name) for name in Usage.__struct_fields__},
        "cost_usd": one.cost_usd,
        "unpriced": one.unpriced,
        "unrecorded": one.unrecorded,
        "last_at": one.last_at,
    }


def _print(by: str, counted: str, rows: Sequence[UsageTotal | HistoryTotal]) -> None:
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
