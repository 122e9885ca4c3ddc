"""Who sees which requests, and in what order."""

from __future__ import annotations

import pytest

from seasoned.errors import NotFound, UsageError
from seasoned.store import Database
from tests.confirm.books import Scene


@pytest.fixture
def scene(any_database: Database) -> Scene:
    return Scene(any_database)


def test_an_agent_sees_its_own_requests_only(scene: Scene) -> None:
    request = scene.ask()
    codex = scene.person("codex", "agent")
    for act in (
        lambda: scene.book.look(codex, request.id),
        lambda: scene.book.decide(codex, request.id, approve=True),
        lambda: scene.book.redeem(codex, request.id, digest=request.digest),
    ):
        with pytest.raises(NotFound):
            act()
    assert scene.book.list(codex) == []
    assert [one.id for one in scene.book.list(scene.agent)] == [request.id]


def test_lists_are_newest_first_and_continue_where_the_last_one_ended(scene: Scene) -> None:
    asked = [scene.ask(f"tidy_{number % 3}").id for number in range(9)]
    scene.clock.forward(1)
    asked += [scene.ask(f"sweep_{number % 3}").id for number in range(5)]
    pages, before = [], None
    while page := scene.book.list(scene.anna, limit=4, before=before):
        pages += [one.id for one in page]
        before = page[-1].id
    assert sorted(pages) == sorted(asked) and len(pages) == 14
    assert set(pages[:5]) == set(asked[9:])


def test_lists_can_be_of_one_status(scene: Scene) -> None:
    first, second = scene.ask(), scene.ask()
    scene.deny(first)
    assert [one.id for one in scene.book.list(scene.anna, status="denied")] == [first.id]
    assert [one.id for one in scene.book.list(scene.anna, status="pending")] == [second.id]
    with pytest.raises(UsageError):
        scene.book.list(scene.anna, status="gone")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        scene.book.list(scene.anna, limit=0)


def test_approved_but_never_redeemed_is_visible(scene: Scene) -> None:
    used, unused = scene.ask(), scene.ask()
    scene.approve(used)
    scene.approve(unused)
    scene.book.redeem(scene.agent, used.id, digest=used.digest)
    (found,) = scene.book.list(scene.anna, unused=True)
    assert found.id == unused.id and found.is_unused
    assert not found.is_lapsed(scene.clock())
    scene.clock.forward(300)
    assert found.is_lapsed(scene.clock())
