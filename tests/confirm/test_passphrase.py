"""The approver at the terminal: a passphrase that no file holds."""

from __future__ import annotations

from functools import partial

import pytest
from argon2 import PasswordHasher

from seasoned.confirm.audit.chain import newest_entries
from seasoned.confirm.people.credential import (
    UnlockedCredential,
    authenticate_passphrase,
    new_key,
    set_passphrase,
    unlocked,
    without_key,
)
from seasoned.errors import Refused, Unauthorised, UsageError
from seasoned.store import Database
from tests.confirm.books import START
from tests.confirm.keys import make, revoke
from tests.each_case import check_each

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
