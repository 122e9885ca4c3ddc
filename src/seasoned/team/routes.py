"""HTTP routes of the team's server. Each says who may call it; everything else is decided in `server`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Query
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.confirm.people.credential import Credential
from seasoned.confirm.request.book import Book
from seasoned.confirm.service.answer import say
from seasoned.confirm.service.body import read_json
from seasoned.confirm.service.routes import Who
from seasoned.confirm.service.service import ConfirmService, service_of
from seasoned.confirm.service.waiting import StoreThreads
from seasoned.errors import Refused
from seasoned.store import open_database
from seasoned.team import server
from seasoned.team.record import TeamRecord
from seasoned.team.server import Machine

router = APIRouter(prefix="/team", include_in_schema=False)
_THREADS = 4
_NULL = msgspec.Raw(b"null")


class JoinBody(msgspec.Struct, frozen=True):
    """The body of `POST /team/join`."""

    code: str


class PushBody(msgspec.Struct, frozen=True):
    """The body of `POST /team/push`."""

    records: tuple[PushedRecord, ...]
    shown_as: str | None = None


class PushedRecord(msgspec.Struct, frozen=True):
    """One record of a push."""

    project: str
    kind: str
    key: str
    document: msgspec.Raw = _NULL  # as it was sent, byte for byte; null for what is withdrawn


class LeaveBody(msgspec.Struct, frozen=True):
    """The body of `POST /team/leave`."""

    withdraw: bool = False


_join = msgspec.json.Decoder(JoinBody)
_push = msgspec.json.Decoder(PushBody)
_leave = msgspec.json.Decoder(LeaveBody)


def threads_for(service: ConfirmService) -> StoreThreads:
    """Connections of the team's routes: a large push must not keep a person who decides waiting."""
    return StoreThreads(
        lambda: open_database(service.config, durable=True, by_turns=True), service.make_book, readers=_THREADS
    )


def _threads(request: HTTPRequest) -> StoreThreads:
    found: StoreThreads = request.app.state.team
    return found


async def _member(request: HTTPRequest, who: Who) -> Machine:
    return await _threads(request).read(lambda book: server.member(book.database, who))


async def _admin(who: Who) -> Credential:
    if who.role != "admin":
        raise Refused("Only an admin may do this: ask one.")
    return who


Member = Annotated[Machine, Depends(_member)]
Admin = Annotated[Credential, Depends(_admin)]
Project = Annotated[str, Query(min_length=1, max_length=500)]
After = Annotated[int, Query(ge=0, le=2**62)]


@router.post("/join")
async def join(request: HTTPRequest) -> Response:
    """Use a code up and answer with the token of the machine. The code is the credential."""
    code, now = (await read_json(request, _join)).code, service_of(request).clock()
    joined = await _threads(request).read(lambda book: server.join(book.database, code, now=now))
    values = {"token": joined.token, **_shown(joined.machine)}
    return say("team-joined", values)


@router.post("/push")
async def push(request: HTTPRequest, machine: Member) -> Response:
    """Store records of the calling machine."""
    given, now = await read_json(request, _push), service_of(request).clock()
    records = [
        TeamRecord(one.project, one.kind, one.key, None if one.document == _NULL else one.document)
        for one in given.records
    ]

    keep_days = service_of(request).config.team.keep_days

    def store(book: Book) -> server.Pushed:
        done = server.push(book.database, machine, records, book.redactor, shown_as=given.shown_as, now=now)
        # Here and not by a clock: then no process has to be the one that does it.
        if keep_days is not None:
            server.retire(book.database, keep_days, now=now)
        return done

    pushed = await _threads(request).read(store)
    return say("team-pushed", {"changed": pushed.changed, "refused": pushed.refused})


@router.get("/pull")
async def pull(request: HTTPRequest, machine: Member, project: Project, after: After = 0) -> Response:
    """Records of other machines for one project, from a number on."""
    now = service_of(request).clock()
    found = await _threads(request).read(
        lambda book: server.pull(book.database, machine, project, after=after, now=now)
    )
    return say("team-pulled", {"records": found})


@router.get("/status")
async def status(request: HTTPRequest, machine: Member) -> Response:
    """What the server has of the calling machine, in numbers, and the experiments that it can take part in."""
    counts, names = await _threads(request).read(
        lambda book: (server.counts_of(book.database, machine), server.offered(book.database))
    )
    return say("team-status", {**_shown(machine), "stored": counts, "experiments": names})


@router.get("/export")
async def export(request: HTTPRequest, machine: Member, after: After = 0) -> Response:
    """Everything that the calling person pushed, from all their machines."""
    found = await _threads(request).read(lambda book: server.export(book.database, machine.person, after=after))
    return say("team-export", {"records": found})


@router.post("/leave")
async def leave(request: HTTPRequest, machine: Member) -> Response:
    """End the membership of the calling machine; with `withdraw`, what it pushed goes too."""
    given, now = await read_json(request, _leave), service_of(request).clock()
    withdrawn = await _threads(request).read(
        lambda book: server.leave(book.database, machine, withdraw=given.withdraw, by=machine.name, now=now)
    )
    return say("team-left", {"withdrawn": withdrawn})


@router.get("/projects")
async def projects(request: HTTPRequest, _: Member) -> Response:
    """The projects of the team in numbers, without names of people."""
    found = await _threads(request).read(lambda book: server.projects(book.database))
    return say("team-projects", {"projects": found})


@router.get("/lessons")
async def lessons(request: HTTPRequest, _: Member, project: Project) -> Response:
    """What the sessions of a project have shown, without names of people."""
    found = await _threads(request).read(lambda book: server.lessons(book.database, project))
    return say("team-lessons", {"project": project, **msgspec.structs.asdict(found)})


@router.get("/machines")
async def machines(request: HTTPRequest, _: Admin) -> Response:
    """Machines and volumes; nothing of what they pushed."""
    found = await _threads(request).read(lambda book: server.machines(book.database))
    return say("team-machines", {"machines": found})


@router.post("/machines/{name}/remove")
async def remove(request: HTTPRequest, who: Admin, name: str) -> Response:
    """Remove a machine and everything that was learned from it."""
    now = service_of(request).clock()
    removed = await _threads(request).read(lambda book: server.remove(book.database, name, by=who.name, now=now))
    return say("team-removed", {"machine": name, "withdrawn": removed})


def _shown(machine: Machine) -> dict[str, Any]:
    return {"machine": machine.name, "person": machine.person, "source": machine.source}
