"""Sessions and calls as a scan would store them, as far as experiments read them."""

from __future__ import annotations

from seasoned.store import Store


def add_session(store: Store, name: str, *, root: int | None = None, relation: str | None = None) -> int:
    """Store a session without calls; returns its row."""
    agent, _, native_id = name.partition(":")
    found = store.connection.execute(
        "INSERT INTO session (agent, native_id, root_id, relation) VALUES (?, ?, ?, ?)",
        (agent, native_id, root, relation),
    )
    assert found.lastrowid is not None
    return found.lastrowid


def add_call(
    store: Store, session: int, number: int, counts_as: str, time: float, *, tool: str = "t", copy_of: int | None = None
) -> None:
    """Store a call of a session with what it counts as."""
    store.connection.execute(
        "INSERT INTO call (session_id, call_id, position, message, tool, kind, counts_as, arguments, time, place,"
        " verdict, evidence, fault, reason, judge, unique_id, copy_of) VALUES"
        " (?, ?, ?, 0, ?, 'file', ?, '{}', ?, 0, 'ok', 'flag', 'none', '', '1', 1, ?)",
        (session, f"{session}-{number}", number, tool, counts_as, time, copy_of),
    )
