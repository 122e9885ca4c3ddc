"""The store as a hook opens it: once, and until its process ends."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from seasoned.store import Store, open_store

# About 0.8 MB. Whoever opens the store next reads what is in its log, so hooks keep that short.
_MOST_PAGES = 200
_OPENED: list[Store] = []
# The transactions of a process that holds its changes back.
_HELD: list[ExitStack] = []


def open_until_exit(path: Path) -> Store:
    """Open the store and leave it open.

    Closing the last connection copies the log into the file and waits for the disk, 10 to 25 ms for which the agent
    would wait too. What is committed is safe in the log, and the next program that closes the store copies it.
    """
    # An answer has several parts, and each would open it again.
    known = next((one for one in _OPENED if one.path == str(path)), None)
    if known is not None:
        return known
    store = open_store(path)
    store.connection.execute(f"PRAGMA wal_autocheckpoint = {_MOST_PAGES}")
    _OPENED.append(store)  # a store without a reference is closed
    for held in _HELD:
        held.enter_context(store.held())
    return store


def hold_back() -> None:
    """From now on nothing is written before `settle`."""
    _HELD.append(ExitStack())


def settle(*, keep: bool) -> None:
    """Write what was held back, or forget it, and close the store."""
    if keep:
        for held in _HELD:
            held.close()
    for store in _OPENED:
        store.close()  # what is not committed by now is forgotten
    _OPENED.clear()


def close_unwritten() -> None:
    """Close what needs no copying: where nothing is in the log, that takes 0.3 ms and leaves no log files behind."""
    for store in _OPENED:
        try:
            is_empty = Path(f"{store.path}-wal").stat().st_size == 0
        except OSError:
            is_empty = False  # another program is just closing it
        if is_empty:
            store.close()
