"""`projects`: list and merge them; and the sessions and the project that a command works on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import stores
from seasoned.app.stores import Histories, exists, own_store
from seasoned.cli.options import json_option, wants_json
from seasoned.cli.output import ReadingBar, answered, as_fields, printable, records, say, when
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.store import Store
from seasoned.store.project import (
    ProjectRow,
    find_project,
    folders_of,
    list_projects,
    merge_projects,
    merged_into,
    project_at,
    project_key,
    split_project,
)
from seasoned.store.search import find_session
from seasoned.text import plural


@contextmanager
def histories(paths: Sequence[Path] = (), *, says_store: bool = False) -> Iterator[Histories]:
    """The sessions of the paths, of the store, or of the user's own histories; `says_store` if it was the store."""
    with stores.histories(load(), paths, progress=ReadingBar) as found:
        print_source(found) if says_store else print_passed_over(found.passed_over)
        yield found


@contextmanager
def sessions_for(text: str, paths: Sequence[Path]) -> Iterator[Histories]:
    """The session with this id, or every session of the path that `text` names; with their row ids."""
    if not text.strip():
        raise UsageError("The session is empty. Give a session id or a path.")
    # What exists as a file is a path, even if a session id begins with the same letters.
    is_path = exists(text)
    # Clearly meant as a path, so do not answer that no session has this id.
    if not is_path and not paths and text.startswith(("/", "./", "../", "~")):
        raise NotFound(f"{text!r} does not exist. Check the path, or give a session id.")
    with histories([Path(text), *paths] if is_path else paths) as found:
        rows = found.store.rows("session.all_ids") if is_path else [find_session(found.store, text)]
        yield msgspec.structs.replace(found, ids=tuple(row["id"] for row in rows))


def print_source(read: Histories) -> None:
    """Say which files were passed over and, to people, that the answer is from the store."""
    print_passed_over(read.passed_over)
    if read.note and not wants_json():
        say(read.note, err=True)


def print_passed_over(passed_over: Iterable[tuple[str, str]]) -> None:
    """Say which files were passed over, and why: one bad file among many is not an error."""
    for _, reason in passed_over:
        say(f"Left out: {reason}", err=True)


def passed_over_answer(*sides: Histories) -> dict[str, Any]:
    """The same as a part of a JSON answer."""
    return {"passed_over": [{"path": path, "reason": reason} for one in sides for path, reason in one.passed_over]}


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

    `by_default` is false where the user said by paths which sessions are meant.
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
    say(f"Project {printable(here.name)}, {plural(here.sessions, 'session')}. Use --all for every project.", err=True)
    return here.key


def folder_here(store: Store, key: str) -> Path | None:
    """The folder on this machine in which most sessions of a project ran: what it runs is looked for there."""
    return next((Path(one.folder) for one in folders_of(store, key) if Path(one.folder).is_dir()), None)


@click.command()
@click.argument("project", required=False)
@click.option("--merge-into", "into", metavar="PROJECT", help="Merge this project, and its later sessions, into one.")
@click.option("--split", "folder", metavar="FOLDER", help="Undo the merge that brought this folder here.")
@json_option
def projects(project: str | None, into: str | None, folder: str | None) -> None:
    """List projects and merge them.

    A project is a repository, known by its remote address, with all its clones and worktrees; without a remote it is
    a checkout or a folder. PROJECT is a key, a unique name, a folder, or `.` for this folder; without one, all are
    listed.

    \b
    Example: seasoned projects .
    Example: seasoned projects ~/old/shop --merge-into github.com/acme/shop
    Example: seasoned projects github.com/acme/shop --split ~/old/shop
    """
    if into is not None and folder is not None:
        raise UsageError("Use one of --merge-into and --split at a time.")
    if project is None and (into or folder):
        raise UsageError("Name the project first: `seasoned projects PROJECT --merge-into OTHER`.")
    with own_store(load()) as store:
        if project is None:
            _list(store)
            return
        found = find_project(store, project, base=str(Path.cwd()))
        if into is not None:
            _merge(store, found.key, into)
        elif folder is not None:
            _split(store, found.key, folder)
        else:
            _show(store, found)


def _list(store: Store) -> None:
    found = list_projects(store)
    without = store.row("project.without")
    rest = 0 if without is None else int(without["sessions"])
    listed = [as_fields(one) for one in found]
    if answered("projects", {"count": len(found), "projects": listed, "without_project": rest}):
        return
    if found:
        # The key comes last: it is long, and on a narrow terminal only its end runs over.
        records(found, "project=name sessions last agents key", nowrap=["project", "last", "agents", "key"])
    else:
        say("No projects yet. Run `seasoned scan` first.")
    if rest:
        say(f"{plural(rest, 'session')} without a project: no folder, remote or application was recorded.")


def _show(store: Store, found: ProjectRow) -> None:
    folders, merged = folders_of(store, found.key), merged_into(store, found.key)
    if answered("project", {**as_fields(found), "merged": merged, "folders": [as_fields(one) for one in folders]}):
        return
    say(f"{printable(found.name)}  {printable(found.key)}")
    say(
        f"{plural(found.sessions, 'session')} of {', '.join(found.agents)}, {plural(found.calls, 'call')}, "
        f"{found.failed} failed. Last: {when(found.last)}."
    )
    for key in merged:
        say(f"Includes {printable(key)}, which you merged into it.")
    if folders:
        say()
        records(folders, "folder part sessions last", nowrap=["folder", "last"])


def _merge(store: Store, key: str, into: str) -> None:
    other = find_project(store, into, base=str(Path.cwd()))
    merge_projects(store, key, other.key, now=time.time())
    (now,) = list_projects(store, other.key)
    if not answered("project-merge", {"merged": key, **as_fields(now)}):
        say(f"Merged {printable(key)} into {printable(now.key)}: {plural(now.sessions, 'session')} now.")


def _split(store: Store, key: str, folder: str) -> None:
    new_key = split_project(store, key, str(Path.cwd() / Path(folder).expanduser()))
    left, new = list_projects(store, key), list_projects(store, new_key)
    sides = {"project": as_fields(left[0]) if left else None, "split": as_fields(new[0]) if new else None}
    if not answered("project-split", sides):
        count = new[0].sessions if new else 0
        say(f"{printable(new_key)} is a separate project now, with {plural(count, 'session')}.")
