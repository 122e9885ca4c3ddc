"""Which project each stored session belongs to, and what the user decided about that."""

from __future__ import annotations

import posixpath
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from seasoned.errors import NotFound, UsageError
from seasoned.project import (
    APPLICATION,
    Project,
    application_of,
    checkout_of,
    is_path,
    name_of,
    normal_path,
    normal_remote,
    project_from,
    without_worktree,
)
from seasoned.store.database import Store
from seasoned.store.repository import Repository, is_another, keep_repositories

_SHOWN = 5
# A session's folder, recorded remote and application.
Facts = tuple[str | None, str | None, str | None]


class ProjectRow(msgspec.Struct, frozen=True):
    """A project as lists show it."""

    key: str
    name: str
    sessions: int
    agents: tuple[str, ...]
    calls: int
    failed: int
    first: float | None
    last: float | None
    ok: int = 0
    cost_usd: float | None = None  # of the sessions whose cost is known


class FolderRow(msgspec.Struct, frozen=True):
    """A folder in which sessions of a project ran."""

    folder: str
    part: str
    sessions: int
    last: float | None


class ProjectFinder:
    """Finds projects from the facts of sessions and from what the store and the user know about folders."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._merged = _merges(store)
        # Each folder is looked up once, however many sessions ran in it.
        self._tops: dict[str, Project | None] = {}
        # Folders that only name the remote of another repository, and that remote.
        self._copied: dict[str, str] = {}

    def find(self, folder: str | None, *, remote: str | None = None, application: str | None = None) -> Project | None:
        """The project of a session, after everything that is known. None if it has none."""
        found = self.own(folder, remote=remote, application=application)
        return None if found is None else self._joined(found)

    def assigned(self, facts: Facts) -> tuple[str | None, str | None]:
        """Key and part to store for a session with these facts."""
        folder, remote, application = facts
        found = self.find(folder, remote=_address(remote), application=application)
        return (None, None) if found is None else (found.key, found.part)

    def own(self, folder: str | None, *, remote: str | None = None, application: str | None = None) -> Project | None:
        """The project before the user's decisions."""
        top = self._top(folder)
        if folder and remote and folder in self._copied and normal_remote(remote) == self._copied[folder]:
            remote = None
        found = project_from(folder, top, remote=remote, application=application)
        if found is None or found.key.startswith(APPLICATION):
            return found
        if found.is_remote or found.root is not None or not folder:
            return found
        # No checkout is here any more: the folder, or one above it, may have been one when it was last seen.
        path = without_worktree(normal_path(folder))[0]
        for above in _upward(path):
            row = self._store.row("project.folder", {"folder": above})
            if row is not None and row["found_in"] != "several":
                part = _inside(above, path) if row["found_in"] == "checkout" else ""
                return Project(row["key"], name_of(row["key"]), part)
        return found

    def learn(self, folder: str | None, remote: str | None) -> bool:
        """Keep what a session shows about its folder; returns whether that is new, so that others may change too."""
        if not folder:
            return False
        top = self._top(folder)
        if top is not None and top.root is not None:
            place = normal_path(top.root)
            news = self._keep(place, top.key, "checkout")
            # What a tool kept beside this worktree is of the same repository. Not so where its own folder follows the
            # base, `X/.tool/worktrees`: X may be a home folder that does not look like one.
            base = without_worktree(place)[0]
            if base != place and not place.startswith(f"{base}/."):
                news = self._keep(base, top.key, "history") or news
            return (is_path(top.key) and self._keep(top.key, top.key, "checkout")) or news
        address = normal_remote(remote) if remote else None
        return address is not None and self._keep(without_worktree(normal_path(folder))[0], address, "history")

    def _top(self, folder: str | None) -> Project | None:
        if not folder:
            return None
        if folder not in self._tops:
            top = checkout_of(folder)
            if top is not None and top.root is not None and top.is_remote and is_another(self._store, folder, top.key):
                self._copied[folder] = top.key
                key = normal_path(top.root)
                top = Project(key, name_of(key), top.part, top.root)
            self._tops[folder] = top
        return self._tops[folder]

    def _keep(self, folder: str, key: str, found_in: str) -> bool:
        row = self._store.row("project.folder", {"folder": folder})
        if row is not None and found_in == "history":
            # A checkout that was seen here counts more. Two remotes of one folder, as of /workspace in containers,
            # say nothing about sessions that recorded none.
            if row["found_in"] != "history" or self.target(row["key"]) == self.target(key):
                return False
            found_in = "several"
        if row is not None and (row["key"], row["found_in"]) == (key, found_in):
            return False
        self._store.run("project.keep_folder", {"folder": folder, "key": key, "found_in": found_in})
        return True

    def target(self, key: str) -> str:
        """The project that a project was merged into, or itself."""
        seen = {key}
        while key in self._merged and self._merged[key] not in seen:
            key = self._merged[key]
            seen.add(key)
        return key

    def _joined(self, found: Project) -> Project:
        key = self.target(found.key)
        return found if key == found.key else Project(key, name_of(key), found.part, found.root)


