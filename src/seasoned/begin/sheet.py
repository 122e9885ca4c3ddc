"""What a session in a project begins with: the project sheet, as text that stays the same while it lives."""

from __future__ import annotations

from collections.abc import Iterable

from seasoned.begin.settings import BeginSettings
from seasoned.digest import short_digest
from seasoned.errors import StoreError
from seasoned.experience.ask import asking_for
from seasoned.experience.lesson import Line
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS
from seasoned.store import Store
from seasoned.template.library.storage import WarmBlock, find_block, keep_block

# The name under which sheets are kept among the blocks of templates. A template cannot have it: it has a slash.
_NAME = "project/sheet"


def begin_with_sheet(
    store: Store, session_id: str, folder: str | None, settings: BeginSettings, *, now: float
) -> bytes | None:
    """What a session begins with where neither a template nor an experiment decides.

    `warm_start.begin` gives the same, but imports all that templates need, for which a hook has no time.
    """
    if not settings.tells("start"):
        return None
    block, is_new = ensure_sheet(store, session_id, folder, now=now)
    if is_new and find_block(store, session_id, "text") is None:
        raise StoreError("The sheet could not be kept, so nothing is shown: a resumed session would begin otherwise.")
    return None if block is None else block.content


def ensure_sheet(
    store: Store, session_id: str, folder: str | None, *, now: float
) -> tuple[WarmBlock, bool] | tuple[None, bool]:
    """The sheet of a conversation, and whether it is new: made at its start and kept. Nothing known gives None."""
    known = find_block(store, session_id, "text")
    if known is not None:
        return known, False
    asking = asking_for(store, session_id, folder)
    text, lines = ("", ()) if asking is None else asking.sheet()
    if asking is None or not text:
        return None, False
    kept = _kept(store, session_id, text, line_ids(lines), now)
    asking.once("start", text)
    return kept, True


def line_ids(lines: Iterable[Line]) -> tuple[str, ...]:
    """The names under which experiments log lines of a sheet; the same line has the same name in every session."""
    return tuple(f"sheet:{short_digest(line.form)}" for line in lines)


def sheet_ids(store: Store, session_id: str, folder: str | None) -> tuple[str, ...]:
    """What a session would be shown at its start; nothing is kept."""
    asking = asking_for(store, session_id, folder)
    return () if asking is None else line_ids(asking.sheet()[1])


def _kept(store: Store, session_id: str, text: str, ids: tuple[str, ...], now: float) -> WarmBlock:
    name = short_digest(text)
    content = f"{BLOCK_OPENS}v1 {_NAME}@1 {name}]\n{text}\n{BLOCK_ENDS}".encode()
    return keep_block(store, WarmBlock(session_id, "text", "guidance", _NAME, 1, ids, content, name, now))
