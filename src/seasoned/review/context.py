"""What a tool of memory or skills gets with every call: folders, store, and who writes on whose behalf."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from seasoned.experience.memory import project_folder
from seasoned.redact.key import Secrecy
from seasoned.review.journal import Actor, ChangeJournal, Origin, Provenance
from seasoned.review.overlap import ForeignTexts
from seasoned.store import open_store


@dataclass(frozen=True, kw_only=True)
class Context:
    """One session. A review has its own context, so that what it writes names its author."""

    home: Path
    secrecy: Secrecy
    memory_folder: Path
    skill_folder: Path
    actor: Actor = "review"
    origin: Origin = "review"
    # `agent:native id`.
    session: str | None = None
    parent: str | None = None
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

    @property
    def project_folder(self) -> Path | None:
        """Where notes and skills of its project are."""
        return None if self.project is None else project_folder(self.home, self.project)

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
