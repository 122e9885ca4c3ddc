"""Pushes what was mined to the team's server: the records that a scan and a push of the same files would send.

What the server has is kept in the mined folder, beside the tables, so that any run sends only what differs, and
withdraws what is no longer there or no longer allowed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from seasoned.app.team import record_line, team_at
from seasoned.config import Config
from seasoned.digest import short_digest
from seasoned.experience.storage import refresh
from seasoned.mine.folder import MinedFolder
from seasoned.mine.read import read_rules
from seasoned.mine.run import take_up
from seasoned.project import is_path, project_of
from seasoned.redact.redactor import Redactor
from seasoned.store import Store, open_store
from seasoned.team.client import Membership, batches, settings_digest
from seasoned.team.record import TeamRecord, is_shareable, records_of

_PUSHED = "_pushed"  # readers of Parquet leave out names that begin with a line
_Key = tuple[str, str, str]  # of a record: project, kind, key
Send = Callable[[list[TeamRecord]], set[int]]


class MinedPush(msgspec.Struct, frozen=True):
    """What was pushed of a mined folder."""

    projects: int  # that had anything to push
    unchanged: int  # projects
    not_shared: int  # projects without the address of a repository, or that the settings do not allow
    outdated: int  # projects mined by another version of Seasoned
    sent: int  # records
    withdrawn: int
    refused: int


class _PushedProject(msgspec.Struct, frozen=True):
    """What the server has of a mined project."""

    state: str  # of the project and the settings when it was pushed; empty if the push did not finish
    records: list[tuple[str, str, str, str]] = []  # project, kind, key, digest; without a digest it may have been sent


_decode = msgspec.json.Decoder(_PushedProject).decode


def push_mined(config: Config, out: str, url: str, *, preview: Path | None = None) -> MinedPush:
    """Push what a mined folder holds of the projects that the user shares; or write to a file what would be sent."""
    folder = MinedFolder(out)
    with team_at(config, url, to_push=preview is None) as (membership, client, redactor):
        pusher = _MinedPusher(config, folder, membership, redactor)
        if preview is None:
            return pusher.run(lambda batch: client.push(batch, shown_as=config.team.name))
        with open(preview, "wb", opener=_open_private) as file:

            def write(batch: list[TeamRecord]) -> set[int]:
                file.writelines(map(record_line, batch))
                return set()

            return pusher.run(write, keep=False)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def withdraw_mined(config: Config, out: str, keys: Collection[str] | None) -> None:
    """Have the team's server forget sessions of a mined folder, by the keys of their records; without keys, all."""
    folder = MinedFolder(out)
    if not folder.names(_PUSHED):
        return
    with team_at(config, None, to_push=True) as (membership, client, redactor):
        _MinedPusher(config, folder, membership, redactor).withdraw(
            lambda batch: client.push(batch, shown_as=config.team.name), keys
        )


