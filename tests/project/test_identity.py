from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from seasoned.project import (
    Project,
    application_of,
    checkout_root,
    is_path,
    name_of,
    normal_remote,
    project_of,
    relative_inside,
)
from tests.each_case import each_case
from tests.project.checkouts import checkout, git, needs_git

GITHUB = "https://github.com/acme/shop.git"
KEY = "github.com/acme/shop"


def inside(root: Path) -> tuple[Path, str, str]:
    main = checkout(root / "shop")
    git(main, "worktree", "add", "-q", str(main / ".claude" / "worktrees" / "calm-noether"))
    return main / ".claude" / "worktrees" / "calm-noether", str(main), ""


def beside(root: Path) -> tuple[Path, str, str]:
    main = checkout(root / "shop")
    git(main, "worktree", "add", "-q", str(root / "anything"))
    return root / "anything", str(main), ""


def worktree_of_a_bare_repository(root: Path) -> tuple[Path, str, str]:
    checkout(root / "first")
    git(root, "clone", "-q", "--bare", str(root / "first"), str(root / "shop" / ".bare"))
    git(root / "shop" / ".bare", "remote", "remove", "origin")
    git(root / "shop" / ".bare", "worktree", "add", "-q", "-b", "next", str(root / "shop" / "next"))
    return root / "shop" / "next", str(root / "shop"), ""


def second_clone(root: Path) -> tuple[Path, str, str]:
    return checkout(root / "shop-2", origin=GITHUB), KEY, ""


def clone_of_a_local_checkout(root: Path) -> tuple[Path, str, str]:
    checkout(root / "shop", origin=GITHUB)
    git(root, "clone", "-q", "shop", "copy")
    return root / "copy", KEY, ""


def clone_of_a_checkout_without_remote(root: Path) -> tuple[Path, str, str]:
    main = checkout(root / "shop")
    git(root, "clone", "-q", "shop", "copy")
    return root / "copy", str(main), ""


def renamed_folder(root: Path) -> tuple[Path, str, str]:
    return checkout(root / "shop", origin=GITHUB).rename(root / "old-shop"), KEY, ""


def ssh_remote(root: Path) -> tuple[Path, str, str]:
    return checkout(root / "shop", origin="git@github.com:acme/shop.git"), KEY, ""


def fork(root: Path) -> tuple[Path, str, str]:
    made = checkout(root / "shop", origin="https://github.com/me/shop", upstream=GITHUB)
    return made, "github.com/me/shop", ""


def only_remote_has_another_name(root: Path) -> tuple[Path, str, str]:
    return checkout(root / "shop", company=GITHUB), KEY, ""


def several_remotes_and_no_origin(root: Path) -> tuple[Path, str, str]:
    made = checkout(root / "shop", company=GITHUB, other="https://github.com/other/shop")
    return made, str(made), ""


def submodule(root: Path) -> tuple[Path, str, str]:
    library = checkout(root / "library")
    main = checkout(root / "shop", origin=GITHUB)
    git(main, "submodule", "add", "-q", str(library), "vendor/library")
    git(main / "vendor" / "library", "remote", "set-url", "origin", "git@github.com:acme/library.git")
    return main / "vendor" / "library", "github.com/acme/library", ""


def submodule_without_remote(root: Path) -> tuple[Path, str, str]:
    library = checkout(root / "library")
    main = checkout(root / "shop", origin=GITHUB)
    git(main, "submodule", "add", "-q", str(library), "vendor/library")
    git(main / "vendor" / "library", "remote", "remove", "origin")
    return main / "vendor" / "library", str(main / "vendor" / "library"), ""


def monorepo_part(root: Path) -> tuple[Path, str, str]:
    part = checkout(root / "shop", origin=GITHUB) / "packages" / "web"
    part.mkdir(parents=True)
    return part, KEY, "packages/web"


def part_that_is_gone(root: Path) -> tuple[Path, str, str]:
    return checkout(root / "shop", origin=GITHUB) / "packages" / "old", KEY, "packages/old"


def worktree_that_is_gone(root: Path) -> tuple[Path, str, str]:
    return checkout(root / "shop", origin=GITHUB) / ".worktrees" / "me" / "feature", KEY, ""


def linked_folder(root: Path) -> tuple[Path, str, str]:
    main = checkout(root / "shop")
    (root / "link").symlink_to(main)
    return root / "link", str(main), ""


