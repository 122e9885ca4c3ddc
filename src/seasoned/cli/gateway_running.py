"""Carries out what `gateway` and its keys are asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from seasoned.cli.confirm_place import need_server
from seasoned.cli.output import print_json, table, when
from seasoned.config import command_environment, load
from seasoned.store import Database, open_database

if TYPE_CHECKING:
    from seasoned.gateway.key import GatewayKey
    from seasoned.gateway.service import Service


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


def make_service(wanted: Wanted | None = None) -> Service:
    """The gateway of this configuration, with what the options change."""
    from seasoned.gateway.service import Service
    from seasoned.gateway.setting import FILE, load_settings

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
    return Service(config, settings, environment=command_environment(), apart=True)


def run_gateway(wanted: Wanted) -> None:
    """Serve until interrupted, and say where."""
    need_server("uvicorn", "httptools", "httpx2", "prometheus_client", "starlette")
    from seasoned.cli.log import open_log
    from seasoned.confirm.policy import Listen
    from seasoned.gateway.listen import serve

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
    from seasoned.gateway.key import make_key as make

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
    from seasoned.gateway.key import list_keys

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
    from seasoned.gateway.key import revoke_key as revoke

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
