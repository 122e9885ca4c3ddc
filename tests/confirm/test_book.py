"""The book of requests, on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.confirm.people.credential import Credential
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest
from seasoned.confirm.request.row import Seal
from seasoned.errors import CannotDo, Conflict, Refused
from seasoned.store import Database
from tests.confirm.books import SECRECY, START, TWO, Scene
from tests.confirm.keys import revoke

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ALLOW = '[[allow]]\naction = "send_email"\n[[allow]]\naction = "tidy_up"\nsession = "s-1"\n'


@pytest.fixture
def scene(any_database: Database) -> Scene:
    return Scene(any_database)


def every_text(database: Database) -> str:
    """All that the tables of confirmations hold, as one text."""
    found = [str(dict(row)) for row in database.rows("confirm.audit_all")]
    key: dict[str, Any] = {"requester": None, "status": None, "unused": 0, "limit": 500, "before": None}
    for row in database.rows("confirm.requests", key):
        found.append(str({name: row[name] for name in row.keys()}))  # noqa: SIM118 (a sqlite3.Row is no mapping)
        found += [str(tuple(vote[name] for name in vote.keys())) for vote in _votes(database, row["id"])]  # noqa: SIM118
    return "\n".join(found)


def _votes(database: Database, request_id: str) -> Any:
    return database.rows("confirm.votes", {"request_id": request_id})


def test_a_request_is_kept_as_it_was_asked(scene: Scene) -> None:
    request = scene.ask(label="nightly job", session_key="s-1", timeout_seconds=60)
    assert (request.status, request.requester) == ("pending", "hermes")
    assert (request.label, request.session_key) == ("nightly job", "s-1")
    assert (request.created_at, request.expires_at, request.timeout_seconds) == (START, START + 60, 60)
    assert request.is_exact and request.details == {"version": "1.2.3"}
    assert len(request.id) == 11 + 22, "when it was made, and 128 bits"
    assert scene.book.look(scene.anna, request.id) == request


def test_one_approval_is_enough_by_default(scene: Scene) -> None:
    request = scene.ask()
    scene.clock.forward(5)
    decided = scene.approve(request, reason="fine", via="page")
    assert (decided.status, decided.resolved_by) == ("approved", "anna")
    assert (decided.resolved_at, decided.reason) == (START + 5, "fine")
    assert decided.redeem_before == START + 305
    assert [(vote.voter, vote.approve, vote.via) for vote in decided.votes] == [("anna", True, "page")]


def test_any_denial_wins(any_database: Database) -> None:
    scene = Scene(any_database, TWO)
    request = scene.ask()
    assert scene.approve(request).status == "pending"
    assert scene.deny(request, scene.ben, reason="not today").status == "denied"
    with pytest.raises(Conflict) as error:
        scene.approve(request, scene.person("carla", "admin"))
    assert error.value.status == "denied"


def test_a_secret_is_never_written_in_the_clear_and_a_person_sees_it_until_the_decision(scene: Scene) -> None:
    details = {"command": f"curl -H 'Authorization: Bearer {SECRET}'", "nested": [{"token": SECRET}]}
    request = scene.ask(
        details=details, description=f"use {SECRET}", label=f"job {SECRET}", session_key=f"key {SECRET}"
    )
    assert SECRET not in every_text(scene.database)
    seen = scene.book.look(scene.anna, request.id)
    assert seen.details == details and seen.description == f"use {SECRET}" and seen.is_exact
    decided = scene.approve(request, reason=f"because {SECRET}")
    assert not decided.is_exact
    assert SECRET not in str(decided) and SECRET not in every_text(scene.database)
    assert decided.digest == request.digest, "the digest is of what was asked, not of what is shown"


def test_nobody_approves_what_cannot_be_opened_but_it_can_be_denied(scene: Scene) -> None:
    request = scene.ask()
    other = Book(scene.database, policy=scene.policy, seal=Seal(b"x" * 32), secrecy=SECRECY, clock=scene.clock)
    assert not other.look(scene.anna, request.id).is_exact
    with pytest.raises(CannotDo, match="cannot be decrypted"):
        other.decide(scene.anna, request.id, approve=True)
    assert other.look(scene.anna, request.id).status == "pending"
    assert other.decide(scene.anna, request.id, approve=False).status == "denied"


def test_expiry_happens_on_read_and_by_the_timer(scene: Scene) -> None:
    read, listed, timed = (scene.ask(timeout_seconds=seconds) for seconds in (30, 40, 50))
    assert scene.book.next_expiry() == START + 30
    scene.clock.forward(30)
    assert scene.book.look(scene.agent, read.id).resolved_by == "system:timeout"
    scene.clock.forward(10)
    assert {one.id: one.status for one in scene.book.list(scene.anna)}[listed.id] == "expired"
    scene.clock.forward(10)
    assert scene.book.pending_count() == 0
    assert [one.id for one in scene.book.expire_due()] == [timed.id]
    assert scene.book.expire_due() == []
    assert scene.book.next_expiry() is None


def test_a_revoked_credential_cannot_act_and_its_votes_stand(any_database: Database) -> None:
    scene = Scene(any_database, TWO)
    request = scene.ask()
    scene.approve(request)
    revoke(any_database, "anna", now=scene.clock())
    for act in (
        lambda: scene.book.decide(scene.anna, request.id, approve=False),
        lambda: scene.book.look(scene.anna, request.id),
        lambda: scene.book.list(scene.anna),
        lambda: scene.book.submit(scene.anna, NewRequest(action="x", description="y")),
    ):
        with pytest.raises(Refused, match="revoked"):
            act()
    assert scene.approve(request, scene.ben).status == "approved"


def test_single_operator_lets_the_same_person_but_never_an_agent_approve(any_database: Database) -> None:
    scene = Scene(any_database, "single_operator = true\n")
    scene.agent = scene.person("claude", "agent", person="anna")
    request = scene.ask()
    with pytest.raises(Refused, match="agent"):
        scene.approve(request, scene.agent)
    assert scene.approve(request).status == "approved"


def test_single_operator_does_not_let_a_credential_decide_what_it_asked(any_database: Database) -> None:
    scene = Scene(any_database, "single_operator = true\n")
    scene.agent = scene.person("root", "admin", person="anna")
    with pytest.raises(Refused, match="made this request"):
        scene.approve(scene.ask(), scene.agent)


def test_a_policy_may_name_who_decides(any_database: Database) -> None:
    scene = Scene(any_database, '[action.deploy_production]\napprovers = ["ben"]\n')
    request = scene.ask()
    with pytest.raises(Refused, match="not among"):
        scene.approve(request)
    assert scene.approve(request, scene.ben).status == "approved"


def test_a_forged_credential_is_refused(scene: Scene) -> None:
    forged = Credential(id=scene.agent.id, name="anna", role="admin", person="anna", created_at=START)
    request = scene.ask()
    with pytest.raises(Refused, match="agent"):
        scene.approve(request, forged)
    unknown = Credential(id="nobody", name="anna", role="admin", person="anna", created_at=START)
    with pytest.raises(Refused, match="not belong to this store"):
        scene.approve(request, unknown)


def test_refused_attempts_are_audited_once(scene: Scene) -> None:
    request = scene.ask()
    for _ in range(5):
        with pytest.raises(Refused):
            scene.approve(request, scene.agent)
    events = [(entry.event, entry.actor) for entry in scene.book.audit(3)]
    assert events.count(("refused", "hermes")) == 1


CHANNELS = "".join(
    f'[channel.{name}]\nkind = "webhook"\nto = "http://x/"\ntoken_file = "t"\n' for name in ("one", "two")
)


def test_notifications_are_written_with_the_state_one_for_each_channel(any_database: Database) -> None:
    scene = Scene(any_database, CHANNELS + ALLOW)
    decided, expired = scene.ask(), scene.ask()
    scene.ask("send_email")
    scene.approve(decided)
    scene.clock.forward(300)
    scene.book.expire_due()
    told = {
        (row["request_id"], row["event"], row["channel"]) for row in any_database.rows("notify.unsent", {"limit": 99})
    }
    events = [(decided.id, "submitted"), (expired.id, "submitted"), (decided.id, "decided"), (expired.id, "expired")]
    assert told == {(*event, channel) for event in events for channel in ("one", "two")}


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
