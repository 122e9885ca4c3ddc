"""What a program of the same user does outside the service, with the database and this library in hand.

None of it gives an approval that is redeemed, and `verify` names it, with a head that was exported before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seasoned.confirm.audit.chain import AuditHead, SigningKey, entries_of_request, newest_entries, writing
from seasoned.confirm.audit.verify import check_heads, full_head, verify
from seasoned.confirm.people.change import first_admin, make_credential, replace_policy, revoke_credential
from seasoned.confirm.people.credential import (
    Credential,
    authenticate_passphrase,
    new_key,
    set_passphrase,
    unlocked,
    without_key,
)
from seasoned.confirm.policy import Policy, check_agreed
from seasoned.confirm.request.request import NewRequest, Request
from seasoned.errors import CannotDo, Denied, Refused, TooMany
from seasoned.store import Database
from tests.confirm.books import START, Scene, raw, without_guards
from tests.confirm.keys import QUICK, as_unlocked, first_admin_of, make
from tests.each_case import check_each

MINE = "words of the agent"
SHA = "a" * 64


class Forger:
    """A book with an admin, one approval that was used, and somebody who can write everything."""

    def __init__(self, database: Database) -> None:
        self.scene = Scene(database)
        self.database = database
        self.boss = first_admin_of(database, now=START)
        self.done = self.scene.ask()
        self.scene.approve(self.done)
        self.redeem(self.done)
        self.head = full_head(database, now=START)
        assert verify(database).ok and check_heads(database, [self.head]).ok
        without_guards(database, "credential", "request", "vote", "audit", "audit_head")

    def redeem(self, request: Request) -> None:
        self.scene.book.redeem(self.scene.agent, request.id, digest=request.digest)

    def vote_by_hand(self, request: Request, key: SigningKey | None = None, *, lasts: float = 300) -> None:
        """What approving writes, without the library's checks."""
        anna, at = self.scene.anna, self.scene.clock()
        cast = {"request_id": request.id, "voter": anna.id, "voter_name": "anna", "role": "approver", "via": "page"}
        facts = {"person": "anna", "approve": 1, "reason": ""}
        with writing(self.database) as chain:
            self.database.run("confirm.add_vote", {**cast, **facts, "at": at})
            document = {**facts, "approve": True, "digest": request.digest}
            chain.append("voted", document, at=at, actor="anna", request_id=request.id, via="page", signer=key)
            ends = {"id": request.id, "status": "approved", "now": at, "resolved_by": "anna", "reason": ""}
            self.database.rows("confirm.resolve", {**ends, "redeem_before": at + lasts})
            outcome = {"reason": "", "redeem_before": at + lasts}
            chain.append("approved", outcome, at=at, actor="anna", request_id=request.id, via="page")

    def named(self) -> str:
        """Everything that `verify --heads` says."""
        found = verify(self.database)
        exported = check_heads(self.database, [self.head])
        assert not (found.ok and exported.ok), "nothing was noticed"
        return " | ".join((*found.problems, *exported.problems))


@pytest.fixture
def forger(any_database: Database) -> Forger:
    return Forger(any_database)


def test_a_vote_that_was_written_into_the_database_is_not_redeemed_and_named(forger: Forger) -> None:
    request = forger.scene.ask()
    forger.vote_by_hand(request)
    with pytest.raises(Refused, match="the vote of 'anna' is not signed"):
        forger.redeem(request)
    assert "the vote of 'anna' is not signed" in forger.named()
    assert forger.scene.book.audit(1)[0].event == "refused", "the attempt is in the audit"


def test_a_vote_with_the_signature_of_another_one_is_not_redeemed_and_named(forger: Forger) -> None:
    real = next(one for one in entries_of_request(forger.database, forger.done.id) if one.event == "voted")
    request = forger.scene.ask()
    forger.vote_by_hand(request, SigningKey())
    with pytest.raises(Refused, match="no valid signature"):
        forger.redeem(request)
    assert "no valid signature" in forger.named()
    other = forger.scene.ask()
    at = forger.scene.clock()
    with writing(forger.database) as chain:
        chain.append("voted", real.document, at=at, actor="anna", request_id=other.id, via=real.via)
    assert f"request {other.id!r}: the vote of 'anna' has no valid signature" in forger.named()


