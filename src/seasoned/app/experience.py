"""The experience of projects for every entry point: the sheet as a person sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from seasoned.command.written import purpose_of
from seasoned.insight.report import Tell, answer_in_process
from seasoned.lesson.ask import ExperienceLookup
from seasoned.lesson.lesson import Hint, Line, all_of, find_sheet, hint_text
from seasoned.lesson.storage import refresh
from seasoned.store import DatabaseRow, Store, open_store

_STEP_SECONDS = 1.0  # between two progress lines


class SheetEntry(msgspec.Struct, frozen=True):
    """One line of a sheet as a person sees it: whether it is shown now, why not, and where it comes from."""

    form: str
    text: str
    purpose: str
    state: str  # shown, pinned, dropped, contradicted, left out
    reason: str
    share: float | None
    conversations: int
    last: float | None
    sessions: tuple[str, ...]


class HintEntry(msgspec.Struct, frozen=True):
    """One hint that a call can get, and where it comes from."""

    text: str
    place: Literal["before", "after"]  # a call in a form that fails here, or a failure
    conversations: int
    last: float | None
    sessions: tuple[str, ...]
    form: str = ""  # the form that fails; only for a hint before a call, and never shown to a session


class SheetView(msgspec.Struct, frozen=True):
    """A project's sheet, the hints at calls, and what was left out."""

    project: str
    conversations: int
    text: str
    lines: tuple[SheetEntry, ...]
    hints: tuple[str, ...]
    at_calls: tuple[HintEntry, ...] = ()


def sheet_view(store: Store, project: str, folder: Path | None, *, refreshed: bool = True) -> SheetView:
    """What sessions of a project see at their start and at calls, with the evidence of each line.

    With `refreshed=False` it only looks up what the last scan left, which is quick.
    """
    if refreshed:
        refresh(store)
    where = None if folder is None else str(folder)
    lookup = ExperienceLookup(store, project, "", where)
    text, shown = lookup.sheet()
    stored = find_sheet(store, project, where)
    choices = {row["form"]: row for row in store.rows("lesson.choices", {"project": project})}
    kept = {line.form for line in shown}
    entries = [_entry(line, kept, choices, lookup) for line in (stored.lines if stored else ())]
    known = {one.form for one in entries}
    # Lines that a person pinned or dropped are listed too, even without evidence.
    for form, row in choices.items():
        if form not in known:
            line = Line(form, row["text"], purpose_of(form), 1.0, 0, 0.0)
            entries.append(_entry(line, kept, choices, lookup))
    hints = _hints(store, project)
    return SheetView(
        project,
        stored.conversations if stored else 0,
        text,
        tuple(entries),
        tuple(dict.fromkeys(one.text for one in hints)),
        hints,
    )


def _entry(line: Line, kept: set[str], choices: Mapping[str, DatabaseRow], lookup: ExperienceLookup) -> SheetEntry:
    choice = choices.get(line.form)
    why = lookup.contradiction(line.text)
    if choice is not None and choice["choice"] == "drop":
        state, reason = "dropped", "you dropped it"
    elif why is not None:
        state, reason = "contradicted", why
    elif choice is not None:
        state, reason = "pinned", "you pinned it"
    else:
        state, reason = ("shown", "") if line.form in kept else ("left out", "the sheet is full")
    share = line.share if line.lineages else None
    return SheetEntry(
        line.form, line.text, line.purpose, state, reason, share, line.lineages, line.last or None, line.sessions
    )


def _hints(store: Store, project: str) -> tuple[HintEntry, ...]:
    """The hints as hooks find them, those with most sessions first."""
    before = [_hint("before", hint, form) for form, hint in all_of(store, project, "before", Hint)]
    after = [_hint("after", hint) for _, hint in all_of(store, project, "after", Hint)]
    found: dict[str, HintEntry] = {}
    for one in sorted((*before, *after), key=lambda one: (-one.conversations, -(one.last or 0.0), one.text)):
        # The same words may answer several kinds of failure.
        found.setdefault(one.text, one)
    return tuple(found.values())


def _hint(place: Literal["before", "after"], hint: Hint, form: str = "") -> HintEntry:
    return HintEntry(hint_text(hint), place, hint.lineages, hint.last or None, hint.sessions, form)


def main(path: str, project: str | None = None) -> None:
    """Take in the sessions that no scan has taken in, and print progress lines, for the pages."""

    def take_in(tell: Tell) -> bytes:
        with open_store(Path(path)) as store:
            every = _waiting(store)
            while not refresh(store, within_seconds=_STEP_SECONDS):
                left = _waiting(store)
                # Changed rules may have queued more than there were.
                every = max(every, left)
                tell(every - left, every)
        return b"done"

    answer_in_process(take_in)


def _waiting(store: Store) -> int:
    row = store.row("lesson.count_waiting")
    return 0 if row is None else int(row["sessions"])
