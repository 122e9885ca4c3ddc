"""What the first commits of the repositories on a machine tell about the projects of their sessions."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from seasoned.scan.store_writer import update_aggregates
from seasoned.store import Store
from seasoned.store.project import ProjectFinder, merged_into, project_of_conversation
from seasoned.store.repository import first_commits
from tests.project.checkouts import checkout, git, needs_git
from tests.store.test_project import SHOP, add, projects, store

__all__ = ["store"]
pytestmark = needs_git
KEY, RENAMED = "github.com/acme/shop", "github.com/acme/store"


def work(store: Store, folder: Path, *names: str, **facts: str) -> None:
    """Sessions in a folder."""
    for name in names:
        add(store, name, str(folder), **facts)


def test_a_renamed_remote_takes_its_earlier_sessions_along(store: Store, tmp_path: Path) -> None:
    main = checkout(tmp_path.resolve() / "shop", origin=SHOP)
    work(store, main, "before")
    # Codex records the remote, also in worktrees that are gone and on other machines.
    work(store, Path("/Users/ann/.codex/worktrees/7f3a/shop"), "recorded", remote=KEY)
    git(main, "remote", "set-url", "origin", "git@github.com:acme/store.git")
    work(store, main, "after", remote=RENAMED)
    work(store, Path("/Users/ann/elsewhere"), "later", remote=KEY)
    assert set(projects(store).values()) == {RENAMED}
    assert merged_into(store, RENAMED) == [KEY]


def test_a_remote_that_is_renamed_and_renamed_back_is_one_project(store: Store, tmp_path: Path) -> None:
    main = checkout(tmp_path.resolve() / "shop", origin=SHOP)
    work(store, main, "first", remote=KEY)
    git(main, "remote", "set-url", "origin", "https://github.com/acme/store")
    work(store, main, "second", remote=RENAMED)
    git(main, "remote", "set-url", "origin", SHOP)
    work(store, main, "third", remote=KEY)
    assert set(projects(store).values()) == {KEY}


def test_a_folder_without_a_remote_takes_its_sessions_along_when_it_is_renamed(store: Store, tmp_path: Path) -> None:
    old = checkout(tmp_path.resolve() / "shop")
    work(store, old, "before")
    work(store, old / "src", "inside")
    new = tmp_path.resolve() / "store"
    old.rename(new)
    work(store, new, "after")
    assert set(projects(store).values()) == {str(new)}
    copy = tmp_path.resolve() / "copy"
    shutil.copytree(new, copy)
    work(store, copy, "copied")
    assert projects(store)["copied"] == str(copy), "both are there: a copy is no rename"


def test_a_fork_is_another_project_than_the_repository_it_came_from(store: Store, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    main = checkout(root / "shop", origin=SHOP)
    git(root, "clone", "-q", str(main), "fork")
    git(root / "fork", "remote", "set-url", "origin", "https://github.com/me/shop")
    work(store, main, "theirs", remote=KEY)
    work(store, root / "fork", "mine")
    assert projects(store) == {"theirs": KEY, "mine": "github.com/me/shop"}
    # A clone that becomes a fork keeps the address it came from, as `gh repo fork` does it.
    shutil.rmtree(root / "fork")
    git(main, "remote", "rename", "origin", "upstream")
    git(main, "remote", "add", "origin", "https://github.com/you/shop")
    work(store, main, "forked")
    work(store, Path("/Users/ann/elsewhere"), "recorded", remote=KEY)
    assert (projects(store)["recorded"], projects(store)["forked"]) == (KEY, "github.com/you/shop")


def test_a_project_that_began_as_a_copy_of_a_template_is_not_the_template(store: Store, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    template = checkout(root / "template", origin="https://github.com/acme/template")
    git(root, "clone", "-q", str(template), "client")
    git(root / "client", "remote", "set-url", "origin", "https://github.com/acme/template")
    work(store, template, "a")
    work(store, root / "client", "b")
    git(root / "client", "remote", "set-url", "origin", "https://github.com/acme/client")
    work(store, root / "client", "c")
    assert projects(store) == {
        "a": "github.com/acme/template",
        "b": "github.com/acme/client",
        "c": "github.com/acme/client",
    }


def test_another_repository_in_the_same_folder_is_no_rename(store: Store, tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "try"
    checkout(folder, origin=SHOP)
    work(store, folder, "first", remote=KEY)
    shutil.rmtree(folder)
    checkout(folder, origin="https://github.com/acme/api")
    git(folder, "commit", "-q", "--amend", "--allow-empty", "-m", "of another repository")
    work(store, folder, "second", remote="github.com/acme/api")
    assert projects(store) == {"first": KEY, "second": "github.com/acme/api"}


def test_a_folder_that_only_copies_the_remote_is_a_project_of_its_own(store: Store, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    main = checkout(root / "shop", origin=SHOP)
    work(store, main, "one", "two")
    planted = checkout(root / "planted")
    git(planted, "commit", "-q", "--amend", "--allow-empty", "-m", "not of the shop")
    shutil.copy(main / ".git" / "config", planted / ".git" / "config")
    work(store, planted, "fake")
    work(store, planted / "web", "recorded", remote=KEY)
    empty = root / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    shutil.copy(main / ".git" / "config", empty / ".git" / "config")
    work(store, empty, "empty")
    own = {"fake": str(planted), "recorded": str(planted), "empty": str(empty)}
    assert projects(store) == {"one": KEY, "two": KEY, **own}
    # The same while they run, and when the folder is gone.
    assert project_of_conversation(store, "codex:new", str(planted / "web")) == str(planted)
    shutil.rmtree(planted)
    work(store, planted, "later")
    assert projects(store)["later"] == str(planted)
    assert project_of_conversation(store, "codex:new", str(main)) == KEY


def test_the_folder_with_most_sessions_is_the_real_one_if_all_are_new(store: Store, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    planted = checkout(root / "a-planted", origin=SHOP)
    git(planted, "commit", "-q", "--amend", "--allow-empty", "-m", "not of the shop")
    main = checkout(root / "shop", origin=SHOP)
    rows = []
    for name, folder in (("fake", planted), ("one", main), ("two", main)):
        insert = "INSERT INTO session (agent, native_id, cwd) VALUES ('codex', ?, ?) RETURNING id"
        with store.write():
            rows.append(store.connection.execute(insert, (name, str(folder))).fetchone()[0])
    update_aggregates(store, rows)
    assert projects(store) == {"fake": str(planted), "one": KEY, "two": KEY}


def test_clones_and_worktrees_of_a_repository_are_one_project(store: Store, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    main = checkout(root / "shop", origin=SHOP)
    git(main, "worktree", "add", "-q", "--detach", str(root / "detached"))
    git(root, "clone", "-q", str(main), "clone")
    git(root, "clone", "-q", "--depth", "1", f"file://{main}", "shallow")
    git(root / "clone", "checkout", "-q", "--orphan", "gh-pages")
    git(root / "clone", "commit", "-q", "--allow-empty", "-m", "pages")
    for folder in ("clone", "shallow"):
        git(root / folder, "remote", "set-url", "origin", SHOP)
    for folder in ("shop", "detached", "clone", "shallow"):
        work(store, root / folder, folder)
    assert set(projects(store).values()) == {KEY}


def test_a_repository_that_gets_its_first_commits_joins_its_project(store: Store, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    main = checkout(root / "shop", origin=SHOP)
    work(store, main, "one")
    (root / "new").mkdir()
    git(root / "new", "init", "-q")
    git(root / "new", "remote", "add", "origin", SHOP)
    work(store, root / "new", "before")
    assert projects(store)["before"] == str(root / "new")
    git(root / "new", "pull", "-q", str(main))
    work(store, root / "new", "after")
    assert set(projects(store).values()) == {KEY}


def test_what_git_cannot_read_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert first_commits(str(tmp_path)) == "?"
    made = checkout(tmp_path / "shop")
    assert len(first_commits(str(made))) == 40
    monkeypatch.setenv("PATH", str(tmp_path))
    assert first_commits(str(made)) == "?"


def test_a_session_that_runs_starts_no_program(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = checkout(tmp_path.resolve() / "shop", origin=SHOP)
    work(store, main, "one")
    copy = checkout(tmp_path.resolve() / "copy", origin=SHOP)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("subprocess.Popen", None)
    for folder in (main, copy):
        found = ProjectFinder(store).find(str(folder))
        assert found is not None and found.key == KEY