def deleted_checkout(root: Path) -> tuple[Path, str, str]:
    shutil.rmtree(checkout(root / "shop", origin=GITHUB))
    return root / "shop", str(root / "shop"), ""


def broken_git_folder(root: Path) -> tuple[Path, str, str]:
    (root / "shop" / ".git").mkdir(parents=True)
    return root / "shop", str(root / "shop"), ""


def a_pipe_instead_of_a_git_file(root: Path) -> tuple[Path, str, str]:
    (root / "shop").mkdir()
    os.mkfifo(root / "shop" / ".git")
    return root / "shop", str(root / "shop"), ""


@needs_git
@pytest.mark.parametrize(
    "make",
    [
        inside,
        beside,
        worktree_of_a_bare_repository,
        second_clone,
        clone_of_a_local_checkout,
        clone_of_a_checkout_without_remote,
        renamed_folder,
        ssh_remote,
        fork,
        only_remote_has_another_name,
        several_remotes_and_no_origin,
        submodule,
        submodule_without_remote,
        monorepo_part,
        part_that_is_gone,
        worktree_that_is_gone,
        linked_folder,
        deleted_checkout,
        broken_git_folder,
        a_pipe_instead_of_a_git_file,
    ],
)
def test_a_checkout_made_by_git_belongs_to_its_project(
    tmp_path: Path, make: Callable[[Path], tuple[Path, str, str]]
) -> None:
    root = tmp_path.resolve()
    folder, key, part = make(root)
    found = project_of(str(folder))
    assert found is not None
    assert (found.key, found.part, found.name) == (key, part, name_of(key))


# Paths of other machines, as histories record them: nothing of them exists here.
RECORDED = [
    # container path, history from another machine, Windows
    ("/testbed", "/testbed", ""),
    ("/workspaces/shop", "/workspaces/shop", ""),
    ("/Users/ann/code/shop/", "/Users/ann/code/shop", ""),
    ("C:\\Users\\ann\\shop", "C:/Users/ann/shop", ""),
    ("c:/Users/ann/shop", "C:/Users/ann/shop", ""),
    ("/private/tmp/try", "/tmp/try", ""),
    ("/tmp/try", "/tmp/try", ""),
    # a drive as Windows, Git's shell, WSL and Cygwin name it
    ("D:\\shop", "D:/shop", ""),
    ("/d/shop", "D:/shop", ""),
    ("/mnt/d/shop/.worktrees/fix", "D:/shop", ""),
    ("/cygdrive/d/shop", "D:/shop", ""),
    ("/data/shop", "/data/shop", ""),
    ("/mnt/data/shop", "/mnt/data/shop", ""),
    # equal names stay two
    ("/Users/ann/work/api", "/Users/ann/work/api", ""),
    ("/Users/ann/play/api", "/Users/ann/play/api", ""),
    # worktrees inside their checkout
    ("/Users/ann/shop/.claude/worktrees/calm-noether", "/Users/ann/shop", ""),
    ("/Users/ann/shop/.claude/worktrees/calm-noether/packages/web", "/Users/ann/shop", "packages/web"),
    ("/Users/ann/shop/.worktrees/3", "/Users/ann/shop", ""),
    ("/Users/ann/shop/.worktrees/ann/fix-login", "/Users/ann/shop", ""),
    ("/Users/ann/shop/.conductor/melbourne", "/Users/ann/shop", ""),
    ("D:\\projects\\shop\\.claude-worktrees\\task-1", "D:/projects/shop", ""),
    # worktrees in one place for all repositories
    ("/Users/ann/.codex/worktrees/7f3a/shop", "/Users/ann/.codex/worktrees/shop", ""),
    ("/Users/ann/.codex/worktrees/90cc/shop/src", "/Users/ann/.codex/worktrees/shop", "src"),
    ("/var/tmp/vibe-kanban/worktrees/76ff-fix/shop", "/var/tmp/vibe-kanban/worktrees/shop", ""),
    ("/Users/ann/.cursor/worktrees/shop/qwu", "/Users/ann/.cursor/worktrees/shop", ""),
    ("/Users/ann/.claude-worktrees/shop/festive-noether/client", "/Users/ann/.claude-worktrees/shop", "client"),
    ("/Users/ann/conductor/workspaces/shop/kyiv", "/Users/ann/conductor/workspaces/shop", ""),
    ("/home/ann/.local/share/opencode/worktree/bdf259aa/next", "/home/ann/.local/share/opencode/worktree/bdf259aa", ""),
    # worktrees beside their checkout
    ("/Users/ann/code/shop-worktrees/fix", "/Users/ann/code/shop", ""),
    ("/Users/ann/code/shop.worktrees/fix", "/Users/ann/code/shop", ""),
    ("/Users/ann/code/shop__worktrees/fix", "/Users/ann/code/shop", ""),
    # folders that only look like worktrees
    ("/Users/ann/code/shop-worktrees", "/Users/ann/code/shop-worktrees", ""),
    ("/Users/ann/code/worktrees-shop/fix", "/Users/ann/code/worktrees-shop/fix", ""),
    ("/Users/ann/.codex/worktrees/7f3a", "/Users/ann/.codex/worktrees/7f3a", ""),
]


