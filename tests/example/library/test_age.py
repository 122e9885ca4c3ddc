"""Age: worked out when the library is read, only for what nobody asked for, and never kept as a state."""

from __future__ import annotations

import pytest

from seasoned.example.library.storage import Library, save, set_state, snapshot, stats, use_of
from seasoned.example.provision import BlockRequest, provision
from seasoned.store import Store, open_temporary
from tests.example.examples import example, states_of, template

DAY = 86_400.0
NOW = 1_790_000_000.0
OLD = example(last_seen=NOW - 181 * DAY)
YOUNG = example("read_file", last_seen=NOW - 179 * DAY)
UNDATED = example("patch")


@pytest.fixture
def store() -> Store:
    return open_temporary()


def test_what_auto_learned_is_not_shown_when_it_is_too_old_and_the_reason_is_worked_out(store: Store) -> None:
    kept = save(store, template("auto-code", OLD, YOUNG, UNDATED))
    library = snapshot(store, now=NOW)
    assert library.active(kept) == (YOUNG, UNDATED)
    hidden = library.hidden(kept, OLD)
    assert hidden is not None and hidden.state == "retired"
    assert hidden.reason == "It was last seen to work 181 days ago (limit: 180)."
    assert states_of(store, OLD.id) == [], "nothing was kept about it"
    assert snapshot(store).active(kept) == kept.examples, "where nobody says when it is, nothing is too old"


def test_the_same_example_in_a_template_that_a_person_built_is_shown(store: Store) -> None:
    auto, mine = save(store, template("auto-code", OLD)), save(store, template("mine", OLD))
    library = snapshot(store, now=NOW)
    assert (library.active(auto), library.active(mine)) == ((), (OLD,))
    assert stats(library, use_of(store)).states == {"active": 1, "suspended": 0, "retired": 0, "held": 0}
    made = provision([], library=library)
    assert made.block is not None and made.block.template == "mine@1"


def test_a_person_who_restores_an_old_example_makes_it_young(store: Store) -> None:
    kept = save(store, template("auto-code", OLD))
    set_state(store, OLD.id, "active", "It still holds.", now=NOW)
    assert snapshot(store, now=NOW + 179 * DAY).active(kept) == (OLD,)
    assert snapshot(store, now=NOW + 181 * DAY).active(kept) == ()


def test_a_library_that_is_held_ages_on_the_day(store: Store) -> None:
    kept = save(store, template("auto-code", OLD, YOUNG))
    held = snapshot(store, now=NOW)
    assert snapshot(store, held, now=NOW + 60) is held and snapshot(store, held) is held
    later = snapshot(store, held, now=NOW + 2 * DAY)
    assert later is not held and later.active(kept) == ()
    assert snapshot(store, later, now=NOW).active(kept) == (YOUNG,), "also when the clock is set back"


def test_that_all_are_too_old_is_said_although_no_tools_are_known() -> None:
    library = Library(templates=(template("auto-code", OLD),), now=NOW)
    reason = provision([], library=library, asked=BlockRequest(task="find it")).reason
    assert "suspended, retired or too old" in reason and "tool" not in reason
    asked = BlockRequest(tools=["nothing"])
    assert "has an example for a tool" in provision([], library=Library((template(),)), asked=asked).reason
