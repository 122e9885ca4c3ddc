"""A book with people and a clock of its own, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seasoned.confirm.people.credential import Credential, Role, UnlockedCredential
from seasoned.confirm.policy import Policy, read_policy
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest, Request
from seasoned.confirm.request.row import Seal
from seasoned.redact.key import Secrecy
from seasoned.store import Database, Store
from seasoned.store.postgres import PostgresStore
from tests.confirm.keys import make_person

START = 1_800_000_000.0
KEY = bytes(range(32))
SECRECY = Secrecy(bytes(range(32, 64)))


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


def open_book(database: Database, policy: Policy, clock: Clock) -> Book:
    """A book over a database, as any process has it."""
    return Book(database, policy=policy, seal=Seal(KEY), secrecy=SECRECY, clock=clock)


class Scene:
    """A book, its clock, an agent and two approvers."""

    def __init__(self, database: Database, policy: str = "") -> None:
        self.database = database
        self.clock = Clock()
        self.policy: Policy = read_policy(policy, file=Path("policy.toml"))
        self.book = self.reopen(database)
        self.agent = self.person("hermes", "agent")
        self.anna = self.person("anna", "approver")
        self.ben = self.person("ben", "approver")

    def reopen(self, database: Database) -> Book:
        """Another book over a database, as after a restart."""
        self.database = database
        self.book = open_book(database, self.policy, self.clock)
        return self.book

    def person(
        self, name: str, role: Role, person: str | None = None, by: UnlockedCredential | None = None
    ) -> Credential:
        return make_person(self.database, name, role, now=self.clock(), person=person, by=by)[0]

    def ask(self, action: str = "deploy_production", **more: Any) -> Request:
        asked = {"description": "Deploy the shop", "details": {"version": "1.2.3"}} | more
        return self.book.submit(self.agent, NewRequest(action=action, **asked)).request

    def approve(self, request: Request, who: Credential | None = None, **more: Any) -> Request:
        return self.book.decide(who or self.anna, request.id, approve=True, **more)

    def deny(self, request: Request, who: Credential | None = None, **more: Any) -> Request:
        return self.book.decide(who or self.anna, request.id, approve=False, **more)


def raw(database: Database, statement: str, params: tuple[Any, ...] = ()) -> list[Any]:
    """Any statement, past the named ones: what somebody with the database in hand could do."""
    if isinstance(database, Store):
        return database.connection.execute(statement, params).fetchall()
    assert isinstance(database, PostgresStore)
    cursor = database._connection.execute(statement.replace("?", "%s").encode(), params)
    return cursor.fetchall() if cursor.description else []


def without_guards(database: Database, *tables: str) -> None:
    """Take the guards off, as somebody would who may change the tables themselves; the head still moves with rows."""
    for table in tables:
        if isinstance(database, Store):
            found = raw(
                database,
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? AND name <> 'audit_added'",
                (table,),
            )
            for row in found:
                raw(database, f"DROP TRIGGER {row['name']}")
        else:
            raw(database, f"ALTER TABLE {table} DISABLE TRIGGER USER")
            if table == "audit":
                raw(database, "ALTER TABLE audit ENABLE TRIGGER audit_added")


TWO = "[action.deploy_production]\napprovals = 2\n"
"""A policy by which two people must agree."""
