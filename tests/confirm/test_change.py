"""Changing who may do what: by a grant or by an admin's passphrase, audited, and never for the ten."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.command.action import HIGH_RISK
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.change import (
    AddAllowed,
    ByGrant,
    ByPassphrase,
    Change,
    MakeCredential,
    RemoveAllowed,
    ReplacePolicy,
    RevokeCredential,
    allow_list,
    ask_change,
    first_admin,
    policy_change,
)
from seasoned.confirm.people.credential import authenticate, credentials, without_key
from seasoned.confirm.people.passphrase import set_passphrase
from seasoned.confirm.request.book import rules_for
from seasoned.errors import Conflict, NotFound, Refused, Unauthorised, UsageError
from seasoned.store import Database
from tests.confirm.books import START, Scene, raw, without_guards
from tests.confirm.keys import as_unlocked
from tests.each_case import check_each

WORDS = "correct horse battery"
CHANGES: list[Change] = [
    AddAllowed(action="send_email"),
    MakeCredential(name="carla", role="approver", person="carla"),
    RevokeCredential(name="ben"),
    ReplacePolicy(sha256="a" * 64, summary="two approvals for deploys"),
]
EVENTS = ["allow_added", "credential_made", "credential_revoked", "policy_replaced"]


@pytest.fixture
def scene(any_database: Database) -> Scene:
    return Scene(any_database)


def granted(scene: Scene, change: Change) -> ByGrant:
    request = scene.book.submit(scene.agent, ask_change(change)).request
    assert (request.action, request.status) == ("modify_permissions", "pending")
    scene.approve(request)
    return ByGrant(scene.agent, request.id)


@pytest.mark.parametrize(("change", "event"), list(zip(CHANGES, EVENTS, strict=True)))
def test_a_change_is_made_by_a_grant_once_and_audited(scene: Scene, change: Change, event: str) -> None:
    authority = granted(scene, change)
    assert policy_change(scene.book, change, authority=authority).by == "hermes"
    assert [entry.event for entry in scene.book.audit(2)] == [event, "redeemed"]
    with pytest.raises(Conflict, match="already redeemed"):
        policy_change(scene.book, change, authority=authority)
    assert verify(scene.database).ok


def test_a_grant_for_one_change_does_not_make_another(scene: Scene) -> None:
    authority = granted(scene, CHANGES[0])
    for other in (AddAllowed(action="send_money"), AddAllowed(action="send_email", session_key="s"), *CHANGES[1:]):
        with pytest.raises(Refused, match="digest differs"):
            policy_change(scene.book, other, authority=authority)
    assert allow_list(scene.database) == []


def test_a_change_without_an_approval_is_not_made(scene: Scene) -> None:
    request = scene.book.submit(scene.agent, ask_change(CHANGES[0])).request
    with pytest.raises(Conflict):
        policy_change(scene.book, CHANGES[0], authority=ByGrant(scene.agent, request.id))
    scene.deny(request)
    with pytest.raises(Conflict):
        policy_change(scene.book, CHANGES[0], authority=ByGrant(scene.agent, request.id))
    assert allow_list(scene.database) == []


def test_a_change_that_fails_leaves_its_grant_unused(scene: Scene) -> None:
    change = RemoveAllowed(id="nothing")
    authority = granted(scene, change)
    with pytest.raises(NotFound):
        policy_change(scene.book, change, authority=authority)
    assert scene.book.look(scene.anna, authority.request_id).is_unused


def test_the_first_admin_is_made_once_and_changes_things_by_passphrase(scene: Scene) -> None:
    root, token = first_admin(scene.database, "root", WORDS, now=START)
    assert authenticate(scene.database, token, now=START) == without_key(root)
    with pytest.raises(Refused, match="already an admin"):
        first_admin(scene.database, "mallory", WORDS, now=START)
    done = policy_change(scene.book, CHANGES[1], authority=ByPassphrase("root", WORDS))
    assert done.token is not None and done.credential is not None
    assert authenticate(scene.database, done.token, now=START) == done.credential
    assert scene.book.audit(1)[0].actor == "root"
    with pytest.raises(Unauthorised):
        policy_change(scene.book, CHANGES[2], authority=ByPassphrase("root", WORDS + "!"))
    assert all(one.revoked_at is None for one in credentials(scene.database))


def test_an_approver_with_a_passphrase_is_no_admin(scene: Scene) -> None:
    set_passphrase(scene.database, scene.anna, WORDS, by=as_unlocked(scene.anna), now=START)
    with pytest.raises(Refused, match="not an admin"):
        policy_change(scene.book, CHANGES[0], authority=ByPassphrase("anna", WORDS))


def test_a_passphrase_is_not_printed() -> None:
    assert WORDS not in repr(ByPassphrase("root", WORDS))


def test_the_ten_are_refused_when_they_are_written(scene: Scene) -> None:
    def check(action: str, spell: Any) -> None:
        with pytest.raises(Refused, match="always needs a person"):
            policy_change(scene.book, AddAllowed(action=spell(action)), authority=ByPassphrase("root", WORDS))

    check_each(
        [
            (action, spell)
            for action in sorted(HIGH_RISK)
            for spell in [str, str.upper, lambda name: name.replace("_", "-"), lambda name: f" {name} "]
        ],
        check,
    )


def test_the_ten_are_passed_over_when_they_are_used(any_database: Database) -> None:
    if any_database.kind == "sqlite":
        raw(any_database, "PRAGMA ignore_check_constraints = ON")
    else:
        raw(any_database, "ALTER TABLE allowed DROP CONSTRAINT allowed_action_check")
    without_guards(any_database, "allowed")
    raw(any_database, "INSERT INTO allowed VALUES ('i', 'wipe_database', NULL, NULL, 1, 'x')")
    assert not rules_for(any_database, "wipe_database", "", now=START)
    assert Scene(any_database).ask("wipe_database").status == "pending"


def allow(scene: Scene, **more: Any) -> str:
    change = AddAllowed(action="send_email", **more)
    done = policy_change(scene.book, change, authority=granted(scene, change))
    assert done.allowed is not None
    return done.allowed.id


def test_what_is_allowed_for_all_is_allowed_until_it_is_removed(scene: Scene) -> None:
    allowed = allow(scene)
    assert scene.ask("send_email", session_key="any").status == "auto_approved"
    change = RemoveAllowed(id=allowed)
    policy_change(scene.book, change, authority=granted(scene, change))
    assert scene.ask("send_email").status == "pending"
    assert allow_list(scene.database) == []


def test_what_is_allowed_in_a_session_is_allowed_there(scene: Scene) -> None:
    allow(scene, session_key="s-1")
    assert scene.ask("send_email", session_key="s-1").status == "auto_approved"
    assert scene.ask("send_email", session_key="s-2").status == "pending"
    assert scene.ask("send_email").status == "pending"


def test_what_is_allowed_for_a_time_is_allowed_until_then(scene: Scene) -> None:
    allow(scene, expires_at=START + 10)
    assert scene.ask("send_email").status == "auto_approved"
    scene.clock.forward(10)
    assert scene.ask("send_email").status == "pending"


def test_a_session_key_with_a_secret_is_redacted_and_still_matches(scene: Scene) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    first_admin(scene.database, "root", WORDS, now=START)
    change = AddAllowed(action="send_email", session_key=f"run {secret}")
    with pytest.raises(UsageError, match="contains a secret"):
        policy_change(scene.book, change, authority=granted(scene, change))
    policy_change(scene.book, change, authority=ByPassphrase("root", WORDS))
    assert secret not in str(allow_list(scene.database))
    assert scene.ask("send_email", session_key=f"run {secret}").status == "auto_approved"
    assert scene.ask("send_email", session_key="run " + secret.replace("a1", "a2")).status == "pending"


def test_what_would_never_hold_is_refused(scene: Scene) -> None:
    def check(change: Change) -> None:
        with pytest.raises(UsageError):
            policy_change(scene.book, change, authority=granted(scene, change))

    check_each(
        [AddAllowed(action="send_email", expires_at=START - 1), AddAllowed(action="send_email", session_key="")], check
    )


def test_a_policy_is_replaced_under_its_digest_only(scene: Scene) -> None:
    with pytest.raises(UsageError, match="sha256"):
        policy_change(scene.book, ReplacePolicy(sha256="x", summary=""), authority=ByPassphrase("root", WORDS))
