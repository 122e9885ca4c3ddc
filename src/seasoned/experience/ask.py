"""What to tell a conversation at its start, at its first prompt and at its calls. Every entry point asks here.

Each thing is shown once in a conversation. What a person dropped is never shown, what a person pinned always is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.command.tool import command_of, tool_of
from seasoned.command.translate import argument, own_name
from seasoned.command.written import purpose_of, written
from seasoned.digest import short_digest
from seasoned.experience.kind import explains_itself, inside, is_working, kind_of_failure
from seasoned.experience.lesson import EVERYWHERE, MOST_COMMANDS, Hint, Line, Way
from seasoned.experience.lookup import StoredPath, StoredSheet, find, find_hint, find_sheet, kind_key
from seasoned.experience.tell import hint_text, line_text, sheet_text
from seasoned.session import ToolCall
from seasoned.store import Store
from seasoned.store.project import ProjectFinder

Place = Literal["start", "prompt", "before", "after"]


class Asking(msgspec.Struct, frozen=True):
    """One conversation that asks: its project, and the folder it works in."""

    store: Store
    project: str
    conversation: str
    folder: str | None = None

    def sheet(self) -> tuple[str, tuple[Line, ...]]:
        """The sheet and its lines; empty where nothing is known or nothing is left after the checks."""
        stored = find_sheet(self.store, self.project, self.folder) or StoredSheet((), 0)
        lines = chosen_lines(self.store, self.project, stored.lines)
        kept = tuple(line for line in lines if self.contradiction(line.text) is None)
        return sheet_text(kept, stored.conversations), kept

    def first_prompt(self, prompt: str) -> str:
        """The commands that the first prompt asks for and that its sheet did not show; empty for nothing."""
        # Imported here: only prompts need it.
        from seasoned.experience.first_prompt import MOST_ITEMS, purposes_in

        asked = purposes_in(prompt)
        shown = {line.purpose for line in self.sheet()[1]} if asked and self._saw_sheet() else set()
        found = []
        for purpose in asked:
            line = find(self.store, self.project, "purpose", purpose, Line) if purpose not in shown else None
            if line is not None and self.contradiction(line.text) is None:
                found.append(line)
        found = list(chosen_lines(self.store, self.project, found, pins=False))[:MOST_ITEMS]
        return "\n".join(f"In this project: {line_text(line)}." for line in found)

    def before(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """What works here instead of a call that is about to be made; empty for nothing."""
        command = command_of(ToolCall("", tool, dict(arguments)))
        if not command or len(command) > 4000:
            return ""
        for one in written(command):
            if is_working(one):
                hint = find_hint(self.store, self.project, "before", one.form)
                if hint is not None and self.contradiction(hint.text) is None:
                    return hint_text(hint)
        return ""

    def after(self, tool: str, arguments: Mapping[str, Any], error: str) -> str:
        """What repaired a failure of this kind in this project; empty for nothing."""
        if explains_itself(error):
            return ""
        call = ToolCall("", tool, dict(arguments))
        kind = kind_of_failure(tool, command_of(call), error)
        given = argument(arguments, "path")
        path = (inside(given, self.folder) or given) if isinstance(given, str) and given else ""
        hint = find_hint(self.store, self.project, "after", kind_key(kind))
        if hint is None and path and tool_of(tool).form in ("file_read", "search"):
            hint = self._moved(path)
        if hint is None or (hint.way.kind == "form" and self.contradiction(hint.text) is not None):
            return ""
        named = own_name(tool, arguments, "all") if hint.way == EVERYWHERE else None
        return "" if hint.way == EVERYWHERE and named is None else hint_text(hint, path, named or "")

    def once(self, place: Place, text: str, *, call_id: str = "") -> bool:
        """Whether this conversation has not seen it yet; remembers that it sees it now, behind this call if any."""
        # What was shown before a call is not repeated after it, though the count of sessions in brackets may differ.
        told = text.rpartition(" (")[0] or text if place in ("before", "after") else text
        values = {"conversation": self.conversation, "project": self.project, "place": place, "text": text}
        values["call_id"] = call_id
        with self.store.write():
            return bool(
                self.store.run("experience.tell", {**values, "digest": short_digest(told), "told_at": time.time()})
            )

    def _saw_sheet(self) -> bool:
        """Whether the conversation began with the sheet: it may be switched off, and some agents have none."""
        told = self.store.rows("experience.told", {"conversation": self.conversation})
        return any(row["place"] == "start" for row in told)

    def _moved(self, path: str) -> Hint | None:
        """Where the file is that a call did not find, if sessions know only one of its name and it is there."""
        name = path.rsplit("/", 1)[-1]
        known = find(self.store, self.project, "file", name, StoredPath) if name else None
        if known is None or known.path == path:
            return None
        if self.folder is not None and Path(self.folder).is_dir() and not (Path(self.folder) / known.path).exists():
            return None
        return Hint(Way("path", known.path), known.path, 1, 0.0)

    def contradiction(self, command: str) -> str | None:
        """Why the tree speaks against a command; None where it does not, or is not here."""
        folder = Path(self.folder) if self.folder else None
        if folder is None or not folder.is_dir():
            return None
        from seasoned.experience.tree import contradiction

        return contradiction(command.removesuffix(" …"), folder)


def asking_for(store: Store, conversation: str, folder: str | None) -> Asking | None:
    """A conversation in a folder, ready to ask; None if the folder belongs to no project."""
    project = ProjectFinder(store).find(folder) if folder else None
    return None if project is None else Asking(store, project.key, conversation, folder)


def chosen_lines(
    store: Store, project: str, lines: tuple[Line, ...] | list[Line], *, pins: bool = True
) -> tuple[Line, ...]:
    """The lines without those that a person dropped, and after those that a person pinned."""
    choices = {row["form"]: row for row in store.rows("experience.choices", {"project": project})}
    if not choices:
        return tuple(lines)
    known = {line.form: line for line in lines}
    pinned = [
        known.get(form) or Line(form, row["text"], purpose_of(form), 1.0, 0, row["decided_at"])
        for form, row in choices.items()
        if row["choice"] == "pin" and pins
    ]
    rest = [line for line in lines if line.form not in choices]
    return (*pinned, *rest[: max(0, MOST_COMMANDS - len(pinned))])
