"""`doctor` and `config`: whether the setup is sound, and which settings are in force."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.app.stores import redaction_key
from seasoned.cli.options import Commands, json_option
from seasoned.cli.output import print_json, table
from seasoned.config import load
from seasoned.doctor import run_checks, settings
from seasoned.redact import Redactor


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the store, the histories and the setup.

    Exits with 1 when a check fails.

    \b
    Example: seasoned doctor
    """
    checks = run_checks(load())
    is_sound = all(check.ok for check in checks)
    if as_json:
        print_json("doctor", {"ok": is_sound, "checks": [check.answer() for check in checks]})
    else:
        table(["", "check", "finding"], [("ok" if one.ok else "!!", one.name, one.finding) for one in checks])
    # After printing, so that a script and a person both get what they need.
    if not is_sound:
        raise click.exceptions.Exit(1)


@click.group(cls=Commands)
def config() -> None:
    """Show the configuration."""


@config.command("show")
@json_option
def config_show(as_json: bool) -> None:
    """Show every setting and where it came from.

    \b
    Example: seasoned config show --json
    """
    config = load()
    # Reads a key but writes none: showing settings leaves no file behind.
    found = settings(config, Redactor(redaction_key(config)[0]))
    if as_json:
        answer = {
            one.name: {"value": str(one.value) if isinstance(one.value, Path) else one.value, "from": one.origin}
            for one in found
        }
        print_json("config", {"settings": answer})
        return
    table(["setting", "value", "from"], [(one.name, one.value, one.origin) for one in found])
