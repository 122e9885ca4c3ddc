"""A person's last word on what was learned: undo a change, accept or reject one that waits, forget."""

from __future__ import annotations

from pathlib import Path

from seasoned.agent import memory, skill_writing
from seasoned.agent.desk import Desk
from seasoned.agent.keep_aside import drop
from seasoned.agent.provenance import Change, find, mark, taught_by
from seasoned.agent.reply import Reply, replies
from seasoned.errors import SeasonedError, UsageError


@replies
def undo(desk: Desk, change_id: int, *, decided_by: str = "person") -> Reply:
    """Take back a change that was made; what came after it stays."""
    return _undo(desk, find(desk.store, change_id), decided_by)[0]


def _undo(desk: Desk, change: Change, decided_by: str) -> tuple[Reply, Path | None]:
    """The reply, and where lies what the change had written."""
    if change.state != "kept":
        raise UsageError(f"Change {change.id} is {change.state}: only one that was kept can be undone.")
    aside = None
    if change.kind == "memory":
        said = memory.carry_out(desk, change, memory.reverse(change.edit)).said.removeprefix("Kept. ")
    else:
        aside = skill_writing.take_back(desk, change)
        said = f"{change.target}/{change.file} is as it was before."
    mark(desk.store, change.id, "undone", now=desk.clock(), decided_by=decided_by)
    return Reply("kept", f"Undone. {said}", change.id), aside


def forget(desk: Desk, *sessions: str) -> list[Reply]:
    """Take back all that sessions and their reviews taught, with every trace of it; replies say what could not be."""
    failed = []
    changes = {change.id: change for session in sessions for change in taught_by(desk.store, session)}
    taught = [changes[number] for number in sorted(changes, reverse=True)]
    asides = {Path(change.aside) for change in taught if change.aside}
    for change in taught:
        if change.state != "kept":
            continue
        try:
            aside = _undo(desk, change, "forget")[1]
        except SeasonedError as error:
            failed.append(Reply("refused", str(error), change.id))
        else:
            asides |= {aside} if aside else set()
    for path in asides:
        drop(path)
    with desk.store.write():
        for session in sessions:
            desk.store.run("learned.erase_before", {"session": session})
            desk.store.run("learned.forget_session", {"session": session})
    return failed


@replies
def accept(desk: Desk, change_id: int, *, decided_by: str = "person") -> Reply:
    """Make a change that waited."""
    change = _waiting(desk, change_id)
    if change.kind == "memory":
        reply = memory.carry_out(desk, change, change.edit)
    else:
        reply = skill_writing.carry_out(desk, change)
    mark(desk.store, change_id, "kept", now=desk.clock(), decided_by=decided_by)
    return reply


@replies
def reject(desk: Desk, change_id: int, *, decided_by: str = "person") -> Reply:
    """Drop a change that waited; that it was proposed stays known."""
    _waiting(desk, change_id)
    mark(desk.store, change_id, "rejected", now=desk.clock(), decided_by=decided_by)
    return Reply("unchanged", f"Rejected change {change_id}: nothing was written.", change_id)


def _waiting(desk: Desk, change_id: int) -> Change:
    change = find(desk.store, change_id)
    if change.state != "staged":
        raise UsageError(f"Change {change_id} does not wait: it is {change.state}.")
    return change
