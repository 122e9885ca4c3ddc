"""What is kept for each project: its notes and its skills, in the order of the projects' names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from seasoned.agent.memory.journal import Change, folder_key
from seasoned.agent.skill.library import Skill, skills
from seasoned.errors import CannotDo, UsageError
from seasoned.experience.memory_file import LIMITS, PROJECTS, SKILLS, MemoryFile, project_folder, read
from seasoned.project import name_of
from seasoned.store import Store

_MOST_PROJECTS = 10_000


class KeptForProject(msgspec.Struct, frozen=True):
    """The notes and skills of one project. Its key is None if no session of it is known any more."""

    key: str | None
    name: str
    folder: Path
    notes: MemoryFile
    skills: tuple[Skill, ...]
    problem: str = ""

    def holds(self, folder: str) -> bool:
        """Whether a folder of the journal is that of this project or of its skills."""
        return folder in (folder_key(self.folder), folder_key(self.folder / SKILLS))


def kept_for_projects(store: Store, home: Path, waiting: Sequence[Change] = ()) -> list[KeptForProject]:
    """Every project for which something is kept, or waits to be."""
    top = home / PROJECTS
    try:
        folders = {one for one in top.iterdir() if one.is_dir()}
    except FileNotFoundError:
        folders = set()
    # The folder of a project is made when something is kept there.
    places = [Path(one.folder) for one in waiting]
    folders |= {top / one.relative_to(top.resolve()).parts[0] for one in places if top.resolve() in one.parents}
    # A folder is named by a digest, so what it belongs to is known from the projects.
    keys = [row["project"] for row in store.rows("project.keys", {"limit": _MOST_PROJECTS})]
    keys += [row["key"] for row in store.rows("project.merges")]
    known = {project_folder(home, key).name: key for key in keys}
    found = [_kept(folder, known.get(folder.name)) for folder in folders]
    return sorted(found, key=lambda one: (one.name.lower(), one.folder.name))


def _kept(folder: Path, key: str | None) -> KeptForProject:
    notes = read(folder, "notes", limit=LIMITS["notes"])
    name = folder.name.rpartition("-")[0] if key is None else name_of(key)
    try:
        return KeptForProject(key, name, folder, notes, tuple(skills(folder / SKILLS)))
    except (CannotDo, UsageError) as error:
        return KeptForProject(key, name, folder, notes, (), str(error))
