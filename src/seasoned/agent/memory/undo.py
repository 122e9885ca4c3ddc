"""A person's last word on what was learned: undo a change, accept or reject one that waits, forget."""

from __future__ import annotations

from pathlib import Path

from seasoned.agent.memory import memory_file
from seasoned.agent.memory.journal import Change, Journal, WriteReply, drop, find, mark, replies, taught_by
from seasoned.agent.skill import edit
from seasoned.errors import SeasonedError, UsageError


@replies
def undo(journal: Journal, change_id: int, *, decided_by: str = "person") -> WriteReply:
    """Take back a change that was made; what came after it stays."""
    return _undo(journal, find(journal.store, change_id), decided_by)[0]


def _undo(journal: Journal, change: Change, decided_by: str) -> tuple[WriteReply, Path | None]:
    """The reply, and where lies what the change had written."""
    if change.state != "kept":
        raise UsageError(f"Change {change.id} is {change.state}: only one that was kept can be undone.")
    aside = None
    if change.kind == "memory":
        said = memory_file.carry_out(journal, change, memory_file.reverse(change.edit)).said.removeprefix("Kept. ")
    else:
        aside = edit.revert(journal, change)
        said = f"{change.target}/{change.file} is as it was before."
    mark(journal.store, change.id, "undone", now=journal.clock(), decided_by=decided_by)
    return WriteReply("kept", f"Undone. {said}", change.id), aside


def forget(journal: Journal, *sessions: str) -> list[WriteReply]:
    """Take back all that sessions and their reviews taught, with every trace of it; replies say what could not be."""
    failed = []
    changes = {change.id: change for session in sessions for change in taught_by(journal.store, session)}
    taught = [changes[number] for number in sorted(changes, reverse=True)]
    asides = {Path(change.aside) for change in taught if change.aside}
    for change in taught:
        if change.state != "kept":
            continue
        try:
            aside = _undo(journal, change, "forget")[1]
        except SeasonedError as error:
            failed.append(WriteReply("refused", str(error), change.id))
        else:
            asides |= {aside} if aside else set()
    for path in asides:
        drop(path)
    with journal.store.write():
        for session in sessions:
            journal.store.run("learned.erase_before", {"session": session})
            journal.store.run("learned.forget_session", {"session": session})
    return failed


@replies
def accept(journal: Journal, change_id: int, *, decided_by: str = "person") -> WriteReply:
    """Make a change that waited."""
    change = _waiting(journal, change_id)
    if change.kind == "memory":
        reply = memory_file.carry_out(journal, change, change.edit)
    else:
        reply = edit.apply_change(journal, change)
    mark(journal.store, change_id, "kept", now=journal.clock(), decided_by=decided_by)
    return reply


@replies
def reject(journal: Journal, change_id: int, *, decided_by: str = "person") -> WriteReply:
    """Drop a change that waited; that it was proposed stays known."""
    _waiting(journal, change_id)
    mark(journal.store, change_id, "rejected", now=journal.clock(), decided_by=decided_by)
    return WriteReply("unchanged", f"Rejected change {change_id}: nothing was written.", change_id)


def _waiting(journal: Journal, change_id: int) -> Change:
    change = find(journal.store, change_id)
    if change.state != "staged":
        raise UsageError(f"Change {change_id} does not wait: it is {change.state}.")
    return change
