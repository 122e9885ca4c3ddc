"""Whether the store knows all that its sessions show. Apart from learning it, so that a lookup loads only this."""

from __future__ import annotations

from seasoned.store import Store
from seasoned.template.recall import rules as recall_rules

# Raise it when evidence is read differently, or other knowledge follows from it: then all sessions are read again.
VERSION = "10"


def has_rules(store: Store) -> bool:
    """Whether the evidence in the store was read with the rules of this version."""
    known = store.row("experience.rules")
    return known is not None and known["digest"] == VERSION


def follow_rules(store: Store) -> None:
    """Queue all sessions again: the rules have changed since the last time. Call it inside a transaction."""
    store.run("recall.wait_all")
    store.run("experience.set_rules", {"digest": VERSION})


def is_behind(store: Store) -> bool:
    """Whether sessions changed that `refresh` has not taken in yet. Cheap, and changes nothing."""
    if not has_rules(store) or not recall_rules.has_rules(store):
        return True
    return bool(store.rows("recall.waiting", {"limit": 1}) or store.rows("experience.stale"))