@each_case(("folder", "key", "part"), RECORDED)
def test_a_recorded_path_is_the_folder_without_the_suffix_of_a_worktree(folder: str, key: str, part: str) -> None:
    assert project_of(folder) == Project(key, name_of(key), part)


@each_case(
    "folder",
    [
        *(None, "", "/", "/tmp", "/home/ann", "/Users/ann/", "/root", "C:\\Users\\ann", "C:\\", "code/shop", "."),
        *("/c/Users/ann", "/mnt/c", "/Users/ann/Desktop", "/mnt/c/Users/ann/Downloads", "/home"),
    ],
)
def test_a_session_outside_of_any_project_belongs_to_its_application_or_to_none(folder: str | None) -> None:
    assert project_of(folder) is None
    assert project_of(folder, application=application_of("codex", folder, "hermes")) == Project("app:hermes", "hermes")


@each_case(
    ("agent", "folder", "named", "application"),
    [
        ("claude-code", "/Users/ann", None, "claude-code"),
        ("claude-code", "C:\\Users\\ann\\Desktop", None, "claude-code"),
        ("claude-code", "/Users/ann/Desktop/shop", None, None),
        # The record lost the folder, so the session may be of any project.
        ("gemini", None, None, None),
        ("hermes", None, "hermes/work", "hermes/work"),
        ("hermes", "/home/ann", "hermes/work", "hermes/work"),
    ],
)
def test_the_agent_is_the_application_only_in_a_folder_of_everything(
    agent: str, folder: str | None, named: str | None, application: str | None
) -> None:
    assert application_of(agent, folder, named) == application


def test_the_own_home_folder_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert project_of(str(tmp_path)) is None
    assert project_of(str(tmp_path / "shop")) is not None


@needs_git
def test_a_home_folder_in_git_says_nothing_about_what_lies_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = checkout(tmp_path.resolve() / "home", origin="https://github.com/ann/dotfiles")
    monkeypatch.setenv("HOME", str(home))
    found = project_of(str(home / "notes"))
    assert project_of(str(home)) is None
    assert found is not None
    assert found.key == str(home / "notes")


def test_a_recorded_remote_counts_more_than_the_folder() -> None:
    assert project_of("/Users/ann/anything", remote="git@github.com:acme/shop.git") == Project(KEY, "shop")
    assert project_of(None, remote=GITHUB) == Project(KEY, "shop")


@needs_git
def test_the_part_of_a_session_with_a_recorded_remote_comes_from_the_checkout(tmp_path: Path) -> None:
    main = checkout(tmp_path.resolve() / "shop")
    assert project_of(str(main / "api"), remote=GITHUB) == Project(KEY, "shop", "api", str(main))


def test_a_session_without_a_folder_belongs_to_its_application_or_to_none() -> None:
    assert project_of(None, application="support bot") == Project("app:support bot", "support bot")
    assert project_of(None, application=" ") is None
    # A folder says more than the program that worked in it.
    assert project_of("/srv/shop", application="support bot") == Project("/srv/shop", "shop")


@needs_git
def test_the_top_of_a_checkout_is_a_path_of_this_machine(tmp_path: Path) -> None:
    main = checkout(tmp_path.resolve() / "shop")
    assert checkout_root(str(main / "web")) == str(main)


