"""What the database itself refuses, whoever writes to it and with whatever statement."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg
import pytest

from seasoned.confirm.audit.chain import read_head, verify_chain
from seasoned.confirm.request.request import Request
from seasoned.store import Database
from tests.confirm.books import START, TWO, Scene, raw
from tests.confirm.keys import revoke
from tests.each_case import check_each

BROKEN = (sqlite3.IntegrityError, psycopg.IntegrityError)
_VOTE = """INSERT INTO vote (request_id, requester, requester_person, single_operator, voter, voter_name, role, person,
    approve, reason, via, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, '', 'sql', ?)"""


@pytest.fixture
def scene(any_database: Database) -> Scene:
    return Scene(any_database)


def cast(scene: Scene, request: Request, **more: Any) -> None:
    """A vote by hand."""
    agent = scene.agent
    vote: dict[str, Any] = {"requester": agent.id, "requester_person": agent.person, "single_operator": 0}
    vote |= {"voter": scene.anna.id, "voter_name": "anna", "role": "approver", "person": "anna", "at": START} | more
    raw(scene.database, _VOTE, (request.id, *vote.values()))


def test_a_vote_by_hand_is_possible_only_where_it_is_right(any_database: Database) -> None:
    scene = Scene(any_database, TWO)
    request = scene.ask()
    cast(scene, request)
    assert [vote.voter for vote in scene.book.look(scene.anna, request.id).votes] == ["anna"]
    phone, revoked = (scene.person(name, "approver", person=of) for name, of in (("phone", "anna"), ("carla", None)))
    revoke(scene.database, "carla", now=START)
    agent = {"voter": scene.agent.id, "voter_name": "hermes", "person": "hermes"}
    ben = {"voter": scene.ben.id, "voter_name": "ben", "person": "ben"}

    def check(wrong: dict[str, Any]) -> None:
        with pytest.raises(BROKEN):
            cast(scene, request, **wrong)

    check_each(
        [
            *({**agent, "role": role} for role in ("agent", "approver", "admin")),
            {**ben, "requester": scene.ben.id},
            {**ben, "requester_person": "ben"},
            {**ben, "single_operator": 1},
            {**ben, "person": "zoe"},
            {**ben, "role": "admin"},
            {**ben, "at": request.expires_at},
            {"voter": phone.id, "voter_name": "phone"},
            {"voter": revoked.id, "voter_name": "carla", "person": "carla"},
        ],
        check,
    )
    cast(scene, request, **ben)


def test_neither_the_person_behind_the_agent_votes_nor_anybody_after_the_decision(scene: Scene) -> None:
    scene.agent = scene.person("claude", "agent", person="anna")
    request = scene.ask()
    with pytest.raises(BROKEN):
        cast(scene, request)
    scene.deny(request, scene.ben)
    carla = scene.person("carla", "approver")
    with pytest.raises(BROKEN):
        cast(scene, request, voter=carla.id, voter_name="carla", person="carla")


def test_no_statement_changes_what_was_asked_or_happened(scene: Scene) -> None:
    request = scene.ask()
    before = scene.book.audit()

    def check(statement: str) -> None:
        with pytest.raises(BROKEN):
            raw(scene.database, statement)
        assert scene.book.look(scene.anna, request.id) == request
        assert scene.book.audit() == before

    check_each(
        [
            (
                "UPDATE request SET status = 'approved', resolved_at = 1, resolved_by = 'x', redeem_before = 2,"
                " sealed = NULL"
            ),
            "UPDATE request SET status = 'denied', resolved_at = 1, resolved_by = 'x', sealed = NULL",
            "UPDATE request SET quorum = 0",
            "UPDATE request SET digest = 'other'",
            "UPDATE request SET action = 'send_email'",
            "UPDATE request SET expires_at = expires_at + 1000",
            "UPDATE request SET redeemed_at = 1",
            "DELETE FROM request",
            "DELETE FROM credential",
            "UPDATE credential SET role = 'admin'",
            "UPDATE audit_head SET seq = 0",
            "INSERT INTO audit_head (id, seq, hash) VALUES (2, 0, 'x')",
            "UPDATE audit SET actor = 'anna'",
            "DELETE FROM audit",
            "INSERT INTO audit SELECT seq, at, 'approved', request_id, actor, via, document, previous, hash FROM audit",
        ],
        check,
    )


def test_what_was_decided_redeemed_or_revoked_stays_so(scene: Scene) -> None:
    denied, used = scene.ask(), scene.ask()
    scene.approve(used)
    scene.book.redeem(scene.agent, used.id, digest=used.digest)
    before = scene.deny(denied), scene.book.look(scene.anna, used.id)
    revoke(scene.database, "ben", now=START)

    def check(statement: str) -> None:
        with pytest.raises(BROKEN):
            raw(scene.database, statement)
        assert tuple(scene.book.look(scene.anna, one.id) for one in (denied, used)) == before

    check_each(
        [
            "UPDATE request SET status = 'approved', redeem_before = 9",
            "UPDATE request SET status = 'pending', resolved_at = NULL, resolved_by = NULL",
            "UPDATE request SET resolved_by = 'ben'",
            "UPDATE request SET redeemed_at = NULL WHERE redeemed_at IS NOT NULL",
            "UPDATE vote SET approve = 1",
            "DELETE FROM vote",
            "UPDATE credential SET revoked_at = NULL WHERE name = 'ben'",
        ],
        check,
    )


def test_replacing_a_row_is_no_way_around(scene: Scene) -> None:
    if scene.database.kind != "sqlite":
        pytest.skip("only SQLite has REPLACE")
    request = scene.ask()
    denied = scene.deny(request)
    columns = [row["name"] for row in raw(scene.database, "SELECT name FROM pragma_table_info('request')")]
    changed = {"status": "'pending'", "resolved_at": "NULL", "resolved_by": "NULL"}
    values = ", ".join(changed.get(name, name) for name in columns)
    rights = "id, name, 'admin', person, token_hash, created_at, revoked_at, public_key, sealed_key"
    for statement in (
        f"REPLACE INTO request SELECT {values} FROM request",
        "REPLACE INTO audit SELECT seq, at, event, request_id, 'x', via, document, previous, hash FROM audit",
        f"REPLACE INTO credential SELECT {rights} FROM credential",
        "REPLACE INTO audit_head VALUES (1, 0, 'x')",
        "UPDATE OR REPLACE request SET status = 'approved', redeem_before = 9",
    ):
        with pytest.raises(BROKEN):
            raw(scene.database, statement)
    assert scene.book.look(scene.anna, request.id) == denied


def test_emptying_a_table_is_no_way_around(scene: Scene) -> None:
    if scene.database.kind != "postgres":
        pytest.skip("only PostgreSQL has TRUNCATE")
    scene.ask()
    for table in ("audit", "audit_head", "request", "vote", "credential"):
        with pytest.raises(BROKEN):
            raw(scene.database, f"TRUNCATE {table} CASCADE")


def test_a_row_that_is_added_by_hand_moves_the_head_and_is_found(scene: Scene) -> None:
    scene.ask()
    before = read_head(scene.database)
    raw(
        scene.database,
        "INSERT INTO audit VALUES (?, 1, 'approved', NULL, 'anna', '', '{}', ?, 'y')",
        (before.seq + 1, before.hash),
    )
    assert (read_head(scene.database).seq, read_head(scene.database).hash) == (before.seq + 1, "y")
    found = verify_chain(scene.database)
    assert (found.ok, found.first_bad) == (False, before.seq + 1)


def test_a_temporary_table_of_the_same_name_is_no_way_around(scene: Scene) -> None:
    request = scene.ask()
    place = "temp" if scene.database.kind == "sqlite" else "pg_temp"
    raw(scene.database, "CREATE TEMPORARY TABLE audit_head (id INTEGER, seq BIGINT, hash TEXT)")
    raw(scene.database, f"INSERT INTO {place}.audit_head VALUES (1, 998, 'q')")
    with pytest.raises(BROKEN):
        raw(scene.database, "INSERT INTO audit VALUES (999, 1, 'x', NULL, 'a', '', '{}', 'q', 'h')")
    raw(scene.database, f"DROP TABLE {place}.audit_head")
    raw(scene.database, "CREATE TEMPORARY TABLE vote (request_id TEXT, approve INTEGER)")
    raw(scene.database, f"INSERT INTO {place}.vote VALUES (?, 1)", (request.id,))
    approve = (
        "UPDATE request SET status = 'approved', resolved_at = 1, resolved_by = 'x', redeem_before = 2, sealed = NULL"
    )
    with pytest.raises(BROKEN):
        raw(scene.database, approve)
    raw(scene.database, f"DROP TABLE {place}.vote")
    assert scene.approve(request).status == "approved"