def _merges(store: Store) -> dict[str, str]:
    """The projects that the user merged, by key, each with the one that it was merged into."""
    return {row["key"]: row["target"] for row in store.rows("project.merges")}


def _upward(path: str) -> Iterator[str]:
    """A path and the folders above it."""
    while path not in ("", "/", "."):
        yield path
        above = posixpath.dirname(path)
        if above == path:
            return
        path = above


def _inside(top: str, path: str) -> str:
    return path[len(top) :].strip("/")


def settle_projects(store: Store, *, everything: bool = False, repositories: Sequence[Repository] = ()) -> None:
    """Set the project of the touched sessions, or of all; call it inside a transaction.

    `repositories` are those that `read_repositories` found for these sessions.
    """
    everything = keep_repositories(store, repositories) or everything
    finder = ProjectFinder(store)
    touched: list[sqlite3.Row] = []
    if not everything:
        touched = store.rows("project.touched")
        learned = [finder.learn(cwd, _address(remote)) for cwd, remote, _ in _facts(touched)]
        # What one session shows about a folder may tell the project of others that were read earlier.
        everything = any(learned)
    else:
        for cwd, remote, _ in _facts(store.rows("project.all_facts")):
            finder.learn(cwd, _address(remote))
    if everything:
        moved = 0
        for facts in _facts(store.rows("project.all_facts")):
            names = dict(zip(("cwd", "remote", "application"), facts, strict=True))
            key, part = finder.assigned(facts)
            moved += store.run("project.assign", {**names, "project": key, "part": part})
        moved += store.run("project.inherit_everywhere")
        if moved:
            _raise_revision(store)
        return
    found = {facts: finder.assigned(facts) for facts in _facts(touched)}
    changed = [
        (*found[_facts_of(row)], row["id"])
        for row in touched
        if found[_facts_of(row)] != (row["project"], row["project_part"])
    ]
    store.run_many("project.assign_one", changed)
    if (store.run("project.inherit") or changed) and store.row("template.is_from_touched") is not None:
        _raise_revision(store)


def _raise_revision(store: Store) -> None:
    # What a template may show depends on the projects of its sessions, and is held in memory until this changes.
    store.row("template.raise_revision")


def _facts(rows: Iterable[sqlite3.Row]) -> list[Facts]:
    """The different facts of these sessions, each once."""
    return list(dict.fromkeys(map(_facts_of, rows)))


def _facts_of(row: sqlite3.Row) -> Facts:
    return row["cwd"], row["remote"], row["application"]


def _address(remote: str | None) -> str | None:
    """A stored remote, which is in its normal form, as an address."""
    return None if remote is None else remote if is_path(remote) else f"https://{remote}"


def _settle_everything(store: Store) -> None:
    # The statements for touched sessions need their table, even where all are meant.
    store.run("session.begin_touched")
    with store.write():
        settle_projects(store, everything=True)


def list_projects(store: Store, key: str | None = None) -> list[ProjectRow]:
    """The projects with sessions, newest first; or the one with this key."""
    return [_row(row) for row in store.rows("project.list", {"key": key})]


def _row(row: sqlite3.Row) -> ProjectRow:
    return ProjectRow(
        key=row["key"],
        name=name_of(row["key"]),
        sessions=row["sessions"],
        agents=tuple(sorted(row["agents"].split(","))),
        calls=row["calls"],
        failed=row["failed"],
        first=row["first"],
        last=row["last"],
        ok=row["ok"],
        cost_usd=row["cost_usd"],
    )


def folders_of(store: Store, key: str) -> list[FolderRow]:
    """The folders in which sessions of a project ran, most used first."""
    rows = store.rows("project.folders", {"key": key})
    return [FolderRow(row["folder"], row["part"] or "", row["sessions"], row["last"]) for row in rows]


