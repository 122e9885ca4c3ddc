"""`doctor`, `config show`, `redact`: how things stand."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from seasoned.cli.options import json_option


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check the store, the histories that are found, and what could not be read.

    \b
    Example: seasoned doctor
    """
    from seasoned.cli.output import print_json, table
    from seasoned.config import load
    from seasoned.doctor import run_checks

    checks = run_checks(load())
    if as_json:
        print_json("doctor", {"ok": all(check.ok for check in checks), "checks": [check.answer() for check in checks]})
    else:
        table(
            ["", "check", "finding"],
            [("ok" if check.ok else "!!", check.name, check.finding) for check in checks],
        )
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(1)


@click.group()
def config() -> None:
    """The configuration in force."""


@config.command("show")
@json_option
def config_show(as_json: bool) -> None:
    """Show every setting, its value and where it came from.

    \b
    Example: seasoned config show --json
    """
    from seasoned.app.stores import key_of
    from seasoned.cli.output import print_json, table
    from seasoned.config import load
    from seasoned.doctor import settings
    from seasoned.redact import Redactor

    config = load()
    found = settings(config, Redactor(key_of(config)[0]))
    if as_json:
        answer = {
            one.name: {"value": str(one.value) if isinstance(one.value, Path) else one.value, "from": one.origin}
            for one in found
        }
        print_json("config", {"settings": answer})
        return
    table(["setting", "value", "from"], [(one.name, one.value, one.origin) for one in found])


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path, readable=False))
def redact(file: Path | None) -> None:
    """Print a text with secrets and personal data replaced by tags.

    \b
    Example: seasoned redact session.jsonl > shareable.jsonl
    """
    from seasoned.app.stores import key_of
    from seasoned.config import load
    from seasoned.errors import NotFound, SourceError
    from seasoned.redact import Redactor

    settings = load()
    redactor = Redactor(key_of(settings)[0], settings.redact)
    try:
        text = sys.stdin.buffer.read() if file is None else file.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"{str(file)!r} does not exist: check the path.") from None
    except OSError as error:
        raise SourceError(f"{str(file)!r} cannot be read: {error.strerror or error}.") from error
    sys.stdout.buffer.write(redactor.text(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()
