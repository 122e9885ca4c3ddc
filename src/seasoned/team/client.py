"""This machine's part: joins a team, pushes what the user allows, pulls what others learned, leaves.

The store is the truth. What the server has is kept as digests, so what has to be pushed is what differs: a push that is
killed at any moment is simply repeated, and the server recognises what it has already.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from itertools import chain
from typing import Any
from urllib.parse import quote

import msgspec

from seasoned.config import TeamSettings
from seasoned.confirm.client import CallFailed, parse_address, send
from seasoned.errors import CannotDo, NotFound, Refused, Unauthorised
from seasoned.experience.storage import refresh
from seasoned.redact.redactor import Redactor
from seasoned.store import Store
from seasoned.store.project import ProjectFinder
from seasoned.team.experiment import PLACE, experiment_records, forget_joined, place_of, take_in_here
from seasoned.team.record import (
    VERSION,
    TeamRecord,
    allowed_projects,
    from_wire,
    is_shareable,
    records_of,
    shareable_projects,
)

_ANSWER_SECONDS = 60.0
# A body may have a million bytes; a record has 400,000 at most.
_MOST_PUSH_BYTES = 500_000
_MOST_PUSH_RECORDS = 300
# So long after a session was learned from, that is surely visible to other connections.
_VISIBLE_SECONDS = 60.0


class Membership(msgspec.Struct, frozen=True):
    """The team that this machine belongs to."""

    url: str
    person: str
    machine: str
    source: str
    joined_at: float
    agreed_at: float | None
    settings: str
    learned_until: float
    pushed_at: float | None
    pulled_at: float | None
    problem: str | None


class PushReport(msgspec.Struct, frozen=True):
    """What a push did, and whether anything is left to push."""

    sent: int = 0
    withdrawn: int = 0
    refused: int = 0
    is_complete: bool = True


class PullReport(msgspec.Struct, frozen=True):
    """What a pull brought."""

    projects: int = 0
    sessions: int = 0
    withdrawn: int = 0
    is_complete: bool = True


class TeamClient:
    """The server of the team, as one machine reaches it."""

    def __init__(self, url: str, token: str | None, *, ca_file: str | None = None) -> None:
        self._address = msgspec.structs.replace(parse_address(url), ca_file=ca_file)
        self._token = token
        self.url = url

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer of the server; an error says what to do."""
        try:
            status, answer = send(self._address, method, path, token=self._token, body=body, timeout=_ANSWER_SECONDS)
        except CallFailed as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                hint = "If a CA of your own signed it, name its certificate as `ca_file` under [team] in config.toml."
                raise CannotDo(f"The certificate of {self.url} is not trusted here ({error}). {hint}") from error
            raise CannotDo(f"The team's server {self.url} cannot be reached ({error}). Try again later.") from error
        if status < 300:
            return answer
        text = str(answer.get("error", f"HTTP {status}"))
        if status == 401:
            raise Unauthorised(
                f"The team's server no longer accepts this machine ({text}). Join again with a new code."
            )
        if status in (403, 404, 409):
            raise Refused(f"The team's server refused: {text}")
        raise CannotDo(f"The team's server cannot do that now (HTTP {status}): {text}")

    def push(self, batch: Iterable[TeamRecord], *, shown_as: str | None) -> set[int]:
        """Send records; returns the places of those that the server refused. It has the others."""
        records = [
            {"project": one.project, "kind": one.kind, "key": one.key, "document": one.document} for one in batch
        ]
        answer = self.call("POST", "/team/push", {"records": records, "shown_as": shown_as})
        return {int(at) for at in answer.get("refused", {})}


def find_membership(store: Store) -> Membership | None:
    """The team of this machine; None if it has joined none."""
    row = store.row("membership.find")
    return None if row is None else Membership(**{name: row[name] for name in Membership.__struct_fields__})


def require_membership(store: Store) -> Membership:
    """The team of this machine."""
    found = find_membership(store)
    if found is None:
        raise NotFound("This machine is not in a team. Join one: `seasoned team join URL CODE`.")
    return found