def refs_in(store: Store, key: str) -> frozenset[str]:
    """The sessions of a project as other tables name them: `agent:native id`."""
    return frozenset(row["ref"] for row in store.rows("project.refs", {"key": key}))


def merged_into(store: Store, key: str) -> list[str]:
    """The keys that the user merged into a project, directly or one after the other."""
    finder = ProjectFinder(store)
    return sorted(one for one in _merges(store) if finder.target(one) == key)


def find_project(store: Store, text: str, *, base: str) -> ProjectRow:
    """The project that a person means: a key, a unique name, or a folder; relative folders begin at `base`."""
    if text in (".", "..") or text.startswith(("./", "../")) or is_path(text):
        return _of_folder(store, text, base)
    # The keys alone: what is known of all projects takes as long as there are sessions.
    keys = [row["project"] for row in store.rows("project.keys", {"limit": -1})]
    key = ProjectFinder(store).target(text)
    wanted = text.lower()
    for found in (
        [one for one in keys if one == key],
        [one for one in keys if name_of(one).lower() == wanted],
        # `owner/name`, as people write it.
        [one for one in keys if one.lower().endswith(f"/{wanted}")],
    ):
        if len(found) == 1:
            return list_projects(store, found[0])[0]
        if found:
            shown = ", ".join(found[:_SHOWN])
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise UsageError(f"{text!r} is the name of {len(found)} projects: give the key, one of {shown}{more}.")
    if not keys:
        raise NotFound("There are no projects yet. Run `seasoned scan` first.")
    from difflib import get_close_matches  # here, because hooks import this module

    near = get_close_matches(text, map(name_of, keys), n=3, cutoff=0.4)
    similar = f" Similar: {', '.join(dict.fromkeys(near))}." if near else ""
    raise NotFound(f"No project {text!r}.{similar} `seasoned projects` lists them.")


def _of_folder(store: Store, text: str, base: str) -> ProjectRow:
    folder = text if is_path(text) else posixpath.normpath(posixpath.join(base, text))
    found = ProjectFinder(store).find(folder)
    rows = list_projects(store, normal_path(folder) if found is None else found.key)
    if not rows:
        name = f"the project {found.key!r} of {folder!r}" if found is not None else repr(folder)
        raise NotFound(f"No sessions of {name} yet. `seasoned projects` lists the projects with sessions.")
    return rows[0]


def project_key(store: Store, folder: str | None, *, application: str | None = None) -> str | None:
    """The key of the project that a new session belongs to, whether the store has sessions of it or not."""
    found = ProjectFinder(store).find(folder, application=application)
    return None if found is None else found.key


def project_of_conversation(
    store: Store, conversation: str, folder: str | None, *, application: str | None = None
) -> str | None:
    """The key of the project of a session that runs now, by its name `agent:native id` and its folder.

    It is the one that the session has once its history is read.
    """
    agent = conversation.partition(":")[0]
    return project_key(store, folder, application=application_of(agent, folder, application))


def project_at(store: Store, folder: str) -> ProjectRow | None:
    """The project of a folder, if the store has sessions of it."""
    found = ProjectFinder(store).find(folder)
    rows = list_projects(store, found.key) if found is not None else []
    return rows[0] if rows else None


def merge_projects(store: Store, key: str, into: str, *, now: float) -> None:
    """Make the sessions of one project those of another, as the user says."""
    if key == into:
        raise UsageError(f"{key!r} is already the same project.")
    with store.write():
        store.run("project.merge", {"key": key, "target": into, "at": now})
    _settle_everything(store)


def split_project(store: Store, key: str, folder: str) -> str:
    """Undo the merge that brought a folder to a project. Returns the key that the folder has without it."""
    path = normal_path(folder)
    finder = ProjectFinder(store)
    inside = (one for one in folders_of(store, key) if f"{normal_path(one.folder)}/".startswith(f"{path}/"))
    own = next((found for one in inside if (found := finder.own(one.folder)) is not None), None)
    if own is None or own.key == key or finder.target(own.key) != key:
        raise NotFound(f"No merge brought {folder!r} to {key!r}: `seasoned projects PROJECT` lists its folders.")
    with store.write():
        store.run("project.unmerge", {"key": own.key})
    _settle_everything(store)
    return own.key


def forget_empty(store: Store) -> None:
    """Remove what is known of folders and projects without sessions; call it inside a transaction."""
    store.run("project.forget_folders")
    store.run("project.forget_repositories")
    # A merge may lead to a project that was merged itself, so they go one after the other.
    while store.run("project.forget_merges") > 0:
        pass