def test_a_swapped_passphrase_opens_nothing_and_leaves_a_trace_when_it_is_swapped_back(forger: Forger) -> None:
    (before,) = raw(forger.database, "SELECT public_key, sealed_key FROM credential WHERE name = 'anna'")
    key, mine = new_key(MINE, hasher=QUICK)
    swap = "UPDATE credential SET public_key = ?, sealed_key = ? WHERE name = 'anna'"
    request = forger.scene.ask()
    raw(forger.database, swap, (mine.public, mine.sealed))
    with pytest.raises(Refused, match="the key of 'anna' is not the one in the audit"):
        authenticate_passphrase(forger.database, "anna", MINE, now=START, hasher=QUICK)
    assert "the public key of 'anna' was changed outside the service" in forger.named()
    with pytest.raises(Refused, match="the key of 'anna' is not the one in the audit"):
        forger.scene.book.decide(unlocked(forger.scene.anna, key), request.id, approve=True)
    forger.vote_by_hand(request, key)
    raw(forger.database, swap, (before["public_key"], before["sealed_key"]))
    with pytest.raises(Refused, match="no valid signature"):
        forger.redeem(request)
    assert "the vote of 'anna' has no valid signature of theirs" in forger.named()


def test_direct_calls_of_the_library_give_no_power(forger: Forger) -> None:
    scene, database = forger.scene, forger.database
    request = scene.ask()

    def refused(act: Any) -> None:
        with pytest.raises(Denied):
            act()

    mine = SigningKey()
    check_each(
        [
            lambda: scene.book.decide(without_key(scene.anna), request.id, approve=True),
            lambda: scene.book.decide(unlocked(without_key(scene.anna), mine), request.id, approve=True),
            lambda: scene.book.decide(as_unlocked(make_admin(database)), request.id, approve=True),
            lambda: set_passphrase(database, scene.anna, MINE, by=unlocked(scene.anna, mine), now=START, hasher=QUICK),
            lambda: set_passphrase(database, scene.anna, MINE, by=as_unlocked(scene.ben), now=START, hasher=QUICK),
            lambda: revoke_credential(scene.book, as_unlocked(scene.anna), "ben"),
            lambda: revoke_credential(scene.book, unlocked(without_key(forger.boss), mine), "ben"),
        ],
        refused,
    )
    assert scene.book.look(scene.anna, request.id).status == "pending"
    named = forger.named()
    assert "makes 'mallory' an admin without an admin's signature" in named
    assert "the credential 'mallory' was added outside the service" in named


def make_admin(database: Database) -> Credential:
    """An admin that the library makes for anybody who calls it."""
    key, stored = new_key(MINE, hasher=QUICK)
    return unlocked(make(database, "mallory", "admin", now=START, key=stored)[0], key)


def test_rows_that_are_added_to_the_audit_give_no_power(forger: Forger) -> None:
    scene, mine, database = forger.scene, SigningKey(), forger.database
    rows: list[tuple[str, dict[str, Any]]] = [
        ("passphrase_set", {"name": "anna", "public": mine.public, "sealed": SHA}),
        ("policy_replaced", {"sha256": SHA, "summary": ""}),
        ("credential_made", {"name": "eve", "role": "approver", "person": "eve", "token": SHA, "public": mine.public}),
        ("credential_made", {"name": "bot", "role": "agent", "person": "ghost", "token": SHA}),
        ("credential_revoked", {"name": "boss", "role": "admin"}),
        ("restored", {"sha256": SHA}),
        ("credential_made", {"nonsense": True}),
    ]
    for event, facts in rows:
        with writing(database) as chain:
            chain.append(event, facts, at=START, actor="anna", signer=mine)
    request = scene.ask()
    with pytest.raises(Refused, match="not the one in the audit"):
        scene.book.decide(unlocked(scene.anna, mine), request.id, approve=True)
    check_agreed(database, Path("policy.toml"), "any file: no policy was agreed to")
    first_bad = newest_entries(database, 1)[0].seq - 2 - len(rows) + 1
    found = verify(database)
    assert found.first_bad is not None and found.first_bad <= first_bad
    assert sum("(" in problem for problem in found.problems) >= len(rows), found.problems


