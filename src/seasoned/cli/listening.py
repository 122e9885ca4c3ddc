"""The options of commands that listen: where, with which certificate, by which policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

_file = click.Path(path_type=Path, dir_okay=False, readable=False)
_OPTIONS = (
    click.option("--host", help="The address to listen on. By default that of the policy, else 127.0.0.1."),
    click.option("--port", type=click.IntRange(0, 65535), help="By default that of the policy, else 7327; 0 for any."),
    click.option("--unix", "socket", type=_file, help="Listen on a Unix socket as well, which tells who calls."),
    click.option("--tls-cert", "tls_certificate", type=_file, help="A certificate, for listening beyond this machine."),
    click.option("--tls-key", type=_file, help="Its key."),
    click.option(
        "--insecure-listen",
        "allow_plain",
        is_flag=True,
        help="Listen beyond this machine without TLS, behind a proxy that has it.",
    ),
    click.option("--policy", "policy_file", type=_file, help="The policy. By default policy.toml in the home folder."),
)


class Wanted(NamedTuple):
    """What the options ask for; what is None is the policy's."""

    host: str | None
    port: int | None
    socket: Path | None
    tls_certificate: Path | None
    tls_key: Path | None
    allow_plain: bool
    policy_file: Path | None


def listen_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command these options, and hands them to it as one value."""

    @wraps(command)
    def called(**given: Any) -> None:
        wanted = Wanted(**{name: given.pop(name) for name in Wanted._fields})
        command(wanted, **given)

    for option in reversed(_OPTIONS):
        called = option(called)
    return called
