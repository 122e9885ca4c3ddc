"""Undo a change, accept or reject one that waits, and forget what sessions taught."""

from __future__ import annotations

from pathlib import Path

from seasoned.errors import SeasonedError, UsageError
from seasoned.review import memory_file, skill_edit
from seasoned.review.journal import Change, ChangeJournal, WriteReply, drop, find, replies, taught_by


@replies
def undo(journal: ChangeJournal, change_id: int, *, decided_by: str = "person") -> WriteReply:
    """Undo a change and keep later ones; the reply says if that is not possible."""
    return _undo(journal, find(journal.store, change_id), decided_by)[0]


def _undo(journal: ChangeJournal, change: Change, decided_by: str) -> tuple[WriteReply, Path | None]:
    """The reply, and where the text that the change had written was moved to."""
    if change.state != "kept":
        raise UsageError(f"Change {change.id} is {change.state}: only a kept change can be undone.")
    aside = None
    if change.kind == "memory":
        said = memory_file.apply_edit(journal, change, memory_file.reverse(change.edit)).said.removeprefix("Kept. ")
    else:
        aside = skill_edit.revert(journal, change)
        said = f"{change.target}/{change.file} is as it was before."
    journal.mark(change.id, "undone", decided_by=decided_by)
    return WriteReply("kept", f"Undone. {said}", change.id), aside


def forget(journal: ChangeJournal, *sessions: str) -> list[WriteReply]:
    """Undo everything that sessions and their reviews taught, and erase it; the replies say what could not be undone.

    Text that was changed later by someone else stays: it is no longer what the session wrote.
    """
    failed = []
    changes = {change.id: change for session in sessions for change in taught_by(journal.store, session)}
    # Backwards, since each undo expects the text that its change left behind.
    newest_first = [changes[number] for number in sorted(changes, reverse=True)]
    asides = {Path(change.aside) for change in newest_first if change.aside}
    for change in newest_first:
        if change.state != "kept":
            continue
        try:
            aside = _undo(journal, change, "forget")[1]
        except SeasonedError as error:
            failed.append(WriteReply("refused", str(error), change.id))
        else:
            asides |= {aside} if aside else set()
    # Later sessions were shown it: the record of that, and the text that waits for the next one, must not keep it.
    with journal.store.write():
        journal.store.run("receipt.drop_all_memory")
        for change in newest_first:
            if change.kind == "memory" and change.after:
                journal.store.run("receipt.forget_memory", {"text": change.after})
    # Undoing keeps a copy of what it removes; forgetting must not.
    for path in asides:
        drop(path)
    with journal.store.write():
        for session in sessions:
            journal.store.run("learned.erase_before", {"session": session})
            journal.store.run("learned.forget_session", {"session": session})
    return failed


@replies
def accept(journal: ChangeJournal, change_id: int, *, decided_by: str = "person") -> WriteReply:
    """Make a change that waits for a person."""
    change = _waiting(journal, change_id)
    if change.kind == "memory":
        reply = memory_file.apply_edit(journal, change, change.edit)
    else:
        reply = skill_edit.apply_change(journal, change)
    journal.mark(change_id, "kept", decided_by=decided_by)
    return reply


@replies
def reject(journal: ChangeJournal, change_id: int, *, decided_by: str = "person") -> WriteReply:
    """Drop a change that waits; the journal still shows that it was proposed."""
    _waiting(journal, change_id)
    journal.mark(change_id, "rejected", decided_by=decided_by)
    return WriteReply("unchanged", f"Rejected change {change_id}: nothing was written.", change_id)


def _waiting(journal: ChangeJournal, change_id: int) -> Change:
    change = find(journal.store, change_id)
    if change.state != "staged":
        raise UsageError(f"Change {change_id} is not pending: it is {change.state}.")
    return change