def test_a_first_admin_is_not_made_a_second_time(forger: Forger) -> None:
    raw(forger.database, "UPDATE credential SET revoked_at = 1 WHERE name = 'boss'")
    with pytest.raises(Refused, match="already an admin"):
        first_admin(forger.database, "mallory", MINE, now=START)
    assert "'boss' was revoked outside the service" in forger.named()


def by_force(database: Database, statement: str, params: tuple[Any, ...] = ()) -> None:
    """A statement, whatever other tables refer to."""
    is_sqlite = database.kind == "sqlite"
    raw(database, "PRAGMA foreign_keys = OFF" if is_sqlite else "SET session_replication_role = replica")
    raw(database, statement, params)
    raw(database, "PRAGMA foreign_keys = ON" if is_sqlite else "SET session_replication_role = origin")


def test_what_tables_say_about_people_is_compared(forger: Forger) -> None:
    scene, database = forger.scene, forger.database
    request = scene.ask()
    scene.approve(request)
    edits = [
        ("UPDATE credential SET role = 'admin' WHERE name = 'hermes'", "role", "the role of 'hermes' was changed"),
        ("UPDATE credential SET person = 'ghost' WHERE name = 'hermes'", "person", "the person of 'hermes'"),
    ]
    for statement, column, reason in edits:
        name = "hermes" if "'hermes'" in statement else "anna"
        (before,) = raw(database, f"SELECT {column} AS kept FROM credential WHERE name = ?", (name,))
        by_force(database, statement)
        with pytest.raises(Denied):
            forger.redeem(request)
        assert reason in forger.named(), statement
        by_force(database, f"UPDATE credential SET {column} = ? WHERE name = ?", (before["kept"], name))


def test_what_no_rule_allows_any_longer_is_not_redeemed_without_a_person(any_database: Database) -> None:
    scene = Scene(any_database, '[[allow]]\naction = "send_email"\n')
    first, second = scene.ask("send_email"), scene.ask("send_email")
    assert scene.book.redeem(scene.agent, first.id, digest=first.digest)
    scene.policy = Policy()
    scene.reopen(any_database)
    with pytest.raises(Refused, match="it needs a person"):
        scene.book.redeem(scene.agent, second.id, digest=second.digest)


def test_what_was_approved_is_not_changed_into_something_else(forger: Forger) -> None:
    request = forger.scene.ask()
    forger.scene.approve(request)
    raw(forger.database, "UPDATE request SET digest = ? WHERE id = ?", (SHA, request.id))
    with pytest.raises(Refused, match="has digest"):
        forger.scene.book.redeem(forger.scene.agent, request.id, digest=SHA)
    assert "has digest" in forger.named()


def test_a_clock_that_is_set_back_revives_nothing_unseen(forger: Forger) -> None:
    scene = forger.scene
    request = scene.ask()
    scene.approve(request)
    scene.clock.forward(-100)
    with pytest.raises(Refused, match="the clock was set back"):
        forger.redeem(request)
    scene.clock.forward(100 + 400)
    raw(forger.database, "UPDATE request SET redeem_before = ? WHERE id = ?", (START + 9999, request.id))
    with pytest.raises(Refused, match="has redeem_before"):
        forger.redeem(request)
    raw(forger.database, "UPDATE request SET redeem_before = ? WHERE id = ?", (START + 300, request.id))
    # The service exports its head after the approval has ended; then a program redeems it with a clock of its own.
    forger.head = full_head(forger.database, now=scene.clock())
    scene.clock.forward(-390)
    forger.redeem(request)
    assert "the clock was set back" in forger.named()


