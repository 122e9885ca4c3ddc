"""Changing who may do what: with an admin's signature, and audited."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.change import (
    make_credential,
    replace_policy,
    revoke_credential,
)
from seasoned.confirm.people.credential import UnlockedCredential, authenticate, find
from seasoned.errors import Refused
from seasoned.store import Database
from tests.confirm.books import START, Scene
from tests.confirm.keys import as_unlocked, first_admin_of
from tests.each_case import check_each

WORDS = "correct horse battery"


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