def join(store: Store, url: str, code: str, *, now: float, ca_file: str | None = None) -> str:
    """Join with a code from an admin; returns the token of this machine, which the caller keeps."""
    if (found := find_membership(store)) is not None:
        raise Refused(f"This machine is in the team at {found.url} already. Leave it first: `seasoned team leave`.")
    answer = TeamClient(url, None, ca_file=ca_file).call("POST", "/team/join", {"code": code})
    row = {"url": url, "now": now, **{name: str(answer[name]) for name in ("person", "machine", "source")}}
    with store.write():
        store.run("membership.join", row)
    return str(answer["token"])


def waiting_records(store: Store, settings: TeamSettings, redactor: Redactor) -> Iterator[TeamRecord]:
    """What differs from what the server has: first what is withdrawn, then what is new or changed."""
    membership = find_membership(store)
    # All of them: they are few, and what is not among them is withdrawn.
    shared = list(experiment_records(store, settings, redactor, now=time.time()))
    yield from _withdrawn(store, settings, {(one.project, one.kind, one.key) for one in shared})
    is_same = membership is not None and membership.settings == settings_digest(settings)
    since = membership.learned_until if membership is not None and is_same else 0.0
    for one in chain(records_of(store, settings, redactor, since=since), shared):
        known = store.row("membership.pushed", {"project": one.project, "kind": one.kind, "key": one.key})
        if known is None or known["digest"] != one.digest:
            yield one


def _withdrawn(store: Store, settings: TeamSettings, shared: Set[tuple[str, str, str]]) -> Iterator[TeamRecord]:
    """Records of sessions that were forgotten or moved to another project, or whose project is no longer allowed."""
    allowed = set(allowed_projects(store, settings))
    for row in store.rows("membership.all_pushed"):
        agent, _, native_id = row["session"].partition(":")
        key = {"agent": agent, "native_id": native_id, "project": row["project"]}
        if row["project"].startswith(PLACE):
            is_gone = (row["project"], row["kind"], row["key"]) not in shared
        else:
            is_gone = row["project"] not in allowed or store.row("membership.is_in_project", key) is None
        if is_gone:
            yield TeamRecord(row["project"], row["kind"], row["key"], None, row["session"])


def settings_digest(settings: TeamSettings) -> str:
    """Identifies how records are made and which are."""
    return f"{VERSION} {msgspec.json.encode(settings).decode()}"


def push(
    store: Store,
    client: TeamClient,
    settings: TeamSettings,
    redactor: Redactor,
    *,
    within_seconds: float | None = None,
) -> PushReport:
    """Push everything that differs, in batches; each is kept as pushed once the server has it."""
    ends = None if within_seconds is None else time.monotonic() + within_seconds
    # Before anything is read: what is learned meanwhile is left to the next push.
    row = store.row("membership.last_learned")
    until = 0.0 if row is None or row["at"] is None else min(float(row["at"]), time.time() - _VISIBLE_SECONDS)
    sent = withdrawn = refused = 0
    for batch in batches(waiting_records(store, settings, redactor)):
        if ends is not None and time.monotonic() >= ends:
            return PushReport(sent, withdrawn, refused, is_complete=False)
        without = client.push(batch, shown_as=settings.name)
        _keep(store, batch, without)
        refused += len(without)
        withdrawn += sum(one.document is None for one in batch)
        sent += sum(one.document is not None for one in batch) - len(without)
    with store.write():
        done = {"now": time.time(), "settings": settings_digest(settings), "learned_until": until}
        store.run("membership.note_push", done)
    return PushReport(sent, withdrawn, refused)


def _keep(store: Store, batch: Iterable[TeamRecord], refused: set[int]) -> None:
    now = time.time()
    with store.write():
        for at, one in enumerate(batch):
            key = {"project": one.project, "kind": one.kind, "key": one.key}
            if one.document is None:
                store.run("membership.drop_pushed", key)
            else:
                # A refused record is kept too, so that it is not sent again until it changes.
                row = {**key, "session": one.session, "digest": one.digest, "is_refused": at in refused, "at": now}
                store.run("membership.keep_pushed", row)


