"""The team: join it from this machine, push and pull, leave it; on its server, invite machines and advise."""

from __future__ import annotations

import re
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.app.confirm import Ask, open_book, require_book
from seasoned.app.stores import kept_secrecy, shared_database, token_file
from seasoned.atomic_write import write_atomic
from seasoned.background import lower_priority
from seasoned.config import Config, command_environment, load, secret
from seasoned.errors import CannotDo, SeasonedError, UsageError
from seasoned.file_lock import locked
from seasoned.redact.redactor import Redactor
from seasoned.store import Database, Store, open_store
from seasoned.team import client as team
from seasoned.team.client import Membership, PullReport, PushReport, TeamClient
from seasoned.team.experiment import experiment_records
from seasoned.team.record import TeamRecord
from seasoned.team.record import shareable_projects as shareable_projects_in

if TYPE_CHECKING:
    from seasoned.advise.advice import Advice

_PREVIEW = "team-preview.jsonl"
# One round in the background: what is left then waits for the next end of a session.
_ROUND_SECONDS = 120.0
_FORGET_SECONDS = 30.0


class TeamStatus(msgspec.Struct, frozen=True):
    """The membership of this machine, and what it has to push. What the server says is None if it cannot be reached."""

    membership: Membership
    waiting: int  # records that have to be pushed or withdrawn
    pushed: list[dict[str, Any]]
    pulled: list[dict[str, Any]]
    stored: list[dict[str, Any]] | None
    problem: str | None
    notes: list[str] = []  # what cannot be shared, and why
    experiments: list[str] | None = None  # those of the team that this machine does not take part in


class Preview(msgspec.Struct, frozen=True):
    """What a push would send, written to a file."""

    file: Path
    records: int
    withdrawn: int
    bytes: int


def join(config: Config, url: str, code: str, projects: tuple[str, ...]) -> Membership:
    """Join a team. Nothing is pushed before the user has agreed to it."""
    file = token_file(config)
    if projects and config.team.projects != projects:
        _check_no_section(config)
    with open_store(config.store_path) as store:
        token = team.join(store, url, code, now=time.time(), ca_file=config.team.ca_file)
        _write(config, file, token.encode() + b"\n")
        if projects and config.team.projects != projects:
            _write_projects(config, projects)
        return team.require_membership(store)


def _write(config: Config, file: Path, data: bytes) -> None:
    write_atomic(file, data, unfinished=config.home / "unfinished")


def _check_no_section(config: Config) -> None:
    if config.team.projects or config.origins.get("team", "default") != "default":
        raise UsageError(
            f"{str(config.home / 'config.toml')!r} has a section [team] already. Name the projects there, and join"
            " without --project."
        )


def _write_projects(config: Config, projects: tuple[str, ...]) -> None:
    """Add the section [team] at the end of config.toml; what is there stays as it is."""
    file = config.home / "config.toml"
    before = file.read_text("utf-8") if file.exists() else ""
    named = ", ".join(msgspec.json.encode(one).decode() for one in projects)
    gap = "\n" if before and not before.endswith("\n\n") else ""
    _write(config, file, f"{before}{gap}[team]\nprojects = [{named}]\n".encode())


def shareable_projects(config: Config) -> list[str]:
    """The projects with sessions here that have the address of a repository."""
    with open_store(config.store_path) as store:
        return shareable_projects_in(store)


@contextmanager
def _connected(config: Config) -> Iterator[tuple[Store, Membership, TeamClient]]:
    with open_store(config.store_path) as store:
        membership = team.require_membership(store)
        token = secret(token_file(config).name, config.home)
        if token is None:
            raise CannotDo(f"The token of this machine is missing in {str(token_file(config))!r}.")
        yield store, membership, TeamClient(membership.url, token, ca_file=config.team.ca_file)


@contextmanager
def team_at(config: Config, url: str | None, *, to_push: bool) -> Iterator[tuple[Membership, TeamClient, Redactor]]:
    """This machine's team, to push something that is not in the store; UsageError if it is not at `url`."""
    with _connected(config) as (_, membership, client):
        if url is not None and membership.url.rstrip("/") != url.rstrip("/"):
            raise UsageError(f"This machine is in the team at {membership.url}, not in one at {url}.")
        if to_push and membership.agreed_at is None:
            raise CannotDo(
                "Nothing is pushed before you have agreed to it. --preview shows what would leave this machine; "
                "`seasoned team push` asks you. Then try again."
            )
        yield membership, client, _redactor(config)


