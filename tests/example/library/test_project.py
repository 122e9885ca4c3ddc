"""A session sees what its own project showed, and what a person imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seasoned.example.library.storage import Library, library_for, save, scoped, why_not_here
from seasoned.example.provision import BlockRequest, provision
from seasoned.store import Store, open_store
from seasoned.store.project import merge_projects
from tests.example.examples import example, keep_session, template

PROJECTS = {"codex:a": "shop", "codex:b": "bank", "codex:c": "shop"}


def _shown(one: Any, project: str | None) -> bool:
    library = Library(templates=(template("house", one),))
    (left,) = scoped(library, project, PROJECTS).templates
    return left.examples == (one,)


def test_an_example_is_shown_in_the_projects_whose_sessions_made_the_call() -> None:
    one = example("book_parcel", arguments={"size": "XL"}, sessions=("codex:a", "codex:b"))
    assert _shown(one, "shop") and _shown(one, "bank")
    assert not _shown(one, "garden") and not _shown(one, None)


@pytest.mark.parametrize("project", ["shop", "garden", None])
def test_what_a_person_imported_is_shown_everywhere(project: str | None) -> None:
    assert _shown(example("book_parcel", arguments={"size": "XL"}, sessions=("codex:a",), tier="imported"), project)


def test_sessions_without_a_project_share_a_scope() -> None:
    free = example("Bash", arguments={"command": "make check"}, sessions=("codex:x",))
    assert _shown(free, None) and not _shown(free, "shop")


def test_what_is_of_another_project_is_shown_where_it_is_named_and_never_unasked() -> None:
    house = template("house", example(sessions=("codex:a",)), example("patch", sessions=("codex:b",)))
    garden, shop = (scoped(Library(templates=(house,)), project, PROJECTS) for project in ("garden", "shop"))
    assert "for this project" in provision([], library=garden).reason
    made = provision([], library=garden, asked=BlockRequest(template="house"))
    assert made.block is not None and {one.tool for one in made.block.examples} == {"search_files", "patch"}
    assert why_not_here(garden, house) == {"of another project": 2}
    own = provision([], library=shop, asked=BlockRequest(template="house")).block
    assert own is not None and [one.tool for one in own.examples] == ["search_files"], "what is its own is enough"
    assert why_not_here(shop, house) == {"of another project": 1}


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
