"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

paths_argument = click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path, readable=False))
PATHS_HELP = "PATH: files, folders or databases; without one, the histories of this user's own agents."
json_option = click.option("--json", "as_json", is_flag=True, help="JSON for programs.")
store_option = click.option(
    "--store", "use_store", is_flag=True, help="What is already in the store, without reading anything."
)
verbose_option = click.option("--verbose", "-v", is_flag=True, help="Show on the terminal what goes into the log.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
include_option = click.option(
    "--include",
    multiple=True,
    type=click.Choice(["declined", "cancelled", "interrupted", "trivial"]),
    help="Count these calls too, which are left out by default.",
)