def _redactor(config: Config) -> Redactor:
    return kept_secrecy(config).redactor()


def preview(config: Config, file: Path | None = None) -> Preview:
    """Write exactly what the next push would send to a file, one record a line."""
    file = file or config.home / _PREVIEW
    lines, records, withdrawn = [], 0, 0
    with open_store(config.store_path) as store:
        for one in team.waiting_records(store, config.team, _redactor(config)):
            records, withdrawn = records + (one.document is not None), withdrawn + (one.document is None)
            lines.append(record_line(one))
    content = b"".join(lines)
    _write(config, file, content)
    return Preview(file, records, withdrawn, len(content))


def record_line(record: TeamRecord) -> bytes:
    """A record as a preview shows it."""
    shown = {"project": record.project, "kind": record.kind, "key": record.key, "document": record.document}
    return msgspec.json.encode(shown) + b"\n"


def has_agreed(config: Config) -> bool:
    """Whether the user has agreed to pushing."""
    with open_store(config.store_path) as store:
        return team.require_membership(store).agreed_at is not None


def push(config: Config, *, within_seconds: float | None = None) -> PushReport:
    """Push what differs; from now on that also happens in the background."""
    with _one_at_a_time(config), _connected(config) as (store, _, client):
        with store.write():
            store.run("membership.agree", {"now": time.time()})
        return team.push(store, client, config.team, _redactor(config), within_seconds=within_seconds)


def pull(config: Config, projects: tuple[str, ...] = (), *, within_seconds: float | None = None) -> PullReport:
    """Pull what others learned in these projects, or in all that this machine works in."""
    with _one_at_a_time(config), _connected(config) as (store, _, client):
        wanted = projects or team.pulled_projects(store, config.team)
        return team.pull(store, client, wanted, within_seconds=within_seconds)


def status(config: Config) -> TeamStatus:
    """How this machine stands with its team."""
    stored, offered, problem = None, None, None
    notes: list[str] = []
    with open_store(config.store_path) as store:
        membership = team.require_membership(store)
        waiting = sum(1 for _ in team.waiting_records(store, config.team, _redactor(config)))
        # They are made to see which cannot be.
        list(experiment_records(store, config.team, _redactor(config), now=time.time(), notes=notes))
        pushed = [dict(zip(row.keys(), row, strict=True)) for row in store.rows("membership.count_pushed")]
        pulled = [dict(zip(row.keys(), row, strict=True)) for row in store.rows("membership.count_evidence")]
    try:
        with _connected(config) as (_, _, client):
            answer = client.call("GET", "/team/status")
            stored = answer.get("stored")
            offered = [one for one in answer.get("experiments", []) if one not in config.team.experiments]
    except SeasonedError as error:
        problem = str(error)
    return TeamStatus(membership, waiting, pushed, pulled, stored, problem or membership.problem, notes, offered)


def export(config: Config, file: Path) -> int:
    """Write everything that the server has of this person to a file, one record a line; returns how many."""
    after, lines = 0, []
    with _connected(config) as (_, _, client):
        while page := client.call("GET", f"/team/export?after={after}")["records"]:
            lines += [msgspec.json.encode(one) for one in page]
            after = page[-1]["seq"]
    _write(config, file, b"\n".join([*lines, b""]))
    return len(lines)


def leave(config: Config, *, withdraw: bool, is_gone: bool = False) -> int:
    """Leave the team; `is_gone`: the server no longer exists, so only this machine forgets it."""
    with _one_at_a_time(config), _connected(config) as (store, _, client):
        withdrawn = team.leave(store, None if is_gone else client, withdraw=withdraw)
    token_file(config).unlink(missing_ok=True)
    return withdrawn


def withdraw_forgotten(config: Config) -> list[str]:
    """Have the server forget what was forgotten here; sentences about what it still has."""
    if not token_file(config).exists():
        return []
    try:
        if has_agreed(config):
            push(config, within_seconds=_FORGET_SECONDS)
    except SeasonedError as error:
        return [f"Records on the team's server, until the next push. {error}"]
    return []


@contextmanager
def _one_at_a_time(config: Config) -> Iterator[None]:
    """Two pushes at once would send everything twice, which is harmless and slow."""
    with locked(config.home / "team.lock", wait_seconds=_ROUND_SECONDS):
        yield


