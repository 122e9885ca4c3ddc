"""Which project a command speaks about."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.cli.output import printable
from seasoned.errors import UsageError
from seasoned.store import Store
from seasoned.store.project import find_project, project_at, project_key
from seasoned.text import plural

UNKNOWN_FOLDER = (
    "No sessions are known for this folder. Choose a project with --project (`seasoned projects` lists them), or use"
    " --all."
)


def project_or_none(store: Store, given: str | None, *, everything: bool) -> tuple[str | None, str]:
    """The project to speak about (None: all), and what to say if nothing is found because no session worked here.

    What is known of other projects is only shown with --all: an unknown folder is a project without sessions.
    """
    key = chosen_project(store, given, everything=everything)
    if key is not None or everything:
        return key, ""
    here = str(Path.cwd())
    return project_key(store, here) or here, UNKNOWN_FOLDER


def chosen_project(store: Store, given: str | None, *, everything: bool, by_default: bool = True) -> str | None:
    """The key of the project to speak about: the one that was named, else that of this folder. None means all.

    `by_default` is false where the user said which sessions are meant, by paths or --store.
    """
    if given is not None and everything:
        raise UsageError("--project and --all exclude each other. Leave one out.")
    if given is not None:
        return find_project(store, given, base=str(Path.cwd())).key
    if everything or not by_default:
        return None
    here = project_at(store, str(Path.cwd()))
    if here is None:
        return None
    click.echo(
        f"Project {printable(here.name)}, {plural(here.sessions, 'session')}. Use --all for every project.", err=True
    )
    return here.key