def test_an_approval_ends_by_the_signed_time_of_its_vote(forger: Forger) -> None:
    request = forger.scene.ask()
    forger.vote_by_hand(request, as_unlocked(forger.scene.anna).key, lasts=9999)
    forger.scene.clock.forward(400)
    with pytest.raises(Refused, match="its time is over, by the signed time of the vote"):
        forger.redeem(request)


def test_a_rewritten_audit_shows_against_the_exported_keys(forger: Forger) -> None:
    mine = SigningKey()
    forged = AuditHead(forger.head.seq, forger.head.hash, START, keys={"anna": mine.public})
    found = check_heads(forger.database, [forged])
    assert (found.ok, "the key that was exported for 'anna'" in found.reason) == (False, True)
    assert forger.head.keys.keys() == {"anna", "ben", "boss"}


def test_an_agent_belongs_to_the_person_who_made_it(forger: Forger) -> None:
    scene = forger.scene
    with pytest.raises(Refused, match="can only belong to 'anna'"):
        make_credential(scene.book, as_unlocked(scene.anna), "bot", "agent", "ghost")
    made, _ = make_credential(scene.book, as_unlocked(scene.anna), "bot", "agent", "anna")
    asked = scene.book.submit(made, NewRequest(action="delete_data", description="Delete it")).request
    with pytest.raises(Refused, match="another person must decide"):
        scene.approve(asked)
    assert scene.approve(asked, scene.ben).status == "approved"
    assert verify(forger.database).ok


def test_agents_together_have_limits_too(any_database: Database) -> None:
    """Five times the count for an action, six times for an agent, and for what waits for one person."""
    scene = Scene(any_database, "[rate]\ncount = 1\n")
    agents = [scene.person(f"bot-{number}", "agent", person="anna") for number in range(3)]
    asked = [NewRequest(action=f"act_{number}", description="It") for number in range(7)]
    for number in range(6):
        scene.book.submit(agents[number % 3], asked[number])
    with pytest.raises(TooMany, match="6 requests of 'anna' are already pending"):
        scene.book.submit(agents[0], asked[6])
    others = [scene.person(f"other-{number}", "agent", person=f"p{number}") for number in range(6)]
    for other in others[:5]:
        scene.book.submit(other, asked[6])
    with pytest.raises(TooMany, match="all requesters together asked for 'act_6' 5 times"):
        scene.book.submit(others[5], asked[6])
    busy = scene.person("busy", "agent")
    for number in range(6):
        scene.deny(scene.book.submit(busy, asked[number]).request)
    with pytest.raises(TooMany, match="'busy' made requests 6 times"):
        scene.book.submit(busy, NewRequest(action="act_8", description="It"))


def test_a_policy_counts_only_with_an_admins_signature(forger: Forger) -> None:
    file = Path("policy.toml")
    replace_policy(forger.scene.book, forger.boss, sha256=SHA, summary="agreed")
    with writing(forger.database) as chain:
        chain.append("policy_replaced", {"sha256": "b" * 64, "summary": ""}, at=START, actor="boss")
    check_agreed(forger.database, file, SHA)
    with pytest.raises(CannotDo, match="not the approved policy"):
        check_agreed(forger.database, file, "b" * 64)
    assert "replaces the policy without an admin's signature" in forger.named()
    # The signed row of the policy before the one in force, once more: its signature covers its place in the audit.
    former = newest_entries(forger.database, 2)[1]
    replace_policy(forger.scene.book, forger.boss, sha256="c" * 64, summary="newer")
    with writing(forger.database) as chain:
        chain.append("policy_replaced", former.document, at=former.at, actor="boss")
    check_agreed(forger.database, file, "c" * 64)
