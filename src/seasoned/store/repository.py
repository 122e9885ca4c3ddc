"""The repositories on this machine: which remote was renamed, and which folder only copies the remote of another.

Their first commits tell that. Git finds them while a scan settles projects, once for each repository; hooks only read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from seasoned.environment import for_git
from seasoned.project import Project, checkout_of, is_path, is_shallow, remotes_of, repository_of
from seasoned.store.database import Store

_UNKNOWN = "?"
_GIT_SECONDS = 3.0


class Repository(msgspec.Struct, frozen=True):
    """A repository, by the git folder that its worktrees share."""

    folder: str
    key: str  # of its remote, or its folder
    roots: str  # its first commits; empty if it has none yet
    remotes: frozenset[str] = frozenset()


def read_repositories(store: Store, sessions: Sequence[int]) -> list[Repository]:
    """The repositories that these sessions worked in, as far as they are new or changed; most used first."""
    found: dict[str, Repository] = {}
    rows = store.rows("project.folders_of_sessions", {"ids": msgspec.json.encode(sessions).decode()})
    for cwd in [row["cwd"] for row in rows]:
        top = checkout_of(cwd)
        folder = repository_of(cwd)
        if top is None or top.root is None or folder is None or folder in found:
            continue
        known = store.row("project.repository", {"folder": folder})
        # One without commits gets some; of the others only the remote changes.
        if known is None or known["key"] != top.key or not known["roots"]:
            found[folder] = Repository(folder, top.key, first_commits(top.root), remotes_of(cwd))
    return list(found.values())


def first_commits(checkout: str) -> str:
    """The commits without a parent in all branches of a checkout."""
    if is_shallow(checkout):
        return _UNKNOWN
    # Imported here: hooks import this module, and start nothing.
    import subprocess

    # Not --all: tools keep their own refs, each with a first commit, and clones do not have them.
    branches = ["--ignore-missing", "HEAD", "--branches", "--remotes"]
    command = ["git", "-C", checkout, "rev-list", "--max-parents=0", *branches]
    try:
        done = subprocess.run(command, env=for_git(), capture_output=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return _UNKNOWN
    return _UNKNOWN if done.returncode else " ".join(sorted(done.stdout.decode("ascii", "replace").split()))


def keep_repositories(store: Store, found: Sequence[Repository]) -> bool:
    """Keep what was read, and join a renamed remote with its new name; whether anything was new."""
    for one in found:
        known = store.row("project.repository", {"folder": one.folder})
        earlier = _moved_from(store, one) if known is None else []
        if known is not None and known["key"] != one.key and _is_renamed(store, known["key"], known["roots"], one):
            earlier = [known["key"]]
        for key in earlier:
            # As the user would merge them. What was renamed back must not lead in a circle.
            store.run("project.unmerge", {"key": one.key})
            store.run("project.merge", {"key": key, "target": one.key, "at": time.time()})
        for other in store.rows("project.repositories", {"key": one.key}):
            if not Path(other["folder"]).is_dir():
                store.run("project.forget_repository", {"folder": other["folder"]})
        store.run("project.keep_repository", {"folder": one.folder, "key": one.key, "roots": one.roots})
    return bool(found)


def _moved_from(store: Store, now: Repository) -> list[str]:
    """The folders without a remote that this repository had before: they are gone, and have the same first commits."""
    if not is_path(now.key):
        return []
    rows = [row for row in store.rows("project.all_repositories") if is_path(row["key"]) and row["key"] != now.key]
    return [row["key"] for row in rows if _share(row["roots"], now.roots) and not Path(row["folder"]).is_dir()]


def _is_renamed(store: Store, key: str, roots: str, now: Repository) -> bool:
    """Whether a repository whose remote changed is still the same one.

    It is a fork, or the copy of a template, if it still knows the old address or another repository here uses that.
    """
    if not _share(roots, now.roots) or key in now.remotes or not Project(key, "").is_remote:
        return False
    others = {row["folder"] for row in store.rows("project.repositories", {"key": key})} - {now.folder}
    return not any(Path(other).is_dir() for other in others)


def is_another(store: Store, folder: str, key: str) -> bool:
    """Whether the repository around a folder only names this remote, and shares no first commit with the real one."""
    rows = store.rows("project.repositories", {"key": key})
    if len(rows) < 2:
        return False
    own = repository_of(folder)
    roots = next((row["roots"] for row in rows if row["folder"] == own), _UNKNOWN)
    first = next((row["roots"] for row in rows if row["roots"]), _UNKNOWN)
    return _UNKNOWN not in (roots, first) and not _share(roots, first)


def _share(roots: str, others: str) -> bool:
    return bool(set(roots.split()) & set(others.split()) - {_UNKNOWN})
