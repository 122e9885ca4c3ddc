"""The sessions that a command works on, and what it says about them on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from seasoned.app import stores
from seasoned.app.stores import Histories
from seasoned.cli.output import ReadingBar
from seasoned.config import load
from seasoned.scan.rows import Mode


@contextmanager
def histories(
    paths: Sequence[Path] = (), *, use_store: bool = False, mode: Mode = "full", says_store: bool = False
) -> Iterator[Histories]:
    """The sessions of the paths, of the store, or of the user's own histories; `says_store` if it was the store."""
    with stores.histories(load(), paths, use_store=use_store, mode=mode, progress=ReadingBar) as found:
        print_source(found, as_json=not says_store)
        yield found


@contextmanager
def sessions_for(text: str, paths: Sequence[Path]) -> Iterator[Histories]:
    """The session with an id, or every session of a path."""
    with stores.sessions_for(text, paths, progress=ReadingBar) as found:
        print_passed_over(found.passed_over)
        yield found


def print_source(read: Histories, *, as_json: bool) -> None:
    """Say which files were passed over and, to people, that the answer is from the store."""
    print_passed_over(read.passed_over)
    if read.note and not as_json:
        click.echo(read.note, err=True)


def print_passed_over(passed_over: Iterable[tuple[str, str]]) -> None:
    """Say which files were passed over, and why: one bad file among many is not an error."""
    for _, reason in passed_over:
        click.echo(f"Left out: {reason}", err=True)


def passed_over_answer(*sides: Histories) -> dict[str, Any]:
    """The same as a part of a JSON answer."""
    return {"passed_over": [{"path": path, "reason": reason} for one in sides for path, reason in one.passed_over]}
