"""The team's server as an admin uses it, where it runs: invite machines, list them, remove one."""

from __future__ import annotations

import re
import secrets
import time
from typing import Any

import msgspec

from seasoned.app import people
from seasoned.app.confirm import Ask, open_book
from seasoned.app.stores import shared_database
from seasoned.config import Config
from seasoned.errors import UsageError
from seasoned.team import server

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9._@+-]+")


def _require_server(config: Config) -> None:
    if not config.database_url:
        raise UsageError(
            "The server of a team needs PostgreSQL. Set SEASONED_DATABASE_URL and run this where `seasoned serve` runs."
        )


def invite(config: Config, person: str, *, admin: str | None, ask: Ask) -> tuple[str, str]:
    """A code with which a machine of this person can join, and the name that the machine will have."""
    _require_server(config)
    with open_book(config) as book:
        short = _NOT_IN_A_NAME.sub("-", person.lower()).strip("-.") or "member"
        name = f"team.{short[:40]}.{secrets.token_hex(3)}"
        made = people.make(config, book, name, "agent", person=None, admin=admin, ask=ask, ask_new=ask)
        return server.keep_code(book.database, made.credential, made.token, person, now=book.clock()), name


def machines(config: Config) -> list[dict[str, Any]]:
    """Every machine of the team with how much it pushed."""
    _require_server(config)
    with shared_database(config) as database:
        return [msgspec.structs.asdict(one) for one in server.machines(database)]


def remove(config: Config, machine: str, *, by: str) -> int:
    """Remove a machine and everything that was learned from it; returns how many records that were."""
    _require_server(config)
    with shared_database(config, durable=True) as database:
        return server.remove(database, machine, by=by, now=time.time())
