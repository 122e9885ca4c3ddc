"""The experience of projects for every entry point: the sheet, what a person decides about it, and the backtest."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from seasoned.backtest.conversation import conversations
from seasoned.backtest.figures import Backtest, figures
from seasoned.backtest.replay import Replayed, replay
from seasoned.command.written import written
from seasoned.errors import NotFound, UsageError
from seasoned.experience.ask import Asking
from seasoned.experience.knowledge import ProjectKnowledge
from seasoned.experience.lesson import Hint, Line
from seasoned.experience.lookup import find_sheet
from seasoned.experience.storage import knowledge_of, refresh
from seasoned.experience.tell import hint_text, line_text
from seasoned.insight.track import Track, tracks
from seasoned.store import DatabaseRow, Store

# Projects with fewer conversations say nothing about themselves: hardly anything was known.
FEWEST_CONVERSATIONS = 8


class SheetEntry(msgspec.Struct, frozen=True):
    """One line of a sheet as a person sees it: whether it is shown now, why not, and where it comes from."""

    form: str
    text: str
    purpose: str
    state: str  # shown, pinned, dropped, contradicted
    reason: str
    share: float | None
    conversations: int
    last: float | None
    sessions: tuple[str, ...]


class SheetView(msgspec.Struct, frozen=True):
    """A project's sheet, the hints at calls, and what was left out."""

    project: str
    conversations: int
    text: str
    lines: tuple[SheetEntry, ...]
    hints: tuple[str, ...]


def sheet_view(store: Store, project: str, folder: Path | None) -> SheetView:
    """What sessions of a project see at their start and at calls, with the evidence of each line."""
    refresh(store)
    where = None if folder is None else str(folder)
    asking = Asking(store, project, "", where)
    text, shown = asking.sheet()
    stored = find_sheet(store, project, where)
    choices = {row["form"]: row for row in store.rows("experience.choices", {"project": project})}
    kept = {line.form for line in shown}
    entries = [_entry(line, kept, choices, asking) for line in (stored.lines if stored else ())]
    entries += [_entry(line, kept, choices, asking) for line in shown if line.form not in {one.form for one in entries}]
    entries += [
        SheetEntry(form, row["text"], "", "dropped", "you dropped it", None, 0, None, ())
        for form, row in choices.items()
        if row["choice"] == "drop" and form not in {one.form for one in entries}
    ]
    known = knowledge_of(store, project)
    return SheetView(project, stored.conversations if stored else 0, text, tuple(entries), tuple(_hints(known)))


def _entry(line: Line, kept: set[str], choices: Mapping[str, DatabaseRow], asking: Asking) -> SheetEntry:
    choice = choices.get(line.form)
    why = asking.contradiction(line.text)
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


def _hints(known: ProjectKnowledge) -> Iterable[str]:
    seen: set[str] = set()
    hints: list[Hint] = [hint for _, hint in (*known.failing_forms(), *known.mistakes())]
    for hint in sorted(hints, key=lambda one: -one.lineages):
        text = hint_text(hint)
        if text not in seen:
            seen.add(text)
            yield text


def decide(store: Store, project: str, command: str, choice: str) -> str:
    """Pin or drop a line of the sheet, or undo that; returns its text."""
    parts = [one for one in written(command) if one.form]
    if len(parts) != 1:
        raise UsageError(f"{command!r} is not a single command. Give one line of the sheet, such as `make test`.")
    form = parts[0].form
    if choice == "undo":
        with store.write():
            if not store.run("experience.unchoose", {"project": project, "form": form}):
                raise NotFound(f"Nothing was decided about {command!r}. `seasoned sheet` shows what was.")
        return form
    if choice == "drop":
        stored = find_sheet(store, project, None)
        known = {line.form for line in stored.lines} if stored else set()
        if form not in known and not store.rows("experience.choices", {"project": project}):
            raise NotFound(f"The sheet has no line {command!r}. `seasoned sheet` shows its lines.")
    with store.write():
        store.run(
            "experience.choose",
            {"project": project, "form": form, "choice": choice, "text": command.strip(), "decided_at": time.time()},
        )
    return form


def run_backtest(
    store: Store, *, project: str | None = None, as_one: str | None = None, fewest: int = FEWEST_CONVERSATIONS
) -> tuple[Backtest, list[Replayed]]:
    """Replay the sessions of a store: of one project or of all, or as if all were one project of this name."""
    found: Iterable[Track] = tracks(store, project=project)
    if as_one is not None:
        found = [msgspec.structs.replace(track, project=as_one) for track in found]
    listed = list(found)
    placed = conversations(listed)
    left_out = len({track.root for track in listed}) - len(placed)
    replayed = replay(placed)
    return figures(replayed, fewest=fewest, left_out=left_out), replayed


def line_texts(lines: Iterable[Line]) -> list[str]:
    """The lines as a session reads them."""
    return [line_text(line) for line in lines]
