"""Credentials: who may do what."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.confirm.people.credential import authenticate, credentials
from seasoned.errors import Conflict, Unauthorised, UsageError
from seasoned.redact import Redactor
from seasoned.store import Database
from tests.confirm.books import START, raw
from tests.confirm.keys import make, revoke
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
