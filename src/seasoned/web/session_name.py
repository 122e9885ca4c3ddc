"""What a session is called in a list: by its title, else by how it began, else by its id."""

from __future__ import annotations

from seasoned.store import DatabaseRow, Store
from seasoned.web.link import session_link
from seasoned.web.table import Cell
from seasoned.web.value import short


def name_cell(row: DatabaseRow, store: Store | None) -> Cell:
    """The name of a session, which leads to it. Without a store nobody looks how it began: files show ids alone."""
    ref = f"{row['agent']}:{row['native_id']}"
    if row["title"]:
        return Cell(ref, short(row["title"]), session_link(ref))
    began = None if store is None else opening(store, row["id"])
    if began is None:
        return Cell(ref, short(row["native_id"]), session_link(ref))
    return Cell(ref, short(began), session_link(ref), beside=row["native_id"])


def opening(store: Store, session_id: int) -> str | None:
    """What its first call was for, where that stands at the beginning: there it is what the user asked for first."""
    row = store.row("page.opening", {"session_id": session_id})
    return None if row is None else str(row["intent"]).strip() or None


def cell_of_ref(ref: str, store: Store) -> Cell:
    """The same for a session of which only the name is known; it need not be in the store."""
    agent, _, native_id = ref.partition(":")
    row = store.row("page.named", {"agent": agent, "native_id": native_id})
    name = None if row is None else row["title"] or opening(store, row["id"])
    return Cell(ref, href=session_link(ref)) if name is None else Cell(ref, short(name), session_link(ref), beside=ref)
