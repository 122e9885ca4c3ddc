"""Opens memory and skills together with the store that records who changed what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seasoned.agent.memory.journal import ChangeJournal
from seasoned.app.stores import kept_secrecy
from seasoned.config import Config
from seasoned.store import Store, open_store


@contextmanager
def memory_and_skills(
    config: Config, *, memory: Path | None = None, skills: Path | None = None
) -> Iterator[ChangeJournal]:
    """The user's memory and skills, or those in other folders, with the store that records their changes."""
    with open_store(config.store_path) as store:
        yield memory_and_skills_in(config, store, memory=memory, skills=skills)


def memory_and_skills_in(
    config: Config, store: Store, *, memory: Path | None = None, skills: Path | None = None
) -> ChangeJournal:
    """The same where the store is open already."""
    return ChangeJournal(
        store=store,
        redactor=kept_secrecy(config).redactor(),
        home=config.home,
        memory_folder=memory or config.memory_folder,
        skill_folder=skills or config.skill_folder,
    )
