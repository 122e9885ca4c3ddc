"""`model`: download the local model."""

from __future__ import annotations

import click

from seasoned.cli.options import Commands, json_option
from seasoned.cli.output import print_json
from seasoned.config import load
from seasoned.runner.model import LARGE, SMALL, fetch_model


@click.group(cls=Commands)
def model() -> None:
    """Manage models on this machine."""


@model.command()
@click.option("--large", is_flag=True, help="Download one with 1.5 billion parameters instead (1.1 GB).")
@json_option
def fetch(large: bool, as_json: bool) -> None:
    """Download the small local model (93 MB).

    Reviews, scheduled jobs and experiments use it with `--model local`. Its digest is checked. The large one is for
    experiments, and used by its path: `--model local:PATH`.

    \b
    Example: seasoned model fetch
    """
    path, is_new = fetch_model(load().model_folder, LARGE if large else SMALL)
    if as_json:
        print_json("model", {"path": str(path), "bytes": path.stat().st_size, "is_new": is_new})
    else:
        click.echo(f"{'Downloaded' if is_new else 'Already there'}: {path}")
