"""`model fetch`: a real model that needs no key."""

from __future__ import annotations

import click

from seasoned.cli.options import json_option


@click.group()
def model() -> None:
    """Models that run on this machine."""


@model.command()
@json_option
def fetch(as_json: bool) -> None:
    """Fetch the small model that `chat --model local` talks to (93 MB, checked by its digest).

    \b
    Example: seasoned model fetch
    """
    from seasoned.agent.loop.model_download import fetch_model
    from seasoned.cli.output import print_json
    from seasoned.config import load

    fetched = fetch_model(load().model_folder)
    if as_json:
        print_json("model", {"path": str(fetched.path), "bytes": fetched.bytes, "is_new": fetched.is_new})
    else:
        click.echo(f"{'Fetched' if fetched.is_new else 'Already there'}: {fetched.path}")