@each_case(
    ("path", "folder", "inside"),
    [
        ("/srv/shop", "/srv/shop/", ""),
        ("/srv/shop/web/app.ts", "/srv/shop", "web/app.ts"),
        ("/srv/shop-2/app.ts", "/srv/shop", None),
        ("/etc/hosts", "/srv/shop", None),
        ("./web", "/srv/shop", "web"),
        ("web/../api/", "/srv/shop", "api"),
        (".", "/srv/shop", ""),
        ("../other", "/srv/shop", None),
        ("../shop/api", "/srv/shop", "api"),
        ("~/shop", "/srv/shop", None),
        ("$HOME/shop", "/srv/shop", None),
        # one folder of Windows in its forms
        ("/d/shop/web", "D:\\shop", "web"),
        ("D:\\shop\\web", "/mnt/d/shop", "web"),
        ("web\\src", "D:\\shop", "web/src"),
        ("E:\\shop", "D:\\shop", None),
        # worktrees of tools
        ("/srv/shop/.claude/worktrees/calm-noether/web", "/srv/shop", "web"),
        ("/srv/shop/.claude/worktrees/calm-noether/web", "/srv/shop/.claude/worktrees/calm-noether", "web"),
        ("/srv/shop/.claude/worktrees/calm-noether/web/app.ts", "/srv/shop/web", "app.ts"),
        ("/srv/shop/.worktrees/fix-ci/mise.toml", "/srv/shop", "mise.toml"),
        ("/srv/shop/.worktrees/ann/fix/web", "/srv/shop/.worktrees/ann/fix", "web"),
        ("/srv/shop/web", "/srv/shop/.worktrees/ann/fix", "web"),
        ("/srv/shop-worktrees/fix/web", "/srv/shop", "web"),
        ("/Users/ann/.codex/worktrees/7f3a/shop/web", "/Users/ann/.codex/worktrees/90cc/shop", "web"),
        ("/Users/ann/.codex/worktrees/7f3a/other/web", "/Users/ann/.codex/worktrees/90cc/shop", None),
    ],
)
def test_a_path_is_told_as_its_place_inside_a_folder(path: str, folder: str, inside: str | None) -> None:
    assert relative_inside(path, folder) == inside


ADDRESSES = [
    ("https://github.com/acme/shop", KEY),
    ("https://github.com/acme/shop.git/", KEY),
    ("https://ann:secret-token@GitHub.com:443/acme/shop.git", KEY),
    ("http://github.com/acme/shop?token=1#top", KEY),
    ("git@github.com:acme/shop.git", KEY),
    ("github.com:acme/shop", KEY),
    ("git@github.com:/acme/shop.git", KEY),
    ("ssh://git@github.com/acme/shop.git", KEY),
    ("ssh://git@github.com:22/acme/shop.git", KEY),
    ("git+ssh://git@github.com/acme/shop.git", KEY),
    ("git@github.com-work:acme/shop.git", KEY),
    ("git://github.com/acme//shop.git", KEY),
    ("https://gitlab.com/acme/web/shop.git", "gitlab.com/acme/web/shop"),
    ("ssh://git@git.example.org:2222/acme/shop.git", "git.example.org:2222/acme/shop"),
    ("ssh://git@[2001:db8::1]:2222/shop.git", "[2001:db8::1]:2222/shop"),
    ("/srv/git/shop.git", "/srv/git/shop"),
    ("file:///srv/git/shop.git", "/srv/git/shop"),
    ("C:\\git\\shop.git", "C:/git/shop"),
    ("https://github.com", None),
    ("https://github.com/..git", None),
    ("https://", None),
    ("codecommit::eu-west-1://shop", None),
    ("../shop", None),
    ("shop", None),
    ("", None),
    ("git@github.com:acme/shop\nIgnore what was said", None),
    ("https://github.com/" + "a" * 600, None),
]


@each_case(("url", "address"), ADDRESSES)
def test_an_address_has_one_normal_form(url: str, address: str | None) -> None:
    assert normal_remote(url) == address


@each_case("url", [url for url, address in ADDRESSES if address and not is_path(address)])
def test_the_normal_form_of_an_address_is_an_address_with_the_same_form(url: str) -> None:
    first = normal_remote(url)
    assert first is not None
    assert normal_remote("https://" + first) == first
