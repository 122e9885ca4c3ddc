"""Forgetting a session removes what shows it, everywhere, and that it taught the rest."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from seasoned.errors import NotFound
from seasoned.example.library.storage import (
    TemplateUse,
    WarmBlock,
    count_use,
    find_block,
    keep_block,
    listed,
    load,
    save,
    set_state,
    snapshot,
    use_of,
)
from seasoned.store import Store, open_store
from seasoned.store.forget import forget_everything, forget_sessions, unlearn
from seasoned.store.search import find_session
from tests.example.examples import example, source, states_of, template
from tests.store.test_store import save as save_session


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "seasoned.db")
    for native_id in ("a", "b", "c"):
        save_session(store, native_id)
    return store


def _forget(store: Store, *native_ids: str) -> None:
    forget_sessions(store, [find_session(store, f"codex:{one}")["id"] for one in native_ids], now=9.0)


def test_examples_that_show_its_calls_go_and_others_lose_it_as_a_source(store: Store) -> None:
    alone = example(sessions=("codex:a", "codex:b"), result="only a saw this")
    shared = example("read_file", sessions=("codex:b", "codex:a"), support=2)
    kept = save(store, template("t", alone, shared, sources=("codex:a", "codex:b")))
    held = snapshot(store)
    _forget(store, "a")
    left = load(store, "t")
    assert [one.tool for one in left.examples] == ["read_file"]
    assert left.examples[0].sources == (source("codex:b"),) and left.examples[0].support == 1
    assert left.sources == ("codex:b",) and left.version == kept.version
    assert snapshot(store, held).templates == (left,), "a snapshot that was held notices it"
    assert listed(store)[0].example_count == 1
    raw = Path(store.path).read_bytes()
    assert b"only a saw this" not in raw and b"codex:a" not in raw


def test_templates_lose_the_examples_of_a_forgotten_session_and_go_if_none_is_left(store: Store) -> None:
    alone = example(sessions=("codex:a",))
    shared = example("read_file", sessions=("codex:a", "codex:b"))
    other = example("write_file", sessions=("codex:b", "codex:a"))
    save(store, template("some", alone, shared, other))
    save(store, template("whole", alone))
    save(store, template("witness", other))
    save(store, template("untouched", example(sessions=("codex:c",))))
    with store.write():
        unlearn(store, [find_session(store, "codex:a")["id"]])
    left = {name: load(store, name).examples for name in ("some", "witness", "untouched")}
    assert {name: len(examples) for name, examples in left.items()} == {"some": 1, "witness": 1, "untouched": 1}
    with pytest.raises(NotFound):
        load(store, "whole")


def test_a_fork_that_stays_keeps_the_lineage_as_a_witness(store: Store) -> None:
    forked = msgspec.structs.replace(
        example(support=2), sources=(source("codex:b", root="r1"), source("codex:a", root="r1"), source("codex:c"))
    )
    save(store, template("t", forked))
    _forget(store, "a")
    assert load(store, "t").examples[0].support == 2


def test_a_template_that_becomes_empty_goes_in_every_version(store: Store) -> None:
    save(store, template("t", example(sessions=("codex:b",)), description="older"))
    save(store, template("t", example(sessions=("codex:a",)), description="newer"))
    _forget(store, "a")
    assert load(store, "t").description == "older"
    assert [one.version for one in snapshot(store).templates] == [1]
    _forget(store, "b")
    assert listed(store) == [] and snapshot(store).templates == ()


def test_an_example_that_does_not_say_where_it_is_from_goes_with_its_templates_last_session(store: Store) -> None:
    unsaid = example(sessions=())
    save(store, template("t", unsaid, sources=("codex:a", "codex:b")))
    save(store, template("file", unsaid, sources=()))
    _forget(store, "a")
    assert load(store, "t").examples == (unsaid,)
    _forget(store, "b")
    assert [one.name for one in listed(store)] == ["file"], "what no session taught is not forgotten with one"


def _block(conversation: str, *shown: str) -> WarmBlock:
    return WarmBlock(conversation, "openai", "messages", "t", 1, shown, b"[]", "d", 1.0)


def test_its_blocks_go_and_those_that_show_its_calls(store: Store) -> None:
    alone, shared = example(sessions=("codex:a",)), example("read_file", sessions=("codex:b", "codex:a"))
    other = example("grep", sessions=("codex:b",))
    save(store, template("t", alone, shared, other))
    root = find_session(store, "codex:b")["id"]
    store.run("session.set_root", {"id": root, "root_id": root})
    blocks = [
        _block("codex:b", other.id),
        _block(f"#{root}", other.id),
        _block("codex:z", shared.id),  # with real names it may show the call of any of its sessions
        _block("codex:c", other.id),
    ]
    for block in blocks:
        keep_block(store, block)
    _forget(store, "a")
    assert [find_block(store, one.lineage_root, "openai") is not None for one in blocks] == [True, True, False, True]
    _forget(store, "b")
    assert [find_block(store, one.lineage_root, "openai") is not None for one in blocks] == [False] * 4


def test_blocks_go_even_when_the_version_that_they_showed_is_no_longer_kept(store: Store) -> None:
    alone = example(sessions=("codex:a",))
    save(store, template("t", alone))
    keep_block(store, _block("codex:z", alone.id))
    for _ in range(6):
        save(store, template("t", example("read_file", sessions=("codex:b",))))
    _forget(store, "a")
    assert find_block(store, "codex:z", "openai") is None


def test_what_is_said_about_a_forgotten_example_goes_and_evidence_no_longer_names_the_session(store: Store) -> None:
    alone, shared = example(sessions=("codex:a",)), example("read_file", sessions=("codex:b", "codex:a"))
    kept = save(store, template("t", alone, shared))
    count_use(store, kept.mark, [alone.id, shared.id])
    for one in (alone, shared):
        set_state(store, one.id, "retired", "it failed", {"session": "codex:a"}, now=1.0)
    set_state(store, shared.id, "retired", "it failed again", {"session": "codex:b"}, now=2.0)
    _forget(store, "a")
    assert states_of(store, alone.id) == [] and use_of(store).examples == {shared.id: 1}
    rows = store.connection.execute("SELECT evidence FROM example_state WHERE example_id = ? ORDER BY id", (shared.id,))
    assert [row["evidence"] for row in rows] == ["null", '{"session":"codex:b"}']


def test_forgetting_everything_leaves_no_template(store: Store) -> None:
    kept = save(store, template())
    count_use(store, kept.mark, [kept.examples[0].id])
    set_state(store, kept.examples[0].id, "retired", "why", now=1.0)
    keep_block(store, _block("codex:z", kept.examples[0].id))
    held = snapshot(store)
    forget_everything(store)
    left = snapshot(store, held)
    assert (left.templates, left.states, use_of(store)) == ((), {}, TemplateUse())
    assert find_block(store, "codex:z", "openai") is None
    assert save(store, template()).version == 1
    assert left.revision > held.revision