def batches(records: Iterable[TeamRecord]) -> Iterator[list[TeamRecord]]:
    """The records in steps that the server takes."""
    batch: list[TeamRecord] = []
    size = 0
    for one in records:
        length = 300 + len(one.document or b"")
        if batch and (size + length > _MOST_PUSH_BYTES or len(batch) == _MOST_PUSH_RECORDS):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
    if batch:
        yield batch


class _Pulled(msgspec.Struct, frozen=True):
    """A record as the server answers it."""

    seq: int
    kind: str
    key: str
    at: float
    origin: str
    source: str
    is_own: bool
    document: Any = None


def pulled_projects(store: Store, settings: TeamSettings) -> list[str]:
    """The projects that this machine works in, and its experiments: those with sessions here or in the settings."""
    named = [one for one in settings.projects if one != "*" and is_shareable(one)]
    return sorted({*shareable_projects(store), *named}) + [place_of(one) for one in settings.experiments]


def pull(
    store: Store, client: TeamClient, projects: Iterable[str], *, within_seconds: float | None = None
) -> PullReport:
    """Bring what others learned in these projects up to date, and put together what follows from it."""
    ends = None if within_seconds is None else time.monotonic() + within_seconds
    targets = ProjectFinder(store)
    count = sessions = withdrawn = 0
    is_complete = True
    for project in projects:
        count += 1
        while ends is None or time.monotonic() < ends:
            row = store.row("membership.pulled_until", {"project": project})
            after = 0 if row is None else int(row["seq"])
            answer = client.call("GET", f"/team/pull?project={quote(project, safe='')}&after={after}")
            try:
                records = msgspec.convert(answer.get("records"), list[_Pulled])
            except msgspec.ValidationError as error:
                raise CannotDo(f"The team's server sent something other than records ({error}).") from error
            kept, gone = _take_in(store, project, targets.target(project), records)
            sessions, withdrawn = sessions + kept, withdrawn + gone
            if not records:
                break
        else:
            is_complete = False
            break
    with store.write():
        store.run("membership.note_pull", {"now": time.time()})
    refresh(store, within_seconds=within_seconds)
    return PullReport(count, sessions, withdrawn, is_complete)


def _take_in(store: Store, project: str, target: str, records: list[_Pulled]) -> tuple[int, int]:
    """Keep a page of records together with how far it goes, so that a page is never lost or taken in twice."""
    kept = gone = 0
    with store.together():
        for one in records:
            if project.startswith(PLACE):
                with suppress(msgspec.ValidationError):  # of a newer version
                    take_in_here(store, project, one.kind, one.key, one.document, now=time.time())
                continue
            if one.kind != "evidence":
                continue
            key = {"origin": one.origin, "project": target, "key": one.key}
            if one.document is None:
                gone += store.run("membership.drop_evidence", key)
                continue
            # Sessions of the user's other machines are the user's own.
            person = "" if one.is_own else one.source
            try:
                found = from_wire(msgspec.Raw(msgspec.json.encode(one.document)), person=person, at=one.at)
            except msgspec.DecodeError:
                continue  # of a newer version, or not evidence
            content = msgspec.json.encode(found)
            store.run("membership.keep_evidence", {**key, "person": one.source, "ended": found.end, "content": content})
            kept += 1
        if kept:
            store.run("experience.mark_stale", {"project": target})
        last = records[-1].seq if records else None
        if last is not None:
            store.run("membership.keep_pulled", {"project": project, "seq": last, "at": time.time()})
    return kept, gone


def leave(store: Store, client: TeamClient | None, *, withdraw: bool) -> int:
    """Leave the team; what was pulled goes. Returns how many records the server withdrew."""
    withdrawn = 0
    if client is not None:
        withdrawn = int(client.call("POST", "/team/leave", {"withdraw": withdraw}).get("withdrawn", 0))
    with store.together():
        forget_joined(store)
        for statement in ("forget_evidence", "forget_pulled", "forget_pushed", "leave"):
            store.run(f"membership.{statement}")
    refresh(store)
    return withdrawn
