"""The book of requests, on every engine."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from seasoned.confirm.people.credential import Credential, revoke
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest, new_id
from seasoned.confirm.request.seal import Seal
from seasoned.errors import CannotDo, Conflict, NotFound, Refused, RuleBroken, TooMany, UsageError
from seasoned.store import Database
from tests.confirm.books import SECRECY, START, TWO, Scene
from tests.each_case import check_each

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


def test_an_id_is_by_chance_and_lies_beside_those_that_were_made_with_it() -> None:
    made = [new_id() for _ in range(2000)]
    assert [one[:11] for one in made] == sorted(one[:11] for one in made)
    assert len({one[11:] for one in made}) == 2000
    assert all(re.fullmatch(r"[0-9a-f]{11}[A-Za-z0-9_-]{22}", one) for one in made), "never begins as an option does"


def test_a_request_is_kept_as_it_was_asked(scene: Scene) -> None:
    request = scene.ask(label="nightly job", session_key="s-1", timeout_seconds=60)
    assert (request.status, request.requester, request.label, request.session_key) == (
        "pending",
        "hermes",
        "nightly job",
        "s-1",
    )
    assert (request.created_at, request.expires_at, request.timeout_seconds) == (START, START + 60, 60)
    assert request.is_exact and request.details == {"version": "1.2.3"}
    assert len(request.id) == 11 + 22, "when it was made, and 128 bits"
    assert scene.book.look(scene.anna, request.id) == request


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        *[(bad, 300) for bad in (None, True, False, "abc", "60", math.nan, math.inf, -math.inf, [], {}, 10**400)],
        *[(1, 30), (29.9, 30), (30, 30), (60.5, 60.5), (3600, 3600), (3601, 3600), (-5, 30), (10**15, 3600)],
    ],
)
def test_a_time_out_is_clamped_and_what_is_no_number_means_300(scene: Scene, given: object, seconds: float) -> None:
    assert scene.ask(timeout_seconds=given).timeout_seconds == seconds


def test_one_approval_is_enough_by_default(scene: Scene) -> None:
    request = scene.ask()
    scene.clock.forward(5)
    decided = scene.approve(request, reason="fine", via="page")
    assert (decided.status, decided.resolved_by, decided.resolved_at, decided.reason) == (
        "approved",
        "anna",
        START + 5,
        "fine",
    )
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


def test_a_decision_is_taken_once(scene: Scene) -> None:
    request = scene.ask()
    scene.deny(request)
    for approve in (True, False):
        with pytest.raises(Conflict) as error:
            scene.book.decide(scene.ben, request.id, approve=approve)
        assert error.value.status == "denied"
    assert scene.book.look(scene.ben, request.id).resolved_by == "anna"


def test_what_is_required_is_named_when_it_is_missing(scene: Scene) -> None:
    def check(field: str) -> None:
        with pytest.raises(UsageError, match=field):
            scene.book.submit(scene.agent, NewRequest(**{"action": "x", "description": "y"} | {field: " "}))

    check_each(["action", "description"], check)


def test_what_cannot_be_kept_exactly_is_refused_with_its_field(scene: Scene) -> None:
    def check(field: str, value: Any) -> None:
        with pytest.raises(UsageError, match=field):
            scene.ask(**{"label" if field == "requester" else field: value})
        assert scene.book.pending_count() == 0

    check_each(
        [
            ("details", {"a": [{"b": math.nan}]}),
            ("details", {"a": 2**53}),
            ("details", {"a": "\ud800"}),
            ("details", {"\ud800": 1}),
            ("details", {1: 2}),
            ("details", {"a": object()}),
            ("details", {"a": "x" * 1_000_001}),
            ("details", []),
            ("description", "\ud800"),
            ("description", "a\0b"),
            ("description", "x" * 10_001),
            ("session_key", "\0"),
            ("requester", "x" * 201),
        ],
        check,
    )


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


@pytest.mark.parametrize("end", ["approved", "denied", "expired"])
def test_the_sealed_arguments_are_gone_once_it_is_decided(scene: Scene, end: str) -> None:
    request = scene.ask()
    assert scene.database.rows("confirm.request", {"id": request.id})[0]["sealed"] is not None
    if end == "expired":
        scene.clock.forward(300)
        scene.book.look(scene.anna, request.id)
    else:
        scene.book.decide(scene.anna, request.id, approve=end == "approved")
    row = scene.database.rows("confirm.request", {"id": request.id})[0]
    assert (row["status"], row["sealed"]) == (end, None)


def test_nobody_approves_what_cannot_be_opened_but_it_can_be_denied(scene: Scene) -> None:
    request = scene.ask()
    other = Book(scene.database, policy=scene.policy, seal=Seal(b"x" * 32), secrecy=SECRECY, clock=scene.clock)
    assert not other.look(scene.anna, request.id).is_exact
    with pytest.raises(CannotDo, match="cannot be decrypted"):
        other.decide(scene.anna, request.id, approve=True)
    assert other.look(scene.anna, request.id).status == "pending"
    assert other.decide(scene.anna, request.id, approve=False).status == "denied"


def test_the_allow_list_approves_by_itself_and_is_audited(any_database: Database) -> None:
    scene = Scene(any_database, ALLOW)
    request = scene.ask("send_email", details={"to": "anna"})
    assert (request.status, request.resolved_by) == ("auto_approved", "system:allow-list")
    assert scene.book.audit(1)[0].event == "auto_approved"
    assert scene.book.redeem(scene.agent, request.id, digest=request.digest).id == request.id


def test_an_allow_list_of_a_session_holds_in_that_session_only(any_database: Database) -> None:
    scene = Scene(any_database, ALLOW)
    assert scene.ask("tidy_up", session_key="s-1").status == "auto_approved"
    assert scene.ask("tidy_up", session_key="s-2").status == "pending"
    assert scene.ask("tidy_up").status == "pending"


def test_ten_requests_an_action_and_hour_and_not_one_more(scene: Scene) -> None:
    for _ in range(10):
        scene.ask()
    with pytest.raises(TooMany) as error:
        scene.ask()
    assert (error.value.remaining, error.value.window_seconds) == (0, 3600)
    assert scene.ask("delete_data").status == "pending", "another action has its own limit"
    scene.clock.forward(3601)
    assert scene.ask().status == "pending"


def test_one_agent_does_not_use_up_what_another_may_ask(scene: Scene) -> None:
    other = scene.person("codex", "agent")
    for _ in range(10):
        scene.ask()
    with pytest.raises(TooMany, match=r"^'hermes' asked for 'deploy_production' 10 times"):
        scene.ask()
    asked = NewRequest(action="deploy_production", description="Deploy the other shop")
    assert scene.book.submit(other, asked).request.status == "pending"


def test_all_agents_together_do_not_flood_people_with_one_action(any_database: Database) -> None:
    scene = Scene(any_database, "[rate]\ncount = 2\n")
    agents = [scene.person(f"agent{number}", "agent") for number in range(6)]
    asked = NewRequest(action="delete_data", description="Delete the logs")
    for agent in agents[:5]:
        for _ in range(2):
            scene.book.submit(agent, asked)
    with pytest.raises(TooMany, match="all requesters together asked for 'delete_data' 10 times in 3600") as error:
        scene.book.submit(agents[5], asked)
    assert (error.value.remaining, error.value.window_seconds) == (0, 3600)
    assert scene.book.submit(agents[5], NewRequest(action="reboot", description="d")).request.status == "pending"
    scene.clock.forward(3600)
    assert scene.book.submit(agents[5], asked).request.status == "pending"


def test_one_agent_does_not_flood_people_with_many_actions(scene: Scene) -> None:
    for number in range(60):
        scene.ask(f"action_{number}")
    with pytest.raises(TooMany, match="'hermes' made requests 60 times in 3600 seconds"):
        scene.ask("action_60")
    other = scene.person("codex", "agent")
    assert scene.book.submit(other, NewRequest(action="action_60", description="d")).request.status == "pending"


def test_what_an_allow_list_approved_counts_for_no_limit(any_database: Database) -> None:
    scene = Scene(any_database, ALLOW + "[rate]\ncount = 1\ntotal = 2\nrequester_total = 3\n")
    assert {scene.ask("send_email").status for _ in range(9)} == {"auto_approved"}
    assert [scene.ask(action).status for action in ("a", "b", "c")] == ["pending"] * 3
    with pytest.raises(TooMany, match="made requests 3 times"):
        scene.ask("d")


def test_the_limit_is_checked_after_the_allow_list(any_database: Database) -> None:
    scene = Scene(any_database, ALLOW)
    assert {scene.ask("send_email").status for _ in range(15)} == {"auto_approved"}


def test_an_idempotency_key_gives_the_same_request_again(scene: Scene) -> None:
    asked = NewRequest(action="delete_data", description="d", details={"a": 1}, idempotency_key="k-1")
    first = scene.book.submit(scene.agent, asked)
    again = scene.book.submit(scene.agent, asked)
    assert (first.is_new, again.is_new, again.request) == (True, False, first.request)
    with pytest.raises(Conflict, match="something else"):
        scene.book.submit(scene.agent, NewRequest(action="delete_data", description="d", idempotency_key="k-1"))
    other = scene.book.submit(scene.person("codex", "agent"), asked)
    assert other.is_new and other.request.id != first.request.id, "keys belong to their credential"


def test_a_repeated_submission_does_not_count_against_the_limit(scene: Scene) -> None:
    asked = NewRequest(action="delete_data", description="d", idempotency_key="k")
    assert len({scene.book.submit(scene.agent, asked).request.id for _ in range(30)}) == 1


def test_an_unknown_id_is_not_found(scene: Scene) -> None:
    def check(wrong: str) -> None:
        for act in (
            lambda: scene.book.look(scene.anna, wrong),
            lambda: scene.book.decide(scene.anna, wrong, approve=True),
            lambda: scene.book.redeem(scene.agent, wrong, digest="d"),
        ):
            with pytest.raises(NotFound):
                act()

    check_each(["", "nope", "\0", "ä", "' OR 1=1 --", "x" * 5000], check)


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
    revoke(any_database, "anna", by="ben", now=scene.clock())
    for act in (
        lambda: scene.book.decide(scene.anna, request.id, approve=False),
        lambda: scene.book.look(scene.anna, request.id),
        lambda: scene.book.list(scene.anna),
        lambda: scene.book.submit(scene.anna, NewRequest(action="x", description="y")),
    ):
        with pytest.raises(Refused, match="revoked"):
            act()
    assert scene.approve(request, scene.ben).status == "approved"


def test_what_a_revoked_agent_asked_cannot_be_redeemed(scene: Scene) -> None:
    request = scene.ask()
    scene.approve(request)
    revoke(scene.database, "hermes", by="anna", now=scene.clock())
    with pytest.raises(Refused, match="revoked"):
        scene.book.redeem(scene.agent, request.id, digest=request.digest)
    assert scene.book.look(scene.anna, request.id).redeemed_at is None


def test_only_the_credential_that_asked_redeems(scene: Scene) -> None:
    request = scene.ask()
    scene.approve(request)
    with pytest.raises(Refused, match="only the credential that asked"):
        scene.book.redeem(scene.anna, request.id, digest=request.digest)


def test_the_same_person_needs_the_single_operator_mode(any_database: Database) -> None:
    scene = Scene(any_database)
    scene.agent = scene.person("claude", "agent", person="anna")
    with pytest.raises(Refused, match="single_operator"):
        scene.approve(scene.ask())


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


def test_one_refused_attempt_does_not_hide_another(scene: Scene) -> None:
    request = scene.ask()
    with pytest.raises(Refused, match="digest differs"):
        scene.book.redeem(scene.agent, request.id, digest="0" * 64)
    with pytest.raises(Refused, match="people decide"):
        scene.approve(request, scene.agent)
    reasons = [entry.document["reason"] for entry in scene.book.audit(5) if entry.event == "refused"]
    assert len(reasons) == 2
    assert "people decide" in reasons[0]


def test_changes_can_be_followed_from_a_sequence_number(scene: Scene) -> None:
    start = scene.book.last_seq()
    request = scene.ask()
    scene.approve(request)
    changes = scene.book.changes_since(start)
    assert [one for _, one in changes] == [request.id] * 3
    assert scene.book.changes_since(scene.book.last_seq()) == []


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


def test_a_failed_submission_leaves_nothing_behind(scene: Scene) -> None:
    before = scene.book.last_seq()
    for _ in range(10):
        scene.ask()
    with pytest.raises(TooMany):
        scene.ask()
    assert scene.book.last_seq() == before + 10
    assert len(scene.book.list(scene.anna)) == 10


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("confirm.resolve", {"status": "approved", "resolved_by": "hermes", "reason": "", "redeem_before": START + 9}),
        ("confirm.resolve", {"status": "denied", "resolved_by": "hermes", "reason": "", "redeem_before": None}),
        ("confirm.resolve", {"status": "expired", "resolved_by": "hermes", "reason": "", "redeem_before": None}),
        ("confirm.resolve", {"status": "auto_approved", "resolved_by": "x", "reason": "", "redeem_before": START + 9}),
    ],
)
def test_the_database_itself_refuses_a_decision_without_its_votes(
    scene: Scene, name: str, params: dict[str, Any]
) -> None:
    request = scene.ask()
    with pytest.raises(RuleBroken), scene.database.write():
        scene.database.run(name, {"id": request.id, "now": START + 1, **params})
    assert scene.book.look(scene.anna, request.id).status == "pending"
