"""`model fetch`: a real model that needs no key."""

from __future__ import annotations

import click

from seasoned.agent.loop.model_download import fetch_model
from seasoned.cli.options import Commands, json_option
from seasoned.cli.output import print_json
from seasoned.config import load


@click.group(cls=Commands)
def model() -> None:
    """Manage models on this machine."""


@model.command()
@json_option
def fetch(as_json: bool) -> None:
    """Download the small local model (93 MB).

    It is what `chat --model local` talks to. Its digest is checked.

    \b
    Example: seasoned model fetch
    """
    fetched = fetch_model(load().model_folder)
    if as_json:
        print_json("model", {"path": str(fetched.path), "bytes": fetched.bytes, "is_new": fetched.is_new})
    else:
        click.echo(f"{'Downloaded' if fetched.is_new else 'Already there'}: {fetched.path}")
