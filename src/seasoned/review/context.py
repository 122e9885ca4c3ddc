"""What every tool call gets: folders, store, and who writes on whose behalf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from seasoned.config import Config
from seasoned.confirm.request.request import NewRequest
from seasoned.experience.memory import project_folder
from seasoned.redact.key import Secrecy
from seasoned.review.journal import Actor, ChangeJournal, Origin, Provenance
from seasoned.review.overlap import ForeignTexts
from seasoned.store import open_store


class JobScheduler(Protocol):
    """Jobs as an agent sees them. Every method answers with plain values, or raises a SeasonedError."""

    def jobs(self) -> list[dict[str, Any]]:
        """Every job, with its next time."""
        ...

    def add(
        self, *, name: str, schedule: str, prompt: str, zone: str, delivery: str | None, skills: Sequence[str]
    ) -> dict[str, Any]:
        """A new job, with its next times."""
        ...

    def set_paused(self, name: str, *, is_paused: bool) -> dict[str, Any]: ...

    def remove(self, name: str) -> dict[str, Any]: ...

    def history(self, name: str) -> list[dict[str, Any]]:
        """Its last runs, the newest first."""
        ...


@dataclass(frozen=True, kw_only=True)
class Context:
    """One turn of one session. A fork has its own context, so that what it writes names its author."""

    home: Path
    secrecy: Secrecy
    memory_folder: Path
    skill_folder: Path
    actor: Actor = "agent"
    origin: Origin = "chat"
    # `agent:native id`.
    session: str | None = None
    parent: str | None = None
    # The first session of the lineage, which the warm block and the arm belong to.
    root: str | None = None
    platform: str | None = "cli"
    # Where the session works; None if it has no folder.
    folder: str | None = None
    # The key of its project, whose notes and skills it reads and writes; None if it has none.
    project: str | None = None
    task: str | None = None
    # Writes of memory and skills wait until a person accepts them.
    staging: bool = False
    # For a review: the texts of the session, and whether everything waits if the session read web pages.
    foreign: ForeignTexts | None = None
    stage_pages: bool = True
    allow_person_skills: bool = False
    # For tools that ask the confirmation service.
    config: Config | None = None
    # Schedules jobs; None if this session may not.
    jobs: JobScheduler | None = None
    # What this conversation asked a person for, by request id: only that can be carried out.
    asked: dict[str, NewRequest] = field(default_factory=dict, compare=False)
    # Set when the turn ends: running commands stop with it.
    stopping: Event = field(default_factory=Event)

    @property
    def project_folder(self) -> Path | None:
        """Where notes and skills of its project are."""
        return None if self.project is None else project_folder(self.home, self.project)

    def for_turn(self, *, session: str, parent: str | None, task: str) -> Context:
        """A copy for another turn, with its own signal to stop."""
        return replace(self, session=session, parent=parent, task=task, stopping=Event())

    def provenance(self, *, tool: str, call_id: str | None) -> Provenance:
        return Provenance(
            actor=self.actor,
            origin=self.origin,
            session=self.session,
            parent=self.parent,
            platform=self.platform,
            tool=tool,
            call_id=call_id,
            task=self.task,
        )

    @contextmanager
    def journal(self, *, skill_folder: Path | None = None) -> Iterator[ChangeJournal]:
        """A journal with its own connection to the store, since tools run in several threads."""
        with open_store(self.home / "seasoned.db") as store:
            yield ChangeJournal(
                store=store,
                redactor=self.secrecy.redactor(),
                home=self.home,
                memory_folder=self.memory_folder,
                skill_folder=skill_folder or self.skill_folder,
                notes_folder=self.project_folder,
                staging=self.staging,
                foreign=self.foreign,
                stage_pages=self.stage_pages,
                allow_person_skills=self.allow_person_skills,
            )
