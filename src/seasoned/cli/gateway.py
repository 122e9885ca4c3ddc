"""`gateway`: the proxy between agents and their models, and the keys that let them in."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.cli.options import json_option

_file = click.Path(path_type=Path, dir_okay=False, readable=False)


@click.group(invoke_without_command=True)
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
    from seasoned.cli.gateway_running import Wanted, run_gateway

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
    from seasoned.cli.gateway_running import make_key

    make_key(name, usd_per_day=usd_per_day, tokens_per_day=tokens_per_day, stops=stop, as_json=as_json)


@key.command(name="list")
@json_option
def list_(as_json: bool) -> None:
    """List the keys, without what opens them.

    \b
    Example: seasoned gateway key list
    """
    from seasoned.cli.gateway_running import print_keys

    print_keys(as_json=as_json)


@key.command()
@click.argument("name")
@json_option
def revoke(name: str, as_json: bool) -> None:
    """End a key. A gateway that runs takes it no more within a second.

    \b
    Example: seasoned gateway key revoke laptop
    """
    from seasoned.cli.gateway_running import revoke_key

    revoke_key(name, as_json=as_json)
