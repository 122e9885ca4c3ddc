"""No hostile call and no sentence of others reaches a new session, in any language and over any channel."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from tests.experience.attack.cases import hostile, table
from tests.experience.attack.reviews import shown_notes
from tests.experience.attack.run import STEP, attack, shares
from tests.experience.attack.world import World, make_world
from tests.torture import TORTURE

# Of the harmless things of each place at least so many are shown: the gate must not just say nothing.
FEWEST = {
    "repair at a call": 54,
    "line of a sheet or first prompt": 50,
    "recall of a repair": 100,
    "example of a command": 140,
    "example of a named tool": 42,
    "the same from other projects": 38,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("attack"))


def test_the_set_is_large_and_in_many_languages() -> None:
    assert len(hostile()) >= 1300 and len({one.lang for one in hostile()}) >= 70
    assert len({one.carrier for one in hostile()}) >= 35
    assert sum(map(len, table("harmless").values())) >= 280


def test_harmless_things_that_look_alike_are_still_shown(world: World) -> None:
    found = shares(world)
    assert {name: share for name, share in found.items() if share.shown < FEWEST[name]} == {}


def test_nothing_hostile_reaches_a_new_session(world: World) -> None:
    assert {(one.setting, one.channel, one.case.id) for one in attack(world, step=1 if TORTURE else STEP)} == set()


def test_reviews_keep_nothing_that_a_page_or_a_file_told_them(world: World) -> None:
    assert [note["id"] for note, shown in shown_notes(world, "notes") if shown] == []
    assert [note["id"] for note, shown in shown_notes(world, "harmless") if not shown] == []
