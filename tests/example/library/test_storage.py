"""The library: versions, many writers, snapshots, states, use and blocks, in the real store."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import NotFound, UsageError
from seasoned.example.example import Template
from seasoned.example.library import storage
from seasoned.example.library.storage import (
    VERSIONS_KEPT,
    Library,
    WarmBlock,
    cached_library,
    count_use,
    delete,
    find_block,
    find_example,
    keep_block,
    listed,
    load,
    revision,
    save,
    set_state,
    snapshot,
    stats,
    use_of,
)
from seasoned.store import Store, open_store, open_temporary
from seasoned.store.backup import back_up, restore
from tests.example.examples import example, states_of, template


@pytest.fixture
def store() -> Store:
    return open_temporary()


def test_what_is_saved_is_loaded_as_it_was(store: Store) -> None:
    kept = save(store, template())
    assert kept == template()
    assert load(store, "code-work") == load(store, "CODE-work") == load(store, "code-work", 1) == kept


def test_saving_a_name_again_makes_the_next_version_and_the_last_five_stay(store: Store) -> None:
    for number in range(1, 8):
        assert save(store, template(description=f"build {number}")).version == number
    assert load(store, "code-work").description == "build 7"
    assert load(store, "code-work", 8 - VERSIONS_KEPT).description == "build 3"
    with pytest.raises(NotFound, match=r"has no version 2\. Kept versions: 7, 6, 5, 4, 3"):
        load(store, "code-work", 2)


def test_a_deleted_name_does_not_count_its_versions_anew(store: Store) -> None:
    save(store, template())
    save(store, template())
    assert delete(store, "code-work") == 2
    with pytest.raises(NotFound, match="The library is empty"):
        load(store, "code-work")
    assert save(store, template()).mark == "code-work@3", "an old mark never means another template"
    with pytest.raises(NotFound, match="Similar names: code-work"):
        delete(store, "code-wrk")


def test_names_differ_by_more_than_capitals(store: Store) -> None:
    save(store, template("Code"))
    with pytest.raises(UsageError, match="A template 'Code' already exists"):
        save(store, template("code"))
    with pytest.raises(UsageError, match="single dots"):
        save(store, template("a..b"))
    assert [one.name for one in listed(store)] == ["Code"]


def test_an_empty_template_is_not_saved(store: Store) -> None:
    with pytest.raises(NotFound, match="Nothing was saved"):
        save(store, Template(name="empty"))
    assert listed(store) == [] and revision(store) == 0


def test_an_error_in_the_middle_of_saving_leaves_the_old_version_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "seasoned.db")
    save(store, template(description="old"))
    with monkeypatch.context() as broken:
        broken.setattr(storage, "_shown_from", lambda kept: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            save(store, template(description="new"))
    assert load(store, "code-work") == template(description="old") and revision(store) == 1
    assert save(store, template()).version == 2


def test_the_list_is_newest_first_by_type_and_any_of_the_tags(store: Store) -> None:
    save(store, template("old", created_at=1.0, tags=("Python",)))
    save(store, template("files", created_at=3.0, task_type="file", tags=("csv",)))
    save(store, template("new", created_at=2.0, tags=()))
    save(store, template("new", created_at=4.0, tags=("rust",)))
    assert [one.name for one in listed(store)] == ["new", "files", "old"]
    assert [one.name for one in listed(store, task_type="code")] == ["new", "old"]
    assert [one.name for one in listed(store, tags=["python", "CSV"])] == ["files", "old"]
    assert listed(store)[0] == storage.ListedTemplate("new", 2, "What works here.", "code", ("rust",), 2, 0, 4.0)


def test_use_is_counted_apart_for_templates_and_examples(store: Store) -> None:
    kept = save(store, template())
    before = revision(store)
    first, second = (one.id for one in kept.examples)
    count_use(store, "code-work@1", [first, second, first])
    save(store, template())
    count_use(store, "code-work@2", [first])
    taken = use_of(store)
    assert taken.of("Code-Work") == 2 and taken.examples == {first: 2, second: 1}
    assert listed(store)[0].usage_count == 2
    assert revision(store) == before + 1, "use alone is no reason to rebuild the snapshot"
    with pytest.raises(UsageError, match="does not name a template version"):
        count_use(store, "code-work", [])
    delete(store, "code-work")
    assert use_of(store).templates == {}


def test_a_state_says_why_and_the_last_one_holds(store: Store) -> None:
    kept = save(store, template())
    shown, other = kept.examples
    set_state(store, shown.id, "suspended", "3 of 4 calls in its manner failed", {"calls": ["c1"]}, now=5.0)
    taken = snapshot(store)
    assert taken.active(taken.templates[0]) == (other,)
    assert taken.states[shown.id].evidence == {"calls": ["c1"]} and taken.states[shown.id].changed_at == 5.0
    set_state(store, shown.id, "active", "looked at by a person", now=6.0)
    assert snapshot(store, taken).active(kept) == kept.examples
    assert states_of(store, shown.id) == ["suspended", "active"]
    save(store, template())
    set_state(store, other.id, "retired", "the schema changed", now=7.0)
    assert snapshot(store).state_of(other.id) == "retired", "the same example in a new version stays retired"


_STEPS = st.lists(
    st.tuples(st.sampled_from(["save", "delete", "state", "snapshot"]), st.sampled_from("abc"), st.integers(0, 3)),
    max_size=14,
)


@given(_STEPS)
def test_a_refreshed_snapshot_is_a_new_one(steps: list[tuple[str, str, int]]) -> None:
    store = open_temporary()
    held = snapshot(store)
    for step, name, number in steps:
        shown = example(arguments={"n": number})
        if step == "save":
            save(store, template(name, shown, description=str(number)))
        elif step == "delete" and held.find(name) is not None and any(one.name == name for one in listed(store)):
            delete(store, name)
        elif step == "state":
            set_state(store, shown.id, ("active", "suspended", "retired")[number % 3], "why", now=1.0)
        else:
            held = snapshot(store, held)
    new, held = snapshot(store), snapshot(store, held)
    assert msgspec.structs.asdict(new) == msgspec.structs.asdict(held)


def test_the_figures_count_an_example_once(store: Store) -> None:
    kept = save(store, template("a"))
    save(store, template("b", task_type=None))
    set_state(store, kept.examples[0].id, "retired", "old", now=1.0)
    count_use(store, kept.mark, [kept.examples[1].id])
    found = stats(snapshot(store), use_of(store))
    assert (found.total, found.by_type, found.examples) == (2, {"any": 1, "code": 1}, 2)
    assert (found.usage, found.shown) == (1, 1)
    assert found.states == {"active": 1, "suspended": 0, "retired": 1, "held": 0}


def test_an_example_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    shown = example()
    taken = Library((template("a", shown), template("b", shown)))
    assert find_example(taken, shown.id[:6].upper()) == shown
    with pytest.raises(NotFound, match="lists the ids"):
        find_example(taken, "zz")
    with pytest.raises(NotFound):
        find_example(taken, "")
    ids = [example(arguments={"n": number}) for number in range(17)]
    first = next(one.id[0] for one in ids if sum(each.id[0] == one.id[0] for each in ids) > 1)
    with pytest.raises(UsageError, match="Give more of the id"):
        find_example(Library((template("a", *ids),)), first)


def test_the_first_block_of_a_conversation_stays(store: Store) -> None:
    block = WarmBlock("codex:s1", "openai", "messages", "code-work", 2, ("e1", "e2"), b'[{"\xff"}]', "d1", 5.0)
    assert keep_block(store, block) == block
    later = msgspec.structs.replace(block, content=b"other", digest="d2", created_at=6.0)
    assert keep_block(store, later) == block == find_block(store, "codex:s1", "openai")
    assert keep_block(store, msgspec.structs.replace(later, format="anthropic")).content == b"other"
    assert find_block(store, "codex:s2", "openai") is None


def test_one_library_is_held_for_a_store_in_the_whole_process(tmp_path: Path) -> None:
    path = tmp_path / "seasoned.db"
    with open_store(path) as store:
        save(store, template())
        first = cached_library(store, now=1.0)
    with open_store(path) as store:
        assert cached_library(store, now=2.0) is first
        save(store, template("other"))
        second = cached_library(store, now=3.0)
        assert [one.name for one in second.templates] == ["code-work", "other"]
        back_up(store, tmp_path / "backup.db")
        save(store, template("third"))
        assert len(cached_library(store, now=4.0).templates) == 3
    restore(tmp_path / "backup.db", path)
    with open_store(path) as store:
        delete(store, "other")
        assert [one.name for one in cached_library(store, now=5.0).templates] == ["code-work"], (
            "a backup is another store"
        )
