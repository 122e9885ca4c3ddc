"""The team's server, on PostgreSQL: machines join with a code, push records, pull those of others, and leave.

A machine is a credential of the role agent, so a revoked credential ends its membership at once. Members are known to
each other by pseudonyms. No state is kept in the process: several may serve the same database.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from hashlib import blake2b, sha256
from typing import Any

import msgspec

from seasoned.confirm.audit.chain import writing
from seasoned.confirm.people.credential import Credential, Proof, current, find, revoke_in
from seasoned.confirm.request.seal import Seal
from seasoned.errors import NotFound, Refused, UsageError
from seasoned.experience.knowledge import ProjectKnowledge
from seasoned.experience.lesson import Line
from seasoned.redact.redactor import Redactor
from seasoned.store import Database, DatabaseRow
from seasoned.team import experiment
from seasoned.team.record import DOCUMENTS, MOST_DOCUMENT_BYTES, TeamRecord, from_wire, is_shareable, record_row

CODE_SECONDS = 86_400.0
MOST_RECORDS = 500  # of one push, and of one page of a pull or an export
# One page has at most so many bytes of documents: the client refuses longer answers.
_MOST_PAGE_BYTES = 2_000_000
MOST_OF_A_PERSON = 50
_DAY_SECONDS = 86_400.0
_KEY = re.compile(r"[0-9a-f]{16,64}\Z")
_PROJECT = re.compile(r"[!-~]{1,500}\Z")
_NAME = re.compile(r"[\w .@+-]{1,64}\Z")


class Machine(msgspec.Struct, frozen=True):
    """A machine that belongs to the team."""

    credential: str
    name: str
    person: str
    source: str  # what other members see of the person
    origin: str  # what they see of the machine


class Joined(msgspec.Struct, frozen=True):
    """What a machine gets when it joins."""

    token: str
    machine: Machine


class Pushed(msgspec.Struct, frozen=True):
    """What became of the records of a push: the server has all that it did not refuse."""

    changed: int
    # By place in the push: why a record was refused.
    refused: dict[int, str]


class PulledRecord(msgspec.Struct, frozen=True):
    """A record of another machine. Without a document it was withdrawn."""

    seq: int
    kind: str
    key: str
    at: float
    origin: str
    source: str
    is_own: bool  # from another machine of the same person
    name: str | None  # of the person, if they want to be shown
    document: msgspec.Raw | None


class Volume(msgspec.Struct, frozen=True):
    """A machine as an admin sees it: when and how much, nothing of what."""

    name: str
    person: str
    joined_at: float
    pushed_at: float | None
    pulled_at: float | None
    left_at: float | None
    records: int
    bytes: int


class ProjectTotals(msgspec.Struct, frozen=True):
    """A project of the team in numbers, over all machines."""

    project: str
    people: int
    machines: int
    sessions: int
    calls: int | None
    failed: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    last: float | None


class Lessons(msgspec.Struct, frozen=True):
    """What the sessions of a project have shown, without names."""

    conversations: int
    lines: tuple[Line, ...]
    repairs: tuple[tuple[str, str], ...]  # a form that fails, and the call that works


def keep_code(database: Database, credential: Credential, token: str, person: str, *, now: float) -> str:
    """A code with which a machine of this person can fetch the token, once, within a day.

    In confirmations a credential belongs to the admin who made it, so the person is kept apart from it.
    """
    if not _NAME.match(person):
        raise UsageError(f"a person's name must have up to 64 letters, digits, spaces and . @ + -, not {person!r}")
    code = f"join_{secrets.token_urlsafe(24)}"
    sealed = Seal(sha256(code.encode()).digest()).close(credential.id, token.encode())
    row = {"digest": _digest_of(code), "credential": credential.id, "person": person, "sealed": sealed}
    with database.write():
        database.run("team.add_code", {**row, "expires_at": now + CODE_SECONDS})
    return code


def join(database: Database, code: str, *, now: float) -> Joined:
    """Use a code up: the machine becomes a member."""
    with writing(database) as chain:
        row = database.row("team.use_code", {"digest": _digest_of(code), "now": now})
        if row is None:
            raise Refused("This code is unknown, used or expired. Ask an admin for a new one: `seasoned team invite`.")
        who = current(database, find(database, row["credential"]))
        token = Seal(sha256(code.encode()).digest()).open(who.id, bytes(row["sealed"])).decode()
        source, origin = _pseudonym(database, row["person"]), _pseudonym(database, who.id)
        machine = Machine(who.id, who.name, row["person"], source, origin)
        database.run("team.add_machine", {**msgspec.structs.asdict(machine), "now": now})
        chain.append("team_joined", {"machine": who.name, "person": row["person"]}, at=now, actor=who.name)
    return Joined(token, machine)


def member(database: Database, who: Credential) -> Machine:
    """The machine of a credential; Refused if it is not a member."""
    row = database.row("team.machine", {"credential": who.id})
    if row is None or row["left_at"] is not None:
        raise Refused(f"{who.name!r} is not a machine of the team. Join with a code: `seasoned team join`.")
    return Machine(who.id, row["name"], row["person"], row["source"], row["origin"])


def push(
    database: Database,
    machine: Machine,
    records: Sequence[TeamRecord],
    redactor: Redactor,
    *,
    shown_as: str | None,
    now: float,
) -> Pushed:
    """Store records; those that are there already with the same content change nothing."""
    if len(records) > MOST_RECORDS:
        raise UsageError(f"records: more than {MOST_RECORDS}. Push them in several steps.")
    if shown_as is not None and not _NAME.match(shown_as):
        raise UsageError("shown_as: use up to 64 letters, digits, spaces and . @ + -")
    refused: dict[int, str] = {}
    by_project: dict[str, list[tuple[int, TeamRecord]]] = {}
    for at, one in enumerate(records):
        if (reason := _refusal(one, redactor)) is not None:
            refused[at] = reason
        else:
            by_project.setdefault(one.project, []).append((at, one))
    changed = 0
    # One transaction for each project: others wait for its lock, and two pushes never wait for each other.
    for project, found in sorted(by_project.items()):
        with database.write():
            database.row("team.lock", {"project": project})
            for at, one in found:
                is_shared_experiment = project.startswith(experiment.PLACE)
                reason = experiment.refusal(database, machine.person, one) if is_shared_experiment else None
                if reason is not None:
                    refused[at] = reason
                elif database.run("team.push", record_row(machine.credential, one, now)):
                    changed += 1
                    if is_shared_experiment:
                        experiment.take_in(database, machine.origin, one, now=now)
    with database.write():
        database.run("team.note_push", {"credential": machine.credential, "shown_as": shown_as, "now": now})
    return Pushed(changed, refused)


def offered(database: Database) -> list[str]:
    """The experiments that machines of the team can take part in."""
    return [experiment.name_at(row["project"]) for row in database.rows("team.offered")]


def _refusal(record: TeamRecord, redactor: Redactor) -> str | None:
    """Why a record is not stored. A machine may have been changed, so nothing that it sends is trusted."""
    shapes = experiment.DOCUMENTS if record.project.startswith(experiment.PLACE) else DOCUMENTS
    if record.kind not in shapes or not _KEY.match(record.key):
        return "its kind or key is not valid"
    if not _PROJECT.match(record.project) or not is_shareable(record.project):
        return "its project is not the address of a repository"
    if record.document is None:
        return None
    if len(record.document) > MOST_DOCUMENT_BYTES:
        return f"it has more than {MOST_DOCUMENT_BYTES:,} bytes"
    try:
        text = bytes(record.document).decode()
        msgspec.json.decode(text, type=shapes[record.kind])
    except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError):
        return "it is not a valid document"
    if "\\u0000" in text:
        return "it contains a character that the database cannot store"
    return "it contains a secret" if redactor.find(text) else None


def pull(database: Database, machine: Machine, project: str, *, after: int, now: float) -> list[PulledRecord]:
    """What other machines pushed for a project after this number, in the order of the numbers; a page of it."""
    row = {"project": project, "after": after, "credential": machine.credential, "limit": MOST_RECORDS}
    found = [_pulled(machine, one) for one in database.rows("team.pull", row)]
    with database.write():
        database.run("team.note_pull", {"credential": machine.credential, "now": now})
    return found[: _page(found)]


def _page(found: Sequence[PulledRecord]) -> int:
    """How many records fit into one answer; one at least."""
    size = 0
    for at, one in enumerate(found):
        size += 200 + len(one.document or b"")
        if size > _MOST_PAGE_BYTES and at:
            return at
    return len(found)


def _pulled(machine: Machine, row: DatabaseRow) -> PulledRecord:
    document = row["document"]
    return PulledRecord(
        row["seq"],
        row["kind"],
        row["key"],
        row["at"],
        row["origin"],
        row["source"],
        row["source"] == machine.source,
        row["shown_as"],
        None if document is None else msgspec.Raw(document.encode()),
    )


def export(database: Database, person: str, *, after: int) -> list[dict[str, Any]]:
    """Everything that one person pushed, from all their machines; a page of it."""
    rows = database.rows("team.export", {"person": person, "after": after, "limit": MOST_RECORDS})
    found: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        size += 200 + len(row["document"])
        if size > _MOST_PAGE_BYTES and found:
            break
        found.append({**dict(row), "document": msgspec.Raw(row["document"].encode())})
    return found


def leave(database: Database, machine: Machine, *, withdraw: bool, by: str, now: float) -> int:
    """End a membership and its credential; returns how many records were withdrawn."""
    withdrawn = withdraw_all(database, machine.credential, now=now) if withdraw else 0
    with writing(database) as chain:
        database.run("team.note_leave", {"credential": machine.credential, "now": now})
        revoke_in(database, chain, machine.credential, proof=Proof(by), now=now)
        facts = {"machine": machine.name, "withdrawn": withdrawn}
        chain.append("team_left", facts, at=now, actor=by)
    return withdrawn


def remove(database: Database, name: str, *, by: str, now: float) -> int:
    """Remove a machine and everything that was learned from it, on all machines that pull; an admin does this."""
    row = database.row("team.machine_named", {"name": name})
    if row is None:
        raise NotFound(f"No machine {name!r} is in the team. `seasoned team machines` lists them.")
    machine = database.row("team.machine", {"credential": row["credential"]})
    assert machine is not None
    if row["credential"] == experiment.SERVER:
        # It has no credential to revoke: only its records are withdrawn.
        return withdraw_all(database, experiment.SERVER, now=now)
    found = Machine(row["credential"], name, machine["person"], machine["source"], machine["origin"])
    return leave(database, found, withdraw=True, by=by, now=now)


def withdraw_all(database: Database, credential: str, *, now: float) -> int:
    """Withdraw every record of a machine; those who pulled them remove them with their next pull."""
    withdrawn = 0
    machine = database.row("team.machine", {"credential": credential})
    for row in database.rows("team.projects_of", {"credential": credential}):
        with database.write():
            database.row("team.lock", {"project": row["project"]})
            key = {"credential": credential, "project": row["project"], "now": now}
            if machine is not None and row["project"].startswith(experiment.PLACE):
                for one in database.rows("team.keys_of", key):
                    gone = TeamRecord(row["project"], one["kind"], one["key"], None)
                    experiment.take_in(database, machine["origin"], gone, now=now)
            withdrawn += database.run("team.withdraw", key)
    return withdrawn


def retire(database: Database, keep_days: float, *, now: float) -> int:
    """Withdraw records of sessions that ended longer ago, some at a time; returns how many."""
    oldest = now - keep_days * _DAY_SECONDS
    by_project: dict[str, list[DatabaseRow]] = {}
    for row in database.rows("team.old_sessions", {"oldest": oldest, "limit": MOST_RECORDS}):
        by_project.setdefault(row["project"], []).append(row)
    withdrawn = 0
    for project, found in sorted(by_project.items()):
        with database.write():
            database.row("team.lock", {"project": project})
            for row in found:
                key = {"credential": row["credential"], "project": project, "key": row["key"]}
                withdrawn += database.run("team.withdraw_session", {**key, "now": now})
    return withdrawn


def counts_of(database: Database, machine: Machine) -> list[dict[str, Any]]:
    """How many records of this machine the server has, by project and kind."""
    rows = database.rows("team.counts_of", {"credential": machine.credential})
    return [dict(row) for row in rows if row["records"]]


def machines(database: Database) -> list[Volume]:
    """Every machine that ever joined, with how much it pushed."""
    return [Volume(**dict(row)) for row in database.rows("team.machines")]


def projects(database: Database) -> list[ProjectTotals]:
    """Every project of the team in numbers."""
    return [ProjectTotals(**dict(row)) for row in database.rows("team.projects")]


def lessons(database: Database, project: str) -> Lessons:
    """What the sessions of a project have shown, by the same rules as on every machine."""
    known = ProjectKnowledge(project)
    for row in database.rows("team.evidence", {"project": project, "most": MOST_OF_A_PERSON}):
        known.add(from_wire(msgspec.Raw(row["document"].encode()), person=row["source"], at=row["at"]))
    repairs = tuple((form, hint.text) for form, hint in known.failing_forms())
    return Lessons(len(known), known.sheet(), repairs)


def _digest_of(code: str) -> str:
    # A code has 192 random bits: a slow hash would add nothing.
    return sha256(b"digest " + code.encode("utf-8", "replace")).hexdigest()


def _pseudonym(database: Database, name: str) -> str:
    """A name that tells members apart and that no one can guess a person's name from."""
    database.run("team.make_key", {"value": secrets.token_hex(32)})
    row = database.row("team.key")
    assert row is not None
    return hmac.new(bytes.fromhex(row["value"]), name.encode(), blake2b).hexdigest()[:16]
