"""What a program of the same user does outside the service, with the database and this library in hand.

None of it gives an approval that is redeemed, and `verify` names it, with a head that was exported before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seasoned.confirm.audit.chain import AuditHead, SigningKey, entries_of_request, newest_entries, writing
from seasoned.confirm.audit.export import check_heads, full_head
from seasoned.confirm.audit.ledger import UsedLedger
from seasoned.confirm.audit.recorded import digest_of_sealed
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.change import AddAllowed, MakeCredential, ReplacePolicy, change_as, first_admin
from seasoned.confirm.people.credential import Credential, UnlockedCredential, make, without_key
from seasoned.confirm.people.passphrase import authenticate_passphrase, new_key, set_passphrase, unlocked
from seasoned.confirm.policy import check_agreed
from seasoned.confirm.request.request import NewRequest, Request
from seasoned.errors import CannotDo, Conflict, Denied, Refused, TooMany, Unauthorised
from seasoned.store import Database
from tests.confirm.books import START, Scene, raw, without_guards
from tests.confirm.keys import QUICK, WORDS, as_unlocked, first_admin_of, unlock
from tests.each_case import check_each

MINE = "words of the agent"
SHA = "a" * 64


class Forger:
    """A book with an admin and a ledger, one approval that was used, and somebody who can write everything."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.scene = Scene(database)
        self.database = database
        self.boss = first_admin_of(database, now=START)
        self.used = self.scene.book.used = UsedLedger(folder / "used.jsonl")
        self.done = self.scene.ask()
        self.scene.approve(self.done)
        self.redeem(self.done)
        self.head = full_head(database, self.used, now=START)
        assert verify(database, self.used).ok and check_heads(database, [self.head], self.used).ok
        without_guards(database, "credential", "request", "vote", "audit", "audit_head", "allowed")

    def redeem(self, request: Request) -> None:
        self.scene.book.redeem(self.scene.agent, request.id, digest=request.digest)

    def vote_by_hand(self, request: Request, key: SigningKey | None = None) -> None:
        """What approving writes, without the library's checks."""
        anna, at = self.scene.anna, self.scene.clock()
        cast = {"request_id": request.id, "voter": anna.id, "voter_name": "anna", "role": "approver", "via": "page"}
        facts = {"person": "anna", "approve": 1, "reason": ""}
        with writing(self.database) as chain:
            self.database.run("confirm.add_vote", {**cast, **facts, "at": at})
            document = {**facts, "approve": True, "digest": request.digest}
            chain.append("voted", document, at=at, actor="anna", request_id=request.id, via="page", signer=key)
            ends = {"id": request.id, "status": "approved", "now": at, "resolved_by": "anna", "reason": ""}
            self.database.rows("confirm.resolve", {**ends, "redeem_before": at + 300})
            outcome = {"reason": "", "redeem_before": at + 300}
            chain.append("approved", outcome, at=at, actor="anna", request_id=request.id, via="page")

    def named(self) -> str:
        """Everything that `verify --heads` says."""
        found = verify(self.database, self.used)
        exported = check_heads(self.database, [self.head], self.used)
        assert not (found.ok and exported.ok), "nothing was noticed"
        return " | ".join((*found.problems, *exported.problems))


@pytest.fixture
def forger(any_database: Database, tmp_path: Path) -> Forger:
    return Forger(any_database, tmp_path)


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
    swap = "UPDATE credential SET public_key = ?, sealed_key = ?, verifier = ? WHERE name = 'anna'"
    request = forger.scene.ask()
    raw(forger.database, swap, (mine.public, mine.sealed, None))
    with pytest.raises(Refused, match="the key of 'anna' is not the one in the audit"):
        authenticate_passphrase(forger.database, "anna", MINE, now=START, hasher=QUICK)
    assert "the public key of 'anna' was changed outside the service" in forger.named()
    with pytest.raises(Refused, match="the key of 'anna' is not the one in the audit"):
        forger.scene.book.decide(unlocked(forger.scene.anna, key), request.id, approve=True)
    forger.vote_by_hand(request, key)
    raw(forger.database, swap, (None, None, QUICK.hash(MINE)))
    with pytest.raises(Refused, match="changed outside the service"):
        authenticate_passphrase(forger.database, "anna", MINE, now=START, hasher=QUICK)
    raw(forger.database, swap, (before["public_key"], before["sealed_key"], None))
    with pytest.raises(Refused, match="no valid signature"):
        forger.redeem(request)
    assert "the vote of 'anna' has no valid signature of theirs" in forger.named()


