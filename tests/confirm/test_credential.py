"""Credentials: who may do what."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from argon2 import PasswordHasher

from seasoned.confirm.audit.chain import newest_entries
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.change import make_credential, replace_policy, revoke_credential
from seasoned.confirm.people.credential import (
    UnlockedCredential,
    authenticate,
    authenticate_passphrase,
    credentials,
    find,
    new_key,
    set_passphrase,
    unlocked,
    without_key,
)
from seasoned.errors import Conflict, Refused, Unauthorised, UsageError
from seasoned.redact import Redactor
from seasoned.store import Database
from tests.confirm.books import START, Scene, raw
from tests.confirm.keys import as_unlocked, first_admin_of, make, revoke
from tests.each_case import check_each


def test_the_token_is_kept_nowhere(any_database: Database) -> None:
    _, token = make(any_database, "anna", "approver", now=START)
    kept = str([tuple(dict(row).values()) for row in raw(any_database, "SELECT * FROM credential")])
    kept += str([dict(row) for row in raw(any_database, "SELECT * FROM audit")])
    assert token not in kept and token.split("_", 2)[2] not in kept
    assert "anna" in kept


def test_what_is_no_token_is_unauthorised(any_database: Database) -> None:
    make(any_database, "anna", "agent", now=START)

    def check(wrong: Any) -> None:
        with pytest.raises(Unauthorised):
            authenticate(any_database, wrong)

    check_each(
        ["", "ssn_admin_", "Bearer x", "\0", "ä" * 43, "ssn_agent_" + "a" * 43, "ssn_root_" + "a" * 43, None, 5], check
    )


def test_a_revoked_token_is_unauthorised(any_database: Database) -> None:
    made, token = make(any_database, "anna", "approver", now=START)
    ended = revoke(any_database, made.name, now=START + 5)
    assert ended.revoked_at == START + 5
    with pytest.raises(Unauthorised):
        authenticate(any_database, token)
    assert revoke(any_database, "anna", now=START + 9).revoked_at == START + 5, "once is enough"


def test_a_name_is_never_given_out_twice(any_database: Database) -> None:
    make(any_database, "anna", "agent", now=START)
    revoke(any_database, "anna", now=START)
    with pytest.raises(Conflict, match="taken"):
        make(any_database, "anna", "approver", now=START)


def test_a_name_that_could_be_taken_for_another_is_refused(any_database: Database) -> None:
    def check(name: Any) -> None:
        for wrong in ({"name": name}, {"name": "x", "person": name}):
            if wrong.get("person", "x") is None:
                continue
            with pytest.raises(UsageError, match="lower-case letters"):
                make(any_database, role="agent", now=START, **wrong)
        assert credentials(any_database) == []

    check_each(
        ["", "Anna", "anna\0", "an na", "-anna", "system:timeout", "a" * 65, "änna", "аnna", "<b>", "anna\n", None],
        check,
    )


def test_the_last_admin_is_not_revoked(any_database: Database) -> None:
    make(any_database, "anna", "admin", now=START)
    with pytest.raises(Conflict, match="last admin"):
        revoke(any_database, "anna", now=START)
    make(any_database, "ben", "admin", now=START)
    assert revoke(any_database, "anna", now=START).revoked_at == START


def test_a_token_in_a_text_is_redacted(any_database: Database) -> None:
    _, token = make(any_database, "anna", "approver", now=START)
    for text in (f"Authorization: Bearer {token}", f"export SEASONED_TOKEN={token}", f"curl -u x:{token} http://h/"):
        assert token not in Redactor(b"k" * 32).text(text)


WORDS = "correct horse battery"
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
set_quickly = partial(set_passphrase, now=START, hasher=QUICK)
authenticate_quickly = partial(authenticate_passphrase, now=START, hasher=QUICK)


def _make_anna(database: Database) -> UnlockedCredential:
    key, stored = new_key(WORDS, hasher=QUICK)
    return unlocked(make(database, "anna", "approver", now=START, key=stored)[0], key)


def test_a_wrong_passphrase_is_unauthorised_and_audited(any_database: Database) -> None:
    _make_anna(any_database)

    def check(wrong: str) -> None:
        seq = newest_entries(any_database, 1)[0].seq
        with pytest.raises(Unauthorised):
            authenticate_quickly(any_database, "anna", wrong)
        entry = newest_entries(any_database, 1)[0]
        assert entry.seq == seq + 1
        assert (entry.event, entry.document) == ("passphrase_refused", {"name": "anna"})

    check_each(["", WORDS + " ", WORDS.upper(), "x" * 100_000, "\0", "\ud800"], check)


def test_another_passphrase_replaces_the_old_one(any_database: Database) -> None:
    anna = _make_anna(any_database)
    old = authenticate_quickly(any_database, "anna", WORDS)
    new = set_quickly(any_database, anna, "quite other words", by=old)
    assert new.key.public == old.key.public, "the key stays, so that older votes can still be checked"
    with pytest.raises(Unauthorised):
        authenticate_quickly(any_database, "anna", WORDS)
    assert without_key(authenticate_quickly(any_database, "anna", "quite other words")) == without_key(anna)


def test_a_revoked_credential_is_not_proven_by_its_passphrase(any_database: Database) -> None:
    anna = _make_anna(any_database)
    revoke(any_database, "anna", now=START)
    with pytest.raises(Unauthorised):
        authenticate_quickly(any_database, "anna", WORDS)
    with pytest.raises(Refused, match="revoked"):
        set_quickly(any_database, anna, WORDS, by=anna)


def test_a_weak_passphrase_is_refused() -> None:
    def check(weak: str) -> None:
        with pytest.raises(UsageError, match="passphrase"):
            new_key(weak, hasher=QUICK)

    check_each(["", "short", "a" * 40, "abababababab", "\ud800" + WORDS], check)


def test_opening_a_key_is_slow_by_default() -> None:
    assert new_key(WORDS)[1].sealed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


class Ruled(Scene):
    """A scene with an admin."""

    boss: UnlockedCredential


@pytest.fixture
def scene(any_database: Database) -> Ruled:
    made = Ruled(any_database)
    made.boss = first_admin_of(any_database, now=START)
    return made


def test_every_change_has_the_admins_signature_in_the_audit(scene: Ruled) -> None:
    made, token = make_credential(scene.book, scene.boss, "carla", "approver", "carla")
    assert authenticate(scene.database, token) == made
    revoke_credential(scene.book, scene.boss, "ben")
    assert find(scene.database, "ben").revoked_at is not None
    replace_policy(scene.book, scene.boss, sha256="a" * 64, summary="two approvals for deploys")
    noted = scene.book.audit(3)[::-1]
    events = ["credential_made", "credential_revoked", "policy_replaced"]
    assert [entry.event for entry in noted] == events
    assert all(entry.actor == "boss" and "signature" in entry.document for entry in noted)
    assert verify(scene.database).ok


def test_an_approver_is_no_admin(scene: Ruled) -> None:
    anna = as_unlocked(scene.anna)

    def check(change: Any) -> None:
        with pytest.raises(Refused, match="not an admin"):
            change()

    check_each(
        [
            lambda: make_credential(scene.book, anna, "carla", "approver", "carla"),
            lambda: revoke_credential(scene.book, anna, "ben"),
            lambda: replace_policy(scene.book, anna, sha256="a" * 64, summary=""),
        ],
        check,
    )
