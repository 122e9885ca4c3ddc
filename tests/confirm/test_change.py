"""Changing who may do what: with an admin's signature, audited, and never for the ten."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.command.action import HIGH_RISK
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.change import (
    add_allowed,
    allow_list,
    make_credential,
    remove_allowed,
    replace_policy,
    revoke_credential,
)
from seasoned.confirm.people.credential import UnlockedCredential, authenticate, find
from seasoned.confirm.request.book import rules_for
from seasoned.errors import NotFound, Refused, UsageError
from seasoned.store import Database
from tests.confirm.books import START, Scene, raw, without_guards
from tests.confirm.keys import as_unlocked, first_admin_of
from tests.each_case import check_each

WORDS = "correct horse battery"


class Ruled(Scene):
    """A scene with an admin."""

    boss: UnlockedCredential

    def allow(self, action: str = "send_email", **more: Any) -> str:
        return add_allowed(self.book, self.boss, action, **more).id


@pytest.fixture
def scene(any_database: Database) -> Ruled:
    made = Ruled(any_database)
    made.boss = first_admin_of(any_database, now=START)
    return made


def test_every_change_has_the_admins_signature_in_the_audit(scene: Ruled) -> None:
    allowed = scene.allow()
    made, token = make_credential(scene.book, scene.boss, "carla", "approver", "carla")
    assert authenticate(scene.database, token) == made
    revoke_credential(scene.book, scene.boss, "ben")
    assert find(scene.database, "ben").revoked_at is not None
    replace_policy(scene.book, scene.boss, sha256="a" * 64, summary="two approvals for deploys")
    remove_allowed(scene.book, scene.boss, allowed)
    noted = scene.book.audit(5)[::-1]
    events = ["allow_added", "credential_made", "credential_revoked", "policy_replaced", "allow_removed"]
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
            lambda: add_allowed(scene.book, anna, "send_email"),
            lambda: remove_allowed(scene.book, anna, "1"),
            lambda: make_credential(scene.book, anna, "carla", "approver", "carla"),
            lambda: revoke_credential(scene.book, anna, "ben"),
            lambda: replace_policy(scene.book, anna, sha256="a" * 64, summary=""),
        ],
        check,
    )


def test_the_ten_are_refused_when_they_are_written(scene: Ruled) -> None:
    def check(action: str, spell: Any) -> None:
        with pytest.raises(Refused, match="always needs a person"):
            scene.allow(spell(action))

    spellings = [str.upper, lambda name: name.replace("_", "-"), lambda name: f" {name} "]
    check_each([(action, spell) for action in sorted(HIGH_RISK) for spell in spellings], check)


def test_the_ten_are_passed_over_when_they_are_used(any_database: Database) -> None:
    if any_database.kind == "sqlite":
        raw(any_database, "PRAGMA ignore_check_constraints = ON")
    else:
        raw(any_database, "ALTER TABLE allowed DROP CONSTRAINT allowed_action_check")
    without_guards(any_database, "allowed")
    raw(any_database, "INSERT INTO allowed VALUES ('i', 'wipe_database', NULL, NULL, 1, 'x')")
    assert not rules_for(any_database, "wipe_database", "", now=START)
    assert Scene(any_database).ask("wipe_database").status == "pending"


def test_what_is_allowed_is_allowed_in_its_session_for_its_time_until_it_is_removed(scene: Ruled) -> None:
    allowed = scene.allow()
    assert scene.ask("send_email", session_key="any").status == "auto_approved"
    remove_allowed(scene.book, scene.boss, allowed)
    assert scene.ask("send_email").status == "pending" and allow_list(scene.database) == []
    scene.allow(session_key="s-1")
    assert scene.ask("send_email", session_key="s-1").status == "auto_approved"
    assert scene.ask("send_email", session_key="s-2").status == "pending"
    scene.allow("send_fax", expires_at=START + 10)
    assert scene.ask("send_fax").status == "auto_approved"
    scene.clock.forward(10)
    assert scene.ask("send_fax").status == "pending"


def test_a_session_key_with_a_secret_is_redacted_and_still_matches(scene: Ruled) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    scene.allow(session_key=f"run {secret}")
    assert secret not in str(allow_list(scene.database))
    assert scene.ask("send_email", session_key=f"run {secret}").status == "auto_approved"
    assert scene.ask("send_email", session_key="run " + secret.replace("a1", "a2")).status == "pending"


def test_what_would_never_hold_is_refused(scene: Ruled) -> None:
    for more in ({"expires_at": START - 1}, {"session_key": ""}):
        with pytest.raises(UsageError):
            scene.allow(**more)
    with pytest.raises(UsageError, match="sha256"):
        replace_policy(scene.book, scene.boss, sha256="x", summary="")
    with pytest.raises(NotFound):
        remove_allowed(scene.book, scene.boss, "nothing")
