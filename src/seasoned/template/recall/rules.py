"""With which rules the index of `recall` was filled. Apart from filling it, so that a lookup loads only this."""

from __future__ import annotations

from pathlib import Path

from seasoned.command.rows import COMPILED
from seasoned.store import Store
from seasoned.template.admission.hostile import phrases_text
from seasoned.template.example import digest

# Raise it when what is stored changes: then all sessions are read again.
_VERSION = "5"


def rules() -> str:
    """What decides which calls are kept, as a digest."""
    return digest(_VERSION, phrases_text(), Path(COMPILED).read_text(encoding="utf-8"))


def has_rules(store: Store) -> bool:
    """Whether what is kept was found with the rules of this version."""
    known = store.row("recall.rules")
    return known is not None and known["digest"] == rules()


def follow_rules(store: Store) -> None:
    """Queue all sessions again: the rules of what may be shown have changed. Call it inside a transaction."""
    store.run("recall.wait_all")
    store.run("recall.set_rules", {"digest": rules()})