def test_a_sealed_key_of_another_passphrase_is_named(forger: Forger) -> None:
    raw(forger.database, "UPDATE credential SET sealed_key = 'x' WHERE name = 'anna'")
    with pytest.raises(Unauthorised):
        unlock(forger.database, "anna")
    assert "the sealed key of 'anna' was changed outside the service" in forger.named()


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
            lambda: set_passphrase(database, scene.anna, MINE, by=None, now=START, hasher=QUICK),
            lambda: set_passphrase(database, scene.anna, MINE, by=as_unlocked(scene.ben), now=START, hasher=QUICK),
            lambda: change_as(scene.book, AddAllowed(action="send_email"), as_unlocked(scene.anna)),
            lambda: change_as(scene.book, AddAllowed(action="send_email"), unlocked(without_key(forger.boss), mine)),
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
        ("passphrase_set", {"name": "anna", "public": mine.public, "sealed": SHA, "verifier": SHA}),
        ("device_added", {"name": "anna", "public": mine.public, "channels": ["page"], "expires_at": START + 9999}),
        ("policy_replaced", {"sha256": SHA, "summary": ""}),
        ("allow_added", {"id": "1", "action": "send_email", "session_key": None, "expires_at": None}),
        ("credential_made", {"name": "eve", "role": "approver", "person": "eve", "token": SHA, "public": mine.public}),
        ("credential_made", {"name": "bot", "role": "agent", "person": "ghost", "token": SHA}),
        ("credential_revoked", {"name": "boss", "role": "admin"}),
        ("taken_over", {"credentials": [{"name": "anna", "token": SHA, "verifier": SHA}]}),
        ("restored", {"sha256": SHA}),
        ("credential_made", {"nonsense": True}),
    ]
    for event, facts in rows:
        with writing(database) as chain:
            chain.append(event, facts, at=START, actor="anna", signer=mine)
    raw(database, "INSERT INTO allowed VALUES ('1', 'send_email', NULL, NULL, 1, 'boss')")
    assert scene.ask("send_email").status == "pending"
    request = scene.ask()
    with pytest.raises(Refused, match="not the one in the audit"):
        scene.book.decide(unlocked(scene.anna, mine), request.id, approve=True)
    check_agreed(database, Path("policy.toml"), "any file: no policy was agreed to")
    first_bad = newest_entries(database, 1)[0].seq - 2 - len(rows) + 1
    found = verify(database, forger.used)
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


def test_what_tables_say_about_people_and_rules_is_compared(forger: Forger) -> None:
    scene, database = forger.scene, forger.database
    request = scene.ask()
    scene.approve(request)
    edits = [
        ("UPDATE credential SET role = 'admin' WHERE name = 'hermes'", "role", "the role of 'hermes' was changed"),
        ("UPDATE credential SET person = 'ghost' WHERE name = 'hermes'", "person", "the person of 'hermes'"),
        ("UPDATE credential SET token_hash = 'x' WHERE name = 'hermes'", "token_hash", "the token of 'hermes'"),
        ("UPDATE credential SET verifier = 'x' WHERE name = 'anna'", "verifier", "the passphrase of 'anna'"),
        ("UPDATE credential SET role = 'admin' WHERE name = 'anna'", "role", "the role of 'anna'"),
    ]
    for statement, column, reason in edits:
        name = "hermes" if "'hermes'" in statement else "anna"
        (before,) = raw(database, f"SELECT {column} AS kept FROM credential WHERE name = ?", (name,))
        by_force(database, statement)
        with pytest.raises(Denied):
            forger.redeem(request)
        assert reason in forger.named(), statement
        by_force(database, f"UPDATE credential SET {column} = ? WHERE name = ?", (before["kept"], name))
    change_as(scene.book, AddAllowed(action="tidy_up"), forger.boss)
    raw(database, "UPDATE allowed SET action = 'send_money'")
    assert "the allow rule for 'tidy_up' was changed outside the service" in forger.named()
    raw(database, "DELETE FROM allowed")
    assert "the allow rule for 'tidy_up' was removed outside the service" in forger.named()
    raw(database, "INSERT INTO allowed VALUES ('9', 'send_money', NULL, NULL, 1, 'boss')")
    assert scene.ask("send_money").status == "pending"
    assert "the allow rule for 'send_money' was added outside the service" in forger.named()


def test_what_was_approved_is_not_changed_into_something_else(forger: Forger) -> None:
    request = forger.scene.ask()
    forger.scene.approve(request)
    raw(forger.database, "UPDATE request SET digest = ? WHERE id = ?", (SHA, request.id))
    with pytest.raises(Refused, match="its digest was changed"):
        forger.scene.book.redeem(forger.scene.agent, request.id, digest=SHA)
    assert "has digest" in forger.named()


