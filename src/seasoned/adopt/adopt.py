"""Takes over what the first version left: surveys all parts, takes over what is new, and undoes that."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from seasoned.adopt.parts import SURVEYS, undo_item
from seasoned.adopt.record import (
    AdoptContext,
    AdoptFinding,
    AdoptItem,
    AdoptRecord,
    TakenItem,
    drop_record,
    save_record,
)
from seasoned.confirm.audit.archive import archive_folder
from seasoned.errors import SeasonedError
from seasoned.review.journal import ChangeJournal
from seasoned.schedule.script import FOLDER
from seasoned.store import Database
from seasoned.template.library.storage import snapshot
from seasoned.template.library.upkeep import prove_imported


def survey(context: AdoptContext) -> list[AdoptFinding]:
    """Everything that the first version left, in order, with what will happen to it."""
    return [finding for part in SURVEYS for finding in part(context)]


def take_over(context: AdoptContext) -> list[AdoptItem]:
    """Take over everything that is new or changed; returns every item with what happened to it."""
    record = msgspec.structs.replace(context.record, folder=str(context.found.folder))
    record = msgspec.structs.replace(record, made_folders=_missing_folders(context, record))
    done: list[AdoptItem] = []
    for finding in survey(context):
        item = finding.item
        if finding.take is not None:
            try:
                taken, notes = finding.take()
            except SeasonedError as error:
                # One item that fails must not stop the others.
                item = msgspec.structs.replace(item, state="left out", notes=(*item.notes, str(error)))
            else:
                item = msgspec.structs.replace(item, notes=(*item.notes, *notes))
                record = record.with_item(taken)
                # Saved after each item, so that a killed run can be undone, and the next one goes on.
                save_record(context.home, record)
        done.append(item)
    prove_imported(context.store, snapshot(context.store, now=context.now), now=context.now)
    return done


def _missing_folders(context: AdoptContext, record: AdoptRecord) -> tuple[str, ...]:
    folders = (
        context.home / FOLDER,
        archive_folder(context.home),
        context.journal.memory_folder,
        context.journal.skill_folder,
    )
    new = [str(one) for one in folders if not one.exists() and str(one) not in record.made_folders]
    return (*record.made_folders, *new)


def undo(
    record: AdoptRecord, *, home: Path, journal: ChangeJournal, database: Database, now: float
) -> list[tuple[TakenItem, str]]:
    """Restore what was before, newest first; returns what had to stay, each with the reason."""
    stays: list[tuple[TakenItem, str]] = []
    left = record
    for taken in reversed(record.items):
        problem = undo_item(taken, home=home, journal=journal, database=database, now=now)
        if problem is not None:
            stays.append((taken, problem))
        left = msgspec.structs.replace(left, items=tuple(one for one in left.items if one != taken))
        save_record(home, left)
    for folder in reversed(record.made_folders):
        _remove_empty(Path(folder))
    drop_record(home)
    return stays


def _remove_empty(folder: Path) -> None:
    """Remove a folder that holds nothing but empty folders and the locks of files that are gone."""
    with suppress(OSError):
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir():
                path.rmdir()
            elif path.suffix == ".lock" and not path.with_suffix("").exists():
                path.unlink()
        folder.rmdir()
