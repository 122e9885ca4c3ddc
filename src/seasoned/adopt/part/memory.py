"""The memory of Hermes: entries that our memory does not have yet are added, as far as there is room."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from seasoned.adopt.context import AdoptContext
from seasoned.adopt.record import (
    AdoptFinding,
    AdoptItem,
    TakenItem,
    keep_contents,
    kept_contents,
    read_bytes,
)
from seasoned.agent.memory.journal import ChangeJournal, Provenance, find, preview
from seasoned.agent.memory.memory_file import add
from seasoned.agent.memory.undo import undo as undo_change
from seasoned.atomic_write import digest
from seasoned.experience.memory_file import FILES, MemoryFile, MemoryName, read
from seasoned.text import plural

BY = Provenance(actor="person", origin="import", platform="cli")


def survey(context: AdoptContext) -> list[AdoptFinding]:
    """Both files, if Hermes has them."""
    folder = context.found.memory
    if folder is None:
        return []
    return [_finding(context, folder, which) for which in FILES if (folder / FILES[which]).is_file()]


def _finding(context: AdoptContext, folder: Path, which: MemoryName) -> AdoptFinding:
    theirs = read(folder, which, limit=context.journal.limit(which))
    source = str(theirs.path)
    if folder.resolve() == context.journal.memory_folder.resolve():
        return AdoptFinding(
            AdoptItem("memory", FILES[which], source, "taken", ("Both programs share this file already.",))
        )
    if theirs.problem is not None:
        why = f"It is damaged: {theirs.problem}. Fix it and try again."
        return AdoptFinding(AdoptItem("memory", FILES[which], source, "left out", (why,)))
    known = context.record.find("memory", source)
    if known is not None and known.digest == digest(theirs.raw):
        return AdoptFinding(AdoptItem("memory", FILES[which], source, "taken"))
    ours = read(context.journal.memory_folder, which, limit=context.journal.limit(which))
    news = [entry for entry in theirs.entries if entry not in ours.entries]
    if not news:
        return AdoptFinding(AdoptItem("memory", FILES[which], source, "taken", ("All its entries are here already.",)))
    notes = (f"{plural(len(news), 'entry', 'entries')}.",)
    item = AdoptItem("memory", FILES[which], source, "new" if known is None else "changed", notes)
    return AdoptFinding(item, partial(_take, context, theirs, news, known))


def _take(
    context: AdoptContext, theirs: MemoryFile, news: list[str], known: TakenItem | None
) -> tuple[TakenItem, tuple[str, ...]]:
    which = theirs.which
    ours = read_bytes(context.journal.memory_folder / FILES[which])
    # The journal undoes entries; the exact bytes of the file are kept beside it, for its blanks and line ends.
    before = known.detail["before"] if known is not None else keep_contents(context.home, ours)
    replies = [(entry, add(context.journal, which, entry, by=BY)) for entry in news]
    changes = [reply.change for _, reply in replies if reply.state == "kept"]
    refused = [f"Left out {preview(entry)!r}: {reply.said}" for entry, reply in replies if not reply.ok]
    detail = {
        "which": which,
        "before": before,
        "changes": [*(known.detail["changes"] if known is not None else ()), *changes],
    }
    return TakenItem("memory", FILES[which], str(theirs.path), digest(theirs.raw), detail), tuple(refused)


def undo(journal: ChangeJournal, home: Path, taken: TakenItem) -> str | None:
    """Remove the entries that were added; where nothing else changed, the file is as it was to the byte."""
    problems = undo_changes(journal, taken.detail["changes"])
    which: MemoryName = taken.detail["which"]
    path = journal.memory_folder / FILES[which]
    before = kept_contents(home, taken.detail["before"])
    with journal.memory_lock(journal.memory_folder, which):
        now = read(journal.memory_folder, which, limit=journal.limit(which))
        if before is None:
            if not now.entries and now.problem is None:
                path.unlink(missing_ok=True)
        elif now.problem is None and now.raw != before and now.entries == _entries(before):
            journal.write_file(path, before)
    return problems


def _entries(data: bytes) -> tuple[str, ...]:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return tuple(entry for part in text.split("\n§\n") if (entry := part.strip()))


def undo_changes(journal: ChangeJournal, changes: list[int]) -> str | None:
    """Undo changes of the journal, newest first; a sentence about those that could not be undone."""
    problems = []
    for number in reversed(changes):
        change = find(journal.store, number)
        if change.state != "kept":
            continue
        reply = undo_change(journal, number, decided_by="adopt")
        if not reply.ok:
            problems.append(reply.said)
    return " ".join(problems) or None