_NOT_IN_A_NAME = re.compile(r"[^a-z0-9._@+-]+")


def _require_server(config: Config) -> None:
    require_book()
    if not config.database_url:
        raise UsageError(
            "The server of a team needs PostgreSQL. Set SEASONED_DATABASE_URL and run this where `seasoned serve` runs."
        )


def invite(config: Config, person: str, *, admin: str | None, ask: Ask) -> tuple[str, str]:
    """A code with which a machine of this person can join, and the name that the machine will have."""
    _require_server(config)
    with open_book(config) as book:
        # Imported here, as below: their libraries come with an extra.
        from seasoned.app import people
        from seasoned.team.server import keep_code

        short = _NOT_IN_A_NAME.sub("-", person.lower()).strip("-.") or "member"
        name = f"team.{short[:40]}.{secrets.token_hex(3)}"
        made = people.make(config, book, name, "agent", person=None, admin=admin, ask=ask, ask_new=ask)
        return keep_code(book.database, made.credential, made.token, person, now=book.clock()), name


def machines(config: Config) -> list[dict[str, Any]]:
    """Every machine of the team with how much it pushed."""
    _require_server(config)
    from seasoned.team import server

    with shared_database(config) as database:
        return [msgspec.structs.asdict(one) for one in server.machines(database)]


def remove(config: Config, machine: str, *, by: str) -> int:
    """Remove a machine and everything that was learned from it; returns how many records that were."""
    _require_server(config)
    from seasoned.team import server

    with shared_database(config, durable=True) as database:
        return server.remove(database, machine, by=by, now=time.time())


_FEWEST_PEOPLE = 2  # that something must happen to before the team is advised
_PEOPLE = ("person", "people")


class TeamAdvice(msgspec.Struct, frozen=True):
    """What is worth doing in a project, and what it rests on."""

    project: str
    what: str
    line: str  # for the instructions of the project; empty if the step is another one
    why: str
    people: int
    calls: int


def team_advice(database: Database, redactor: Redactor) -> list[TeamAdvice]:
    """What is worth doing in the projects of a team: what `seasoned advise` finds, counted by person."""
    # Imported here, as below: only the server advises.
    from seasoned.advise.view import evidence_text, may_be_told
    from seasoned.team.server import projects

    found: list[Advice] = []
    for known in projects(database):
        if known.people >= _FEWEST_PEOPLE:
            found += _in_project(database, known.project)
    return [
        TeamAdvice(
            one.project or "",
            one.sentence,
            one.step.text if one.step.kind == "instruction" and one.step.text != one.sentence else "",
            evidence_text(one, _PEOPLE),
            one.evidence.sessions,
            one.evidence.calls,
        )
        for one in sorted(found, key=lambda one: (-one.saves, one.id))
        if one.evidence.sessions >= _FEWEST_PEOPLE and _is_for_all(one) and may_be_told(redactor, one)
    ]


def _in_project(database: Database, project: str) -> list[Advice]:
    from seasoned.advise.gather import ProjectSessions
    from seasoned.team.overview import tracks

    one = ProjectSessions(project)
    ended: dict[str, float] = {}
    for track in tracks(database, project):
        # Every person is one lineage: what a rule asks of several sessions, it asks of several people.
        one.add(track)
        ended[str(track.ref)] = track.ended or track.started or 0.0
    return list(one.advice(ended=ended))


def _is_for_all(advice: Advice) -> bool:
    """Whether it names nothing of one machine: home folders were replaced before they were pushed."""
    return "~" not in advice.sentence + advice.step.text


def sync(config: Config, *, within_seconds: float = _ROUND_SECONDS) -> None:
    """One round: push what the user agreed to, then pull. A problem is kept for `status`."""
    try:
        if has_agreed(config):
            push(config, within_seconds=within_seconds)
        pull(config, within_seconds=within_seconds)
    except SeasonedError as error:
        with open_store(config.store_path) as store, store.write():
            store.run("membership.note_problem", {"problem": str(error)})


def main() -> None:
    """Run one round; if another one runs, it takes what there is."""
    lower_priority()
    config = load({**command_environment(), "SEASONED_HOME": sys.argv[1]})
    try:
        # One process that waits is enough: it starts when the running one has ended.
        with locked(config.home / "team-next.lock", wait_seconds=0.0):
            sync(config)
    except CannotDo:
        return


if __name__ == "__main__":
    main()