class _MinedPusher:
    """Pushes one project after the other, each through a temporary store, so that only one is in memory."""

    def __init__(self, config: Config, folder: MinedFolder, membership: Membership, redactor: Redactor) -> None:
        self._config = config
        self._folder = folder
        self._redactor = redactor
        # After joining again this is another machine to the server, which has pushed nothing yet.
        self._place = f"{_PUSHED}/{short_digest(membership.machine, repr(membership.joined_at))}"
        self.sent = self.withdrawn = self.refused = 0

    def run(self, send: Send, *, keep: bool = True) -> MinedPush:
        rules: dict[str, set[str]] = {}
        for row in self._folder.sources().select(["projects", "rules"]).to_pylist():
            for project in row["projects"]:
                rules.setdefault(project or "", set()).add(row["rules"])
        projects = unchanged = not_shared = outdated = 0
        names = {f"{self._place}/{short_digest(project, size=12)}.json": project for project in sorted(rules)}
        # What is no longer there at all is not shared either.
        for name in (*names, *sorted(set(self._folder.names(self._place)) - set(names))):
            project = names.get(name, "")
            content = self._folder.read(name)
            before = _PushedProject("") if content is None else _decode(content)
            is_shared = self._is_shared(project)
            state = self._state(project) if is_shared else ""
            if not is_shared and not before.records:
                not_shared += 1
            elif is_shared and rules[project] != {read_rules()}:
                # Half of a project would withdraw the other half.
                outdated += 1
            elif is_shared and state == before.state:
                unchanged += 1
            else:
                projects += 1
                self._push(project if is_shared else None, name, before, state, send, keep=keep)
        return MinedPush(projects, unchanged, not_shared, outdated, self.sent, self.withdrawn, self.refused)

    def withdraw(self, send: Send, keys: Collection[str] | None) -> None:
        for name in self._folder.names(self._place):
            records = _decode(self._folder.read(name) or b"").records
            gone = [one for one in records if keys is None or one[2] in keys]
            for batch in batches(TeamRecord(project, kind, key, None) for project, kind, key, _ in gone):
                send(batch)
            if gone:
                self._keep(name, "", {one[:3]: one[3] for one in records if one not in gone})

    def _is_shared(self, project: str) -> bool:
        # Histories that record no address are known by their folder; what the store makes of that, decides.
        known = project_of(project) if is_path(project) else None
        key = project if known is None else known.key
        allowed = self._config.team.projects
        return bool(project) and is_shareable(key) and (key in allowed or "*" in allowed)

    def _state(self, project: str) -> str:
        """Changes when the sessions of a project do, or what may leave this machine."""
        settings = settings_digest(self._config.team)
        return short_digest(self._folder.sessions_digest(project), settings, size=16)

    def _push(
        self, project: str | None, name: str, before: _PushedProject, state: str, send: Send, *, keep: bool
    ) -> None:
        known: dict[_Key, str] = {one[:3]: one[3] for one in before.records}
        with self._records(project) as records:
            wanted = {_key(one): one.digest for one in records()}
            if keep:
                # Before anything is sent: what a killed run sent must be withdrawn too when it is forgotten.
                self._keep(name, "", {**known, **{key: "" for key in wanted if wanted[key] != known.get(key)}})
            for batch in batches(_differing(known, wanted, records())):
                refused = send(batch)
                withdrawn = sum(one.document is None for one in batch)
                self.refused += len(refused)
                self.withdrawn += withdrawn
                self.sent += len(batch) - withdrawn - len(refused)
        if keep:
            # A refused record is kept too, so that it is not sent again until it changes.
            self._keep(name, state, wanted)

    def _keep(self, name: str, state: str, records: dict[_Key, str]) -> None:
        listed = [(*key, digest) for key, digest in sorted(records.items())]
        self._folder.write(name, msgspec.json.encode(_PushedProject(state, listed)))

    @contextmanager
    def _records(self, project: str | None) -> Iterator[Callable[[], Iterator[TeamRecord]]]:
        """Makes the records of a mined project, as often as asked; none without a project."""
        if project is None:
            yield lambda: iter(())
            return
        with (
            tempfile.TemporaryDirectory(prefix="seasoned-push-") as place,
            open_store(Path(place) / "project.db") as store,
        ):
            take_up(self._folder, store, only=project)
            refresh(store)
            yield lambda: self._records_in(store)

    def _records_in(self, store: Store) -> Iterator[TeamRecord]:
        return records_of(store, self._config.team, self._redactor)


def _key(record: TeamRecord) -> _Key:
    return record.project, record.kind, record.key


def _differing(known: dict[_Key, str], wanted: dict[_Key, str], records: Iterator[TeamRecord]) -> Iterator[TeamRecord]:
    """What has to be withdrawn, then what is new or changed."""
    for project, kind, key in sorted(set(known) - set(wanted)):
        yield TeamRecord(project, kind, key, None)
    for one in records:
        if known.get(_key(one)) != one.digest:
            yield one