def test_a_database_that_was_set_back_revives_nothing(forger: Forger) -> None:
    database, done = forger.database, forger.done
    (row,) = raw(database, "SELECT seq, hash FROM audit WHERE event = 'approved'")
    raw(database, "UPDATE request SET redeemed_at = NULL WHERE id = ?", (done.id,))
    raw(database, "DELETE FROM audit WHERE seq > ?", (row["seq"],))
    raw(database, "UPDATE audit_head SET seq = ?, hash = ?", (row["seq"], row["hash"]))
    again = forger.scene.reopen(database)
    again.used = forger.used
    with pytest.raises(Conflict, match=r"the ledger of used requests says that .*, so the database was set back"):
        forger.redeem(done)
    named = forger.named()
    assert "its end was cut off" in named and "was set back" in named
    forger.used.file.write_bytes(b"")
    assert check_heads(database, [forger.head], forger.used).ok is False


def test_the_ledger_cannot_be_shortened_or_changed_unseen(forger: Forger) -> None:
    forger.scene.deny(forger.scene.ask())
    exported = full_head(forger.database, forger.used, now=START)
    lines = forger.used.file.read_bytes().splitlines(keepends=True)
    assert len(lines) == 2
    forger.used.file.write_bytes(lines[0])
    found = check_heads(forger.database, [exported], forger.used)
    assert "the ledger of used requests ends at line 1, line 2 was exported" in found.reason
    forger.used.file.write_bytes(lines[0] + lines[1].replace(b"denied", b"expired"))
    assert "line 2 of" in " ".join(verify(forger.database, forger.used).problems)
    forger.used.file.write_bytes(lines[0])
    assert forger.used.complete(forger.database) == 1, "the next start adds what is missing"
    assert check_heads(forger.database, [exported], forger.used).ok


def test_a_clock_that_is_set_back_revives_nothing_unseen(forger: Forger) -> None:
    scene = forger.scene
    request = scene.ask()
    scene.approve(request)
    scene.clock.forward(-100)
    with pytest.raises(Refused, match="the clock was set back"):
        forger.redeem(request)
    scene.clock.forward(100 + 400)
    raw(forger.database, "UPDATE request SET redeem_before = ? WHERE id = ?", (START + 9999, request.id))
    with pytest.raises(Refused, match="its time is over, by the signed time of the vote"):
        forger.redeem(request)
    raw(forger.database, "UPDATE request SET redeem_before = ? WHERE id = ?", (START + 300, request.id))
    # The service exports its head after the approval has ended; then a program redeems it with a clock of its own.
    forger.head = full_head(forger.database, forger.used, now=scene.clock())
    scene.clock.forward(-390)
    forger.redeem(request)
    assert "the clock was set back" in forger.named()


def test_a_rewritten_audit_shows_against_the_exported_keys(forger: Forger) -> None:
    mine = SigningKey()
    forged = AuditHead(forger.head.seq, forger.head.hash, START, keys={"anna": mine.public})
    found = check_heads(forger.database, [forged], forger.used)
    assert (found.ok, "the key that was exported for 'anna'" in found.reason) == (False, True)
    assert forger.head.keys.keys() == {"anna", "ben", "boss"} and forger.head.used == 1


def test_an_agent_belongs_to_the_person_who_made_it(forger: Forger) -> None:
    scene = forger.scene
    with pytest.raises(Refused, match="can only belong to 'anna'"):
        change_as(scene.book, MakeCredential(name="bot", role="agent", person="ghost"), as_unlocked(scene.anna))
    made = change_as(scene.book, MakeCredential(name="bot", role="agent", person="anna"), as_unlocked(scene.anna))
    assert made.credential is not None
    asked = scene.book.submit(made.credential, NewRequest(action="delete_data", description="Delete it")).request
    with pytest.raises(Refused, match="another person must decide"):
        scene.approve(asked)
    assert scene.approve(asked, scene.ben).status == "approved"
    assert verify(forger.database, forger.used).ok


def test_all_pending_requests_of_a_person_together_have_a_limit(any_database: Database) -> None:
    scene = Scene(any_database, "[rate]\ncount = 100\nperson_pending = 4\n")
    agents = [scene.person(f"bot-{number}", "agent", person="anna") for number in range(3)]
    asked = [NewRequest(action=f"act_{number}", description="It") for number in range(5)]
    for number in range(4):
        scene.book.submit(agents[number % 3], asked[number])
    with pytest.raises(TooMany, match="4 requests of 'anna' are already pending"):
        scene.book.submit(agents[0], asked[4])
    assert scene.ask().status == "pending", "another person's agent may still ask"


def test_a_policy_counts_only_with_an_admins_signature(forger: Forger) -> None:
    file = Path("policy.toml")
    change_as(forger.scene.book, ReplacePolicy(sha256=SHA, summary="agreed"), forger.boss)
    with writing(forger.database) as chain:
        chain.append("policy_replaced", {"sha256": "b" * 64, "summary": ""}, at=START, actor="boss")
    check_agreed(forger.database, file, SHA)
    with pytest.raises(CannotDo, match="not the approved policy"):
        check_agreed(forger.database, file, "b" * 64)
    assert "replaces the policy without an admin's signature" in forger.named()


