"""The rules that the index of `recall` was filled with. Separate from filling it, so that a lookup loads little."""

from __future__ import annotations

from seasoned.store import Store
from seasoned.template.example import digest

# Raise it when the stored data changes: all sessions are read again then.
_VERSION = "7"


def rules() -> str:
    """The version of what decides which calls are kept. What may be shown is decided at the lookup."""
    return digest(_VERSION)


def has_rules(store: Store) -> bool:
    """Whether the index was filled with the rules of this version."""
    known = store.row("recall.rules")
    return known is not None and known["digest"] == rules()


def follow_rules(store: Store) -> None:
    """Queue all sessions again: the rules of what may be shown have changed. Call it inside a transaction."""
    store.run("recall.wait_all")
    store.run("recall.set_rules", {"digest": rules()})
