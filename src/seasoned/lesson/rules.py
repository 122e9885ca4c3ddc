"""Whether the store knows all that its sessions show. Apart from learning it, so that a lookup loads only this."""

from __future__ import annotations

from seasoned.store import Store

# Raise it when evidence is read differently, or other lessons follow from it: then all sessions are read again.
VERSION = "21"


def has_rules(store: Store) -> bool:
    """Whether the evidence in the store was read with the rules of this version."""
    known = store.row("lesson.rules")
    return known is not None and known["digest"] == VERSION


def follow_rules(store: Store) -> None:
    """Queue all sessions again: the rules have changed since the last time. Call it inside a transaction."""
    store.run("lesson.wait_all")
    store.run("lesson.set_rules", {"digest": VERSION})


def is_behind(store: Store) -> bool:
    """Whether sessions changed that `refresh` has not taken in yet. Cheap, and changes nothing."""
    if not has_rules(store):
        return True
    return bool(store.rows("lesson.waiting", {"limit": 1}) or store.rows("lesson.stale"))