def older_store(scene: Scene) -> None:
    """The people of a store as an older version left them: a hash of the passphrase, and rows that say little."""
    without_guards(scene.database, "credential", "audit", "audit_head")
    changed = "UPDATE credential SET public_key = NULL, sealed_key = NULL, verifier = ? WHERE role <> 'agent'"
    raw(scene.database, changed, (QUICK.hash(WORDS),))
    raw(scene.database, "DELETE FROM audit")
    raw(scene.database, "UPDATE audit_head SET seq = 0, hash = ?", ("0" * 64,))
    roles = {"hermes": "agent", "anna": "admin", "ben": "approver"}
    for name, role in roles.items():
        with writing(scene.database) as chain:
            facts = {"name": name, "role": role, "person": name}
            chain.append("credential_made", facts, at=START, actor="system:terminal")
            if role != "agent":
                chain.append("passphrase_set", {"name": name}, at=START, actor=name)
    raw(scene.database, "UPDATE credential SET role = 'admin' WHERE name = 'anna'")


def test_people_of_an_older_store_get_their_key_with_their_passphrase(any_database: Database) -> None:
    scene = Scene(any_database)
    older_store(scene)
    # A vote of that version has no signature.
    early = scene.ask()
    with writing(any_database) as chain:
        facts = {"person": "ben", "approve": 1, "reason": ""}
        cast = {"request_id": early.id, "voter": scene.ben.id, "voter_name": "ben", "role": "approver", "via": "page"}
        any_database.run("confirm.add_vote", {**cast, **facts, "at": START})
        chain.append("voted", facts, at=START, actor="ben", request_id=early.id, via="page")
    assert verify(any_database).ok
    request = scene.ask()
    anna = unlock(any_database, "anna", now=START)
    assert isinstance(anna, UnlockedCredential) and anna.role == "admin"
    scene.reopen(any_database)
    assert scene.approve(request, anna).status == "approved"
    assert scene.book.redeem(scene.agent, request.id, digest=request.digest).id == request.id
    # A row cannot show that ben typed his passphrase, so from here on it takes an admin's signature.
    with pytest.raises(Refused, match="let an admin set your passphrase"):
        unlock(any_database, "ben", now=START)
    set_passphrase(any_database, scene.ben, WORDS, by=anna, now=START, hasher=QUICK)
    assert unlock(any_database, "ben", now=START).name == "ben"
    events = [entry.event for entry in reversed(newest_entries(any_database, 50))]
    assert events[7:] == [
        "submitted",
        "taken_over",
        "passphrase_set",
        "voted",
        "approved",
        "redeemed",
        "passphrase_set",
    ]
    assert verify(any_database).ok


def test_a_hash_that_was_swapped_after_an_older_store_was_taken_over_gives_no_key(any_database: Database) -> None:
    scene = Scene(any_database)
    older_store(scene)
    unlock(any_database, "anna", now=START)
    raw(any_database, "UPDATE credential SET verifier = ? WHERE name = 'ben'", (QUICK.hash(MINE),))
    with pytest.raises(Refused, match="the passphrase of 'ben' was changed outside the service"):
        authenticate_passphrase(any_database, "ben", MINE, now=START, hasher=QUICK)
    assert "the passphrase of 'ben' was changed outside the service" in verify(any_database).problems


def test_a_key_that_was_written_for_a_person_of_an_older_store_is_none_of_theirs(any_database: Database) -> None:
    scene = Scene(any_database)
    older_store(scene)
    unlock(any_database, "anna", now=START)
    key, mine = new_key(MINE, hasher=QUICK)
    (ben,) = raw(any_database, "SELECT verifier FROM credential WHERE name = 'ben'")
    facts = {"name": "ben", "public": mine.public, "sealed": digest_of_sealed(mine.sealed)}
    with writing(any_database) as chain:
        facts["verifier"] = digest_of_sealed(str(ben["verifier"]))
        chain.append("passphrase_set", facts, at=START, actor="ben", signer=key)
    set_key = "UPDATE credential SET public_key = ?, sealed_key = ?, verifier = NULL WHERE name = 'ben'"
    raw(any_database, set_key, (mine.public, mine.sealed))
    with pytest.raises(Refused, match="the key of 'ben' is not the one in the audit"):
        authenticate_passphrase(any_database, "ben", MINE, now=START, hasher=QUICK)
    assert "gives 'ben' a new key without the old one" in " | ".join(verify(any_database).problems)
