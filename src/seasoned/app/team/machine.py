"""The team of this machine: join it, push and pull, by hand and in the background, leave it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from seasoned.app.stores import kept_secrecy
from seasoned.app.team.background import token_file
from seasoned.atomic_write import write_atomic
from seasoned.background import lower_priority
from seasoned.config import Config, command_environment, load, secret
from seasoned.errors import CannotDo, SeasonedError, UsageError
from seasoned.file_lock import locked
from seasoned.redact.redactor import Redactor
from seasoned.store import Store, open_store
from seasoned.team import client as team
from seasoned.team.client import Membership, PullReport, PushReport, TeamClient
from seasoned.team.experiment import experiment_records
from seasoned.team.record import TeamRecord
from seasoned.team.record import shareable_projects as shareable_projects_in

_PREVIEW = "team-preview.jsonl"
# One round in the background: what is left then waits for the next end of a session.
_ROUND_SECONDS = 120.0
_FORGET_SECONDS = 30.0


class TeamStatus(msgspec.Struct, frozen=True):
    """How this machine stands with its team. What the server says is None if it cannot be reached."""

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
    """The team of this machine, for what is pushed from elsewhere than the store; at this address, if one is given."""
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
    """Push what differs; from now on that happens by itself too."""
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


# -- in the background ------------------------------------------------------------------------------------------------


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
        # Of several that wait one is enough: it begins when the one at work has ended.
        with locked(config.home / "team-next.lock", wait_seconds=0.0):
            sync(config)
    except CannotDo:
        return


if __name__ == "__main__":
    main()
