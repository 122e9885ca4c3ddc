"""What the first version left in a folder of Hermes, and where an adoption puts it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from seasoned.adopt.record import AdoptRecord
from seasoned.agent.memory.journal import ChangeJournal
from seasoned.errors import NotFound
from seasoned.redact.redactor import Redactor
from seasoned.store import Database, Store

TEMPLATE_FOLDERS = ("warm_sessions", "session-templates", "session_templates")
# Where the confirmation daemon kept its audit; `--db-path` could name another file of the folder.
_AUDITS = ("confirmation*.db", "confirm_audit*.db")
_DEPTH = 4


class FirstVersion(msgspec.Struct, frozen=True):
    """The files of the first version in one folder."""

    folder: Path
    templates: tuple[Path, ...] = ()
    jobs: Path | None = None
    scripts: tuple[Path, ...] = ()  # relative to `folder/scripts`
    memory: Path | None = None
    skills: Path | None = None
    audits: tuple[Path, ...] = ()

    @property
    def script_folder(self) -> Path:
        return self.folder / "scripts"


def find(folder: Path) -> FirstVersion:
    """Everything of the first version in a folder such as `~/.hermes`; NotFound if there is nothing."""
    found = FirstVersion(
        folder,
        tuple(path for name in TEMPLATE_FOLDERS for path in sorted((folder / name).glob("*.json")) if path.is_file()),
        path if (path := folder / "cron" / "jobs.json").is_file() else None,
        tuple(sorted(_files(folder / "scripts"))),
        path if any((path := folder / "memories").glob("*.md")) else None,
        path if (path := folder / "skills").is_dir() else None,
        tuple(dict.fromkeys(path for name in _AUDITS for path in sorted(folder.glob(name)) if path.is_file())),
    )
    if not any((found.templates, found.jobs, found.scripts, found.memory, found.skills, found.audits)):
        places = ", ".join((*TEMPLATE_FOLDERS[:2], "cron/jobs.json", "memories", "skills", "confirmation_audit.db"))
        raise NotFound(f"Nothing to take over in {str(folder)!r}. Give the folder that holds {places}.")
    return found


def _files(folder: Path) -> Iterator[Path]:
    """The ordinary files below a folder; links and hidden files are left out."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        deep = len(here.relative_to(folder).parts) >= _DEPTH
        folders[:] = [] if deep else sorted(one for one in folders if not one.startswith((".", "__")))
        for name in names:
            path = here / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path.relative_to(folder)


@dataclass(frozen=True, kw_only=True)
class AdoptContext:
    """The files of the first version, and where they go."""

    found: FirstVersion
    record: AdoptRecord
    home: Path
    store: Store
    database: Database  # of the jobs
    journal: ChangeJournal
    redactor: Redactor
    zone: str  # what the cron expressions of Hermes mean
    now: float
