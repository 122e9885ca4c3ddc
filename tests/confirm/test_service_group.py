"""A group of changes: what is written out together is the same as what would be written one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seasoned.confirm.audit.chain import newest_entries, verify_chain
from seasoned.confirm.people.credential import revoke
from seasoned.confirm.request.request import NewRequest, Request
from seasoned.confirm.service.group import Group, Undone
from seasoned.errors import Conflict, Refused, SeasonedError, TooMany
from seasoned.store import Database, open_store
from tests.confirm.books import Scene, raw

FEW = "[rate]\ncount = 3\nwindow_seconds = 60\n"
MANY = "[rate]\ncount = 10000\nwindow_seconds = 60\n"


def _grouped(scene: Scene) -> Group:
    group = Group(scene.database)
    scene.reopen(group)
    return group


def _count(scene: Scene, table: str) -> int:
    inner = scene.database._database  # type: ignore[attr-defined]
    return int(raw(inner, f"SELECT COUNT(*) AS count FROM {table}")[0]["count"])


def test_what_a_group_adds_is_kept_in_its_order_and_the_audit_holds(any_database: Database) -> None:
    scene = Scene(any_database, MANY)
    before = scene.book.last_seq()
    group = _grouped(scene)
    with group.whole():
        made = [scene.ask(description=f"Number {number}") for number in range(41)]
        assert _count(scene, "request") == 0, "nothing was asked about it yet"
    assert _count(scene, "request") == 41
    told = [(one.seq, one.request_id) for one in reversed(newest_entries(any_database, 41))]
    assert told == [(before + 1 + at, one.id) for at, one in enumerate(made)]
    assert verify_chain(any_database).ok and scene.book.last_seq() == before + 41


def test_a_key_that_is_used_twice_in_a_group_gives_the_same_request(any_database: Database) -> None:
    scene = Scene(any_database)
    group = _grouped(scene)
    with group.whole():
        first = scene.ask(idempotency_key="k")
        scene.ask(idempotency_key="other")
        assert scene.ask(idempotency_key="k") == first
        with pytest.raises(Conflict):
            scene.ask(idempotency_key="k", description="Something else")
    assert _count(scene, "request") == 2


def test_a_limit_that_is_reached_within_a_group_holds_within_it(any_database: Database) -> None:
    scene = Scene(any_database, FEW)
    group = _grouped(scene)
    with group.whole():
        for _ in range(3):
            scene.ask()
        for _ in range(2):
            with pytest.raises(TooMany):
                scene.ask()
    assert _count(scene, "request") == 3
    assert verify_chain(any_database).ok


def test_a_request_can_be_decided_and_redeemed_in_the_group_in_which_it_was_asked(any_database: Database) -> None:
    scene = Scene(any_database)
    group = _grouped(scene)
    with group.whole():
        request = scene.approve(scene.ask())
        scene.ask()
        scene.book.redeem(scene.agent, request.id, digest=request.digest)
        with pytest.raises(Conflict):
            scene.book.redeem(scene.agent, request.id, digest=request.digest)
    assert scene.book.look(scene.anna, request.id).redeemed_at is not None
    assert verify_chain(any_database).ok


def test_a_credential_that_is_revoked_within_a_group_does_nothing_more_in_it(any_database: Database) -> None:
    scene = Scene(any_database)
    group = _grouped(scene)
    with group.whole():
        scene.ask()
        revoke(group, scene.agent.name, by="anna", now=scene.clock())
        with pytest.raises(Refused, match="revoked"):
            scene.ask()
    assert _count(scene, "request") == 1


def test_a_credential_is_looked_at_anew_in_every_group(any_database: Database) -> None:
    scene = Scene(any_database)
    group = _grouped(scene)
    with group.whole():
        scene.ask()
    revoke(any_database, scene.agent.name, by="anna", now=scene.clock())
    with group.whole(), pytest.raises(Refused, match="revoked"):
        scene.ask()
    assert _count(scene, "request") == 1


def test_a_part_that_fails_after_it_wrote_leaves_nothing_of_its_group(any_database: Database) -> None:
    scene = Scene(any_database)
    before = scene.book.last_seq()
    group = _grouped(scene)
    with pytest.raises(Undone), group.whole():
        scene.ask()
        with group.write():
            group.run("confirm.add_audit", {"seq": before + 2})
            raise SeasonedError("no")
    assert (_count(scene, "request"), scene.book.last_seq()) == (0, before)
    with group.whole():
        scene.ask()
    assert (_count(scene, "request"), scene.book.last_seq()) == (1, before + 1)


def test_a_row_that_the_tables_refuse_undoes_the_group_when_it_is_written_out(any_database: Database) -> None:
    scene = Scene(any_database)
    before = scene.book.last_seq()
    group = _grouped(scene)
    with pytest.raises(SeasonedError, match="refused a row"), group.whole():
        scene.ask()
        group.run("confirm.add_outbox", {"id": "x", "request_id": "nobody", "event": "no", "channel": "c", "now": 1.0})
    assert (_count(scene, "request"), scene.book.last_seq()) == (0, before)


STEP = st.sampled_from(["ask", "again", "approve", "deny", "redeem", "look", "list"])


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, max_size=25))
def test_a_group_does_what_the_same_changes_do_one_by_one(tmp_path_factory: Any, steps: list[str]) -> None:
    alone = Scene(open_store(tmp_path_factory.mktemp("alone") / "store.db"), MANY)
    together = Scene(open_store(tmp_path_factory.mktemp("together") / "store.db"), MANY)
    group = _grouped(together)
    one_by_one = [_outcome(alone, step, number) for number, step in enumerate(steps)]
    with group.whole():
        in_one = [_outcome(together, step, number) for number, step in enumerate(steps)]
    assert in_one == one_by_one
    assert _story(alone) == _story(together)
    assert verify_chain(together.database).ok
    for scene in (alone, together):
        scene.database.close()


def _outcome(scene: Scene, step: str, number: int) -> object:
    """What a step comes to, without what chance has made."""
    known: list[Request] = scene.__dict__.setdefault("known", [])
    last = known[number % len(known)] if known else None
    try:
        if step == "ask" or last is None:
            known.append(scene.ask(description=f"Number {number}", idempotency_key=f"key {number}"))
            return known[-1].status
        if step == "again":
            asked = NewRequest(action=last.action, description=last.description, details=last.details)
            key = f"key {last.description.removeprefix('Number ')}"
            return scene.book.submit(scene.agent, _with_key(asked, key)).is_new
        if step in ("approve", "deny"):
            return (scene.approve if step == "approve" else scene.deny)(last).status
        if step == "redeem":
            return scene.book.redeem(scene.agent, last.id, digest=last.digest).digest
        if step == "look":
            return scene.book.look(scene.agent, last.id).status
        return sorted(one.description for one in scene.book.list(scene.anna))
    except SeasonedError as error:
        return type(error)


def _with_key(asked: NewRequest, key: str) -> NewRequest:
    return NewRequest(action=asked.action, description=asked.description, details=asked.details, idempotency_key=key)


def _story(scene: Scene) -> list[tuple[int, str, str]]:
    return [(one.seq, one.event, one.actor) for one in newest_entries(scene.database, 500)]
