"""The tests that the most trusted approval systems have, by the names that they go by."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from seasoned.config import Config
from seasoned.confirm.audit.chain import entries_of_request
from seasoned.confirm.audit.verify import rebuild, verify
from seasoned.confirm.people.credential import Credential
from seasoned.confirm.request.request import Request
from seasoned.errors import Conflict, Refused
from seasoned.store import Database
from tests.confirm.books import TWO, Scene
from tests.confirm.racing import Deed, open_again, race

PROCESSES = 8


def test_digest_a_cannot_run_b(any_database: Database) -> None:
    scene = Scene(any_database)
    a, b = scene.ask(), scene.ask(details={"version": "6.6.6"})
    scene.approve(a)
    assert a.digest != b.digest
    with pytest.raises(Refused, match="digest differs"):
        scene.book.redeem(scene.agent, a.id, digest=b.digest)
    with pytest.raises(Conflict):
        scene.book.redeem(scene.agent, b.id, digest=b.digest)
    with pytest.raises(Refused):
        scene.book.redeem(scene.agent, b.id, digest=a.digest)
    assert scene.book.redeem(scene.agent, a.id, digest=a.digest).digest == a.digest


def test_audit_rebuilds_the_path(any_database: Database) -> None:
    scene = Scene(any_database, TWO)
    used, denied, expired = (scene.ask() for _ in range(3))
    for request in (used, denied, expired):
        scene.approve(request)
    scene.approve(used, scene.ben)
    scene.book.redeem(scene.agent, used.id, digest=used.digest)
    scene.deny(denied, scene.ben)
    scene.clock.forward(300)
    pending = scene.ask()
    kept = {one.id: one for one in scene.book.list(scene.anna)}
    told = {one: rebuild(entries_of_request(any_database, one)) for one in kept}
    statuses = {used.id: "approved", denied.id: "denied", expired.id: "expired", pending.id: "pending"}
    assert {one: request.status for one, request in kept.items()} == statuses
    for one, request in kept.items():
        found = told[one]
        assert found is not None
        assert (found.status, found.digest) == (request.status, request.digest)
        assert (found.resolved_by, found.redeemed_at) == (request.resolved_by, request.redeemed_at)
        assert [*found.approvals, *found.denials] == [vote.person for vote in request.votes]


Start = Callable[[str], tuple[Scene, Request, list[Credential]]]


@pytest.fixture
def start(database_config: Config) -> Start:
    """A request and as many approvers as processes, and no connection that is left open."""

    def begin(policy: str) -> tuple[Scene, Request, list[Credential]]:
        with open_again(database_config) as database:
            scene = Scene(database, policy)
            voters = [scene.person(f"voter-{number}", "approver") for number in range(PROCESSES)]
            return scene, scene.ask(), voters

    return begin


def test_not_consumed_twice_under_concurrency(database_config: Config, start: Start) -> None:
    scene, request, _ = start("")
    with open_again(database_config) as database:
        scene.reopen(database)
        scene.approve(request)
    told = race(database_config, scene, [Deed(scene.agent, request)] * PROCESSES)
    assert told == ["Conflict"] * 7 + ["won"]
    with open_again(database_config) as database:
        assert [entry.event for entry in entries_of_request(database, request.id)].count("redeemed") == 1
        assert verify(database).ok


def test_8_processes_racing_one_claim_exactly_one_wins(database_config: Config, start: Start) -> None:
    scene, request, voters = start("")
    told = race(database_config, scene, [Deed(voter, request, number % 2 == 0) for number, voter in enumerate(voters)])
    assert told == ["Conflict"] * 7 + ["won"]
    with open_again(database_config) as database:
        kept = scene.reopen(database).look(scene.anna, request.id)
        assert len(kept.votes) == 1 and kept.resolved_by == kept.votes[0].voter
        events = [entry.event for entry in entries_of_request(database, request.id)]
        assert events == ["submitted", "voted", kept.status]
        assert verify(database).ok


def test_a_quorum_under_concurrency_is_reached_once(database_config: Config, start: Start) -> None:
    scene, request, voters = start(TWO)
    told = race(database_config, scene, [Deed(voter, request, True) for voter in voters])
    assert told == ["Conflict"] * 6 + ["won"] * 2
    with open_again(database_config) as database:
        assert len(scene.reopen(database).look(scene.anna, request.id).votes) == 2
        assert verify(database).ok
