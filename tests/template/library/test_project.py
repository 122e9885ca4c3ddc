"""Which examples leave their project: how a named tool is called, with two projects behind it, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seasoned.store import Store, open_store
from seasoned.store.project import merge_projects
from seasoned.template.library.project import library_for, scoped
from seasoned.template.library.storage import Library, save
from seasoned.template.provision import provision
from tests.each_case import each_case
from tests.template.examples import example, keep_session, template

PROJECTS = {"codex:a": "shop", "codex:b": "bank", "codex:c": "shop"}
PARCEL = {"parcel": "GX-000008", "size": "XL"}


def _shown(one: Any, project: str | None) -> bool:
    library = Library(templates=(template("house", one),))
    (left,) = scoped(library, project, PROJECTS).templates
    return left.examples == (one,)


@each_case(
    ("tool", "arguments", "may_cross"),
    [
        ("book_parcel", PARCEL, True),
        ("mcp__crm__find_customer", {"email": "kim@example.com"}, True),
        ("Bash", {"command": "make check"}, False),
        ("exec_command", {"cmd": "make check"}, False),
        ("Read", {"file_path": "src/x.py"}, False),
        ("apply_patch", {"input": "*** Begin Patch"}, False),
        ("search_files", {"pattern": "def main"}, False),
        ("WebFetch", {"url": "https://example.com"}, False),
        ("execute_code", {"code": "print(1)"}, False),
        # Shells and code under names that no table knows.
        ("pytest", {"command": "pytest -q"}, False),
        ("run_in_sandbox", {"command": "make check"}, False),
        ("my_own_shell", {"input": "make check"}, False),
        ("notebook_cell", {"code": "print(1)"}, False),
        ("warehouse", {"sql": "SELECT * FROM parcels"}, False),
    ],
)
def test_only_how_a_named_tool_is_called_may_leave_its_projects(
    tool: str, arguments: dict[str, Any], may_cross: bool
) -> None:
    one = example(tool, arguments=arguments, sessions=("codex:a", "codex:b"))
    assert _shown(one, "shop") and _shown(one, "bank")
    assert _shown(one, "garden") is may_cross
    assert _shown(one, None) is may_cross


@pytest.mark.parametrize(
    ("sessions", "may_cross"),
    [
        (("codex:a",), False),
        (("codex:a", "codex:c"), False),  # two sessions of one project
        (("codex:a", "codex:unknown"), False),  # of one project, and of none
        (("codex:a", "codex:b"), True),
    ],
)
def test_two_projects_are_needed_to_cross(sessions: tuple[str, ...], may_cross: bool) -> None:
    assert _shown(example("book_parcel", arguments=PARCEL, sessions=sessions), "garden") is may_cross


def test_sessions_without_a_project_share_a_scope() -> None:
    free = example("Bash", arguments={"command": "make check"}, sessions=("codex:x",))
    assert _shown(free, None) and not _shown(free, "shop")


@pytest.mark.parametrize("project", ["shop", None])
def test_an_imported_example_is_from_elsewhere_whatever_sessions_it_names(project: str | None) -> None:
    names = {"sessions": ("codex:a", "codex:b"), "tier": "imported"}
    assert _shown(example("book_parcel", arguments=PARCEL, support=2, **names), project)
    assert not _shown(example("book_parcel", arguments=PARCEL, support=1, **names), project)
    assert not _shown(example("Bash", arguments={"command": "make check"}, support=9, **names), project)


def test_notes_and_workflows_stay_only_where_every_session_is_of_the_project() -> None:
    mixed = template("mixed", example(sessions=("codex:a",)), example("patch", sessions=("codex:b",)))
    own = template("own", example(sessions=("codex:a",)), example("patch", sessions=("codex:c",)))
    first, second = scoped(Library(templates=(mixed, own)), "shop", PROJECTS).templates
    assert (first.notes, first.workflows) == ((), ()) and len(first.examples) == 1
    assert second is own


def test_a_library_that_is_all_of_one_project_is_left_as_it_is() -> None:
    library = Library(templates=(template("own", example(sessions=("codex:a", "codex:c"))),))
    assert scoped(library, "shop", PROJECTS) is library


@pytest.mark.parametrize("name", ["house", None])
def test_the_reason_says_that_nothing_is_of_this_project(name: str | None) -> None:
    library = scoped(Library(templates=(template("house", example(sessions=("codex:a",))),)), "garden", PROJECTS)
    assert "for this project" in provision([], library=library, template=name).reason


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_store(tmp_path / "s.db") as opened:
        keep_session(opened, "codex:a", application="shop")
        keep_session(opened, "codex:b", application="bank")
        save(opened, template("house", example(sessions=("codex:a",)), example("patch", sessions=("codex:b",))))
        yield opened


def _tools(store: Store, project: str | None) -> list[str]:
    (left,) = library_for(store, project, now=1.0).templates
    return [one.tool for one in left.examples]


def test_the_library_of_a_project_is_held_until_something_changes(store: Store) -> None:
    held = library_for(store, "app:shop", now=1.0)
    assert library_for(store, "app:shop", now=1.0) is held
    assert _tools(store, "app:shop") == ["search_files"] and _tools(store, None) == []
    save(store, template("other", example("browse", sessions=("codex:a",))))
    assert {one.name for one in library_for(store, "app:shop", now=1.0).templates} == {"house", "other"}


def test_a_merge_of_projects_counts_at_once(store: Store) -> None:
    assert _tools(store, "app:shop") == ["search_files"]
    merge_projects(store, "app:bank", "app:shop", now=2.0)
    assert _tools(store, "app:shop") == ["search_files", "patch"]
