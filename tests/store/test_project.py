"""Projects in the store: what sessions tell about each other, and what the user decides."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.errors import NotFound, UsageError
from seasoned.scan.rows import call_totals
from seasoned.scan.store_writer import update_aggregates
from seasoned.store import Store, open_store
from seasoned.store.forget import forget_everything, forget_sessions
from seasoned.store.project import (
    find_project,
    folders_of,
    list_projects,
    merge_projects,
    merged_into,
    project_at,
    split_project,
)
from tests.project.checkouts import checkout, git, needs_git

SHOP = "https://github.com/acme/shop.git"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        yield opened


def add(store: Store, native_id: str, cwd: str | None, *, parent: str | None = None, **facts: str) -> int:
    """A session in a folder, as a scan writes it."""
    unknown = ["title", "model", "relation", "end_reason", "succeeded", "cost_usd", "source_id", "remote", "branch"]
    tokens = [f"{name}_tokens" for name in ("input", "output", "cache_read", "cache_write", "reasoning")]
    fields = dict.fromkeys([*unknown, "application", "platform", "last_prompt_tokens", *tokens])
    fields.update(call_totals({}))
    parents = {"parent_agent": parent and "codex", "parent_native_id": parent}
    times = {"started": 1.0, "ended": 2.0, "messages": 1, "compactions": "[]"}
    row = store.row(
        "session.save", {**fields, **parents, **times, "agent": "codex", "native_id": native_id, "cwd": cwd, **facts}
    )
    assert row is not None
    update_aggregates(store, [row["id"]])
    return int(row["id"])


def projects(store: Store) -> dict[str, str | None]:
    found = store.connection.execute("SELECT native_id, project FROM session ORDER BY native_id")
    return {row["native_id"]: row["project"] for row in found}


@needs_git
def test_sessions_in_a_checkout_that_is_gone_stay_in_its_project(store: Store, tmp_path: Path) -> None:
    main = checkout(tmp_path.resolve() / "shop", origin=SHOP)
    add(store, "before", str(main))
    shutil.rmtree(main)
    add(store, "after", str(main))
    add(store, "part", str(main / "packages" / "web"))
    add(store, "worktree", str(main / ".worktrees" / "fix"))
    add(store, "beside", f"{main}-2")
    assert projects(store) == {
        "after": "github.com/acme/shop",
        "before": "github.com/acme/shop",
        "beside": f"{main}-2",
        "part": "github.com/acme/shop",
        "worktree": "github.com/acme/shop",
    }
    part = store.connection.execute("SELECT project_part FROM session WHERE native_id = 'part'").fetchone()
    assert part[0] == "packages/web"


@needs_git
def test_a_worktree_that_is_gone_stays_in_the_project_of_its_checkout(store: Store, tmp_path: Path) -> None:
    main = checkout(tmp_path.resolve() / "shop")
    git(main, "worktree", "add", "-q", str(tmp_path.resolve() / "anything"))
    add(store, "worktree", str(tmp_path.resolve() / "anything"))
    shutil.rmtree(main)
    shutil.rmtree(tmp_path / "anything")
    add(store, "later", str(tmp_path.resolve() / "anything"))
    add(store, "main", str(main))
    assert set(projects(store).values()) == {str(main)}


@needs_git
def test_worktrees_that_a_tool_removed_belong_to_the_repository_of_those_beside_them(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    monkeypatch.setenv("HOME", str(root))
    main = checkout(root / "code" / "shop", origin=SHOP)
    places = {
        "conductor": ("conductor/workspaces/shop/kyiv", "conductor/workspaces/shop/lima"),
        "codex": (".codex/worktrees/7f3a/shop", ".codex/worktrees/90cc/shop"),
        "cursor": (".cursor/worktrees/shop/qwu", ".cursor/worktrees/shop/abc"),
        "inside": ("code/shop/.claude/worktrees/calm-noether", "code/shop/.claude/worktrees/bold-curie"),
        "beside": ("code/shop-worktrees/fix", "code/shop-worktrees/next"),
    }
    for name, (here, gone) in places.items():
        git(main, "worktree", "add", "-q", "--detach", str(root / here))
        add(store, f"{name}-gone", str(root / gone))
        add(store, f"{name}-here", str(root / here))
    add(store, "other", str(root / ".codex/worktrees/90cc/api"))
    found = projects(store)
    assert found.pop("other") == str(root / ".codex/worktrees/api")
    assert set(found.values()) == {"github.com/acme/shop"}


@needs_git
def test_a_folder_that_gets_a_remote_takes_its_sessions_along(store: Store, tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    add(store, "first", str(folder))
    assert projects(store) == {"first": str(folder)}
    checkout(folder, origin=SHOP)
    add(store, "second", str(folder))
    assert projects(store) == {"first": "github.com/acme/shop", "second": "github.com/acme/shop"}


def test_a_recorded_remote_tells_the_project_of_other_sessions_in_that_folder(store: Store) -> None:
    add(store, "claude", "/Users/ann/shop")
    add(store, "claude-part", "/Users/ann/shop/web")
    add(store, "elsewhere", "/Users/ann/shop-old")
    add(store, "codex", "/Users/ann/shop", remote="github.com/acme/shop")
    assert projects(store) == {
        "claude": "github.com/acme/shop",
        "claude-part": "github.com/acme/shop",
        "codex": "github.com/acme/shop",
        "elsewhere": "/Users/ann/shop-old",
    }


def test_a_folder_with_two_remotes_tells_nothing_about_sessions_without_one(store: Store) -> None:
    add(store, "one", "/workspace", remote="github.com/acme/shop")
    add(store, "none", "/workspace")
    add(store, "two", "/workspace", remote="github.com/acme/api")
    assert projects(store) == {"none": "/workspace", "one": "github.com/acme/shop", "two": "github.com/acme/api"}


def test_a_session_without_facts_belongs_to_the_project_of_its_lineage(store: Store) -> None:
    add(store, "child", None, parent="root")
    # Hermes names itself in every session.
    add(store, "named", None, parent="root", application="hermes")
    add(store, "root", "/Users/ann/shop")
    add(store, "named-later", None, parent="root", application="hermes")
    add(store, "lonely", None)
    add(store, "log", None, application="support bot")
    add(store, "home", "/Users/ann", application="codex")
    assert projects(store) == {
        "child": "/Users/ann/shop",
        "home": "app:codex",
        "named": "/Users/ann/shop",
        "named-later": "/Users/ann/shop",
        "lonely": None,
        "log": "app:support bot",
        "root": "/Users/ann/shop",
    }


def test_a_merge_is_the_users_word_and_a_split_undoes_it(store: Store) -> None:
    add(store, "a", "/Users/ann/work/api")
    add(store, "b", "/Users/ann/play/api")
    merge_projects(store, "/Users/ann/play/api", "/Users/ann/work/api", now=1.0)
    add(store, "c", "/Users/ann/play/api/web")
    add(store, "b2", "/Users/ann/play/api")
    assert projects(store)["b"] == projects(store)["b2"] == "/Users/ann/work/api"
    assert merged_into(store, "/Users/ann/work/api") == ["/Users/ann/play/api"]
    assert split_project(store, "/Users/ann/work/api", "/Users/ann/play/api") == "/Users/ann/play/api"
    assert projects(store)["b"] == projects(store)["b2"] == "/Users/ann/play/api"
    assert merged_into(store, "/Users/ann/work/api") == []
    with pytest.raises(NotFound, match="No merge brought"):
        split_project(store, "/Users/ann/work/api", "/Users/ann/work/api")


def test_merges_lead_on_to_the_last_project_and_never_in_a_circle(store: Store) -> None:
    for name in ("a", "b", "c"):
        add(store, name, f"/srv/{name}")
    merge_projects(store, "/srv/a", "/srv/b", now=1.0)
    merge_projects(store, "/srv/b", "/srv/c", now=1.0)
    assert set(projects(store).values()) == {"/srv/c"}
    with pytest.raises(UsageError, match="already the same"):
        merge_projects(store, "/srv/c", find_project(store, "/srv/a", base="/").key, now=1.0)


def test_a_project_is_found_by_key_name_owner_and_folder(store: Store) -> None:
    add(store, "a", "/Users/ann/shop", remote="github.com/acme/shop")
    add(store, "b", "/Users/ann/work/api")
    add(store, "c", "/Users/ann/play/api")
    for text in ("github.com/acme/shop", "shop", "Shop", "acme/shop", "/Users/ann/shop", "/Users/ann/shop/web"):
        assert find_project(store, text, base="/").key == "github.com/acme/shop"
    for text in (".", "./web", "../shop"):
        assert find_project(store, text, base="/Users/ann/shop").key == "github.com/acme/shop"
    with pytest.raises(UsageError, match=r"'api' is the name of 2 projects: give the key, one of /Users/ann/\w+/api"):
        find_project(store, "api", base="/")
    with pytest.raises(NotFound, match="Similar: shop"):
        find_project(store, "shpo", base="/")
    with pytest.raises(NotFound, match="No sessions of the project '/Users/ann/other'"):
        find_project(store, "/Users/ann/other", base="/")
    assert project_at(store, "/Users/ann/other") is None
    found = project_at(store, "/Users/ann/shop/web")
    assert found is not None
    assert (found.name, found.sessions, found.agents) == ("shop", 1, ("codex",))


def test_the_list_says_how_many_sessions_and_folders_a_project_has(store: Store) -> None:
    add(store, "a", "/Users/ann/shop", remote="github.com/acme/shop")
    add(store, "b", "/home/ann/shop", remote="github.com/acme/shop")
    add(store, "c", None)
    (row,) = list_projects(store)
    assert (row.key, row.sessions, row.last) == ("github.com/acme/shop", 2, 2.0)
    assert [one.folder for one in folders_of(store, row.key)] == ["/Users/ann/shop", "/home/ann/shop"]


def test_forgetting_leaves_nothing_of_a_project(store: Store) -> None:
    gone = add(store, "a", "/Users/ann/secret", remote="github.com/acme/secret")
    add(store, "b", "/Users/ann/shop", remote="github.com/acme/shop")
    forget_sessions(store, [gone], now=1.0)
    dumped = json.dumps([tuple(row) for row in store.connection.execute("SELECT * FROM project_folder")])
    assert "secret" not in dumped
    assert "shop" in dumped
    merge_projects(store, "github.com/acme/shop", "/srv/x", now=1.0)
    forget_everything(store)
    for table in ("project_folder", "choice"):
        assert store.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0
