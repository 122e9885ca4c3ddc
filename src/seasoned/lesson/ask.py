"""What a conversation is shown at its start, at its first prompt and at its calls. Every entry point asks here.

Each thing is shown once in a conversation. What a person dropped is never shown; what a person pinned always is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from seasoned.command.tool import argument, command_of, replaces_all, tool_of
from seasoned.command.written import Purpose, purpose_of, written
from seasoned.digest import short_digest
from seasoned.errors import NotFound, UsageError
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.kind import explains_itself, inside, is_working, kind_of_failure
from seasoned.lesson.lesson import (
    MOST_COMMANDS,
    REPLACE_ALL,
    Hint,
    Line,
    StoredPath,
    StoredSheet,
    Way,
    all_of,
    find,
    find_hint,
    find_sheet,
    hint_text,
    kind_key,
    line_text,
    sheet_text,
)
from seasoned.session import ToolCall
from seasoned.store import Store
from seasoned.store.project import ProjectFinder

if TYPE_CHECKING:
    from seasoned.redact import Redactor

MOST_ITEMS = 2
# Only words that ask for the command itself. Files like test-secrets.txt and verbs like "check" say too little.
_ASKS: tuple[tuple[Purpose, LazyRegex], ...] = (
    (
        "test",
        LazyRegex(
            r"(?<![\w./-])(?:unit |integration |e2e |failing |broken )?tests?(?![\w/-]|\.\w|ing framework)"
            r"(?! (?:data|value|file|key|account|secret))"
        ),
    ),
    ("check", LazyRegex(r"(?<![\w./-])(?:lint\w*|type[- ]?check\w*|type errors?|ci)(?![\w/-]|\.\w)")),
    ("format", LazyRegex(r"(?<![\w./-])(?:fmt|gofmt|formatting|reformat)(?![\w/-]|\.\w)")),
    ("build", LazyRegex(r"(?<![\w./-])(?:build|compile|compiler|compilation|bundle)(?:s|d|ing)?(?![\w/-]|\.\w)")),
)


def purposes_in(prompt: str) -> tuple[Purpose, ...]:
    """What a prompt asks to be done, the first mentioned first."""
    text = prompt[:4000].lower()
    found = [(pattern.compiled.search(text), purpose) for purpose, pattern in _ASKS]
    return tuple(purpose for _, purpose in sorted((match.start(), purpose) for match, purpose in found if match))


Place = Literal["start", "prompt", "before", "after"]


class ExperienceLookup(msgspec.Struct, frozen=True):
    """Looks up what one conversation is shown, by its project and the folder it works in."""

    store: Store
    project: str
    conversation: str
    folder: str | None = None

    def sheet(self) -> tuple[str, tuple[Line, ...]]:
        """The sheet and its lines; empty if nothing is known or nothing passes the checks."""
        stored = find_sheet(self.store, self.project, self.folder) or StoredSheet((), 0)
        lines = chosen_lines(self.store, self.project, stored.lines)
        kept = tuple(line for line in lines if self.contradiction(line.text) is None)
        return sheet_text(kept, stored.conversations), kept

    def first_prompt(self, prompt: str) -> str:
        """The commands that the first prompt asks for and the sheet did not show; empty if there are none."""

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
        """What works here instead of the call that is about to be made; empty if nothing is known."""
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
        """What repaired such a failure in this project; empty if nothing is known."""
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
        named = replaces_all(tool, arguments) if hint.way == REPLACE_ALL else None
        return "" if hint.way == REPLACE_ALL and named is None else hint_text(hint, path, named or "")

    def tell_once(self, place: Place, text: str, *, call_id: str = "") -> bool:
        """Note that the conversation is shown a text, after this call if any; False if it has seen it before."""
        # A hint shown before a call is not repeated after it, even if the count of sessions in brackets differs.
        told = text.rpartition(" (")[0] or text if place in ("before", "after") else text
        values = {"conversation": self.conversation, "project": self.project, "place": place, "text": text}
        values["call_id"] = call_id
        with self.store.write():
            return bool(self.store.run("lesson.tell", {**values, "digest": short_digest(told), "told_at": time.time()}))

    def _saw_sheet(self) -> bool:
        """Whether the conversation began with the sheet, which may be switched off or missing for its agent."""
        told = self.store.rows("lesson.told", {"conversation": self.conversation})
        return any(row["place"] == "start" for row in told)

    def _moved(self, path: str) -> Hint | None:
        """Where the file is that a call did not find, if sessions know only one of that name and it exists."""
        name = path.rsplit("/", 1)[-1]
        known = find(self.store, self.project, "file", name, StoredPath) if name else None
        if known is None or known.path == path:
            return None
        if self.folder is not None and Path(self.folder).is_dir() and not (Path(self.folder) / known.path).exists():
            return None
        return Hint(Way("path", known.path), known.path, 1, 0.0)

    def contradiction(self, command: str) -> str | None:
        """Why a command cannot work in this folder; None if it can, or the folder is not on this machine."""
        folder = Path(self.folder) if self.folder else None
        if folder is None or not folder.is_dir():
            return None
        from seasoned.lesson.tree import contradiction

        return contradiction(command.removesuffix(" …"), folder)


def lookup_for(store: Store, conversation: str, folder: str | None) -> ExperienceLookup | None:
    """The lookup for a conversation in a folder; None if the folder belongs to no project."""
    project = ProjectFinder(store).find(folder) if folder else None
    return None if project is None else ExperienceLookup(store, project.key, conversation, folder)


def chosen_lines(
    store: Store, project: str, lines: tuple[Line, ...] | list[Line], *, pins: bool = True
) -> tuple[Line, ...]:
    """The lines that a person pinned, then the others without those that a person dropped."""
    choices = {row["form"]: row for row in store.rows("lesson.choices", {"project": project})}
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


_MOST_CHARS = 160  # of a pinned command, as of those that sessions show


def decide(store: Store, project: str, command: str, choice: str, *, redactor: Redactor | None = None) -> str:
    """Pin or drop a line of the sheet, or undo that; returns its form."""
    parts = [one for one in written(command) if one.form]
    if len(parts) != 1:
        raise UsageError(f"{command!r} is not a single command. Give one line of the sheet, such as `make test`.")
    form = parts[0].form
    decided = {row["form"] for row in store.rows("lesson.choices", {"project": project})}
    if choice == "undo":
        with store.write():
            if not store.run("lesson.unchoose", {"project": project, "form": form}):
                raise NotFound(f"Nothing was decided about {command!r}. `seasoned sheet` shows what was.")
        return form
    if choice == "drop":
        # A folder may have lines that the project as a whole does not have, and so may a first prompt.
        sheets = all_of(store, project, "sheet", StoredSheet)
        known = {line.form for _, sheet in sheets for line in sheet.lines}
        known |= {line.form for _, line in all_of(store, project, "purpose", Line)}
        if form not in known | decided:
            raise NotFound(f"The sheet has no line {command!r}. `seasoned sheet` shows its lines.")
    elif choice == "pin":
        _check_pin(command.strip(), project, redactor)
    else:
        raise UsageError(f"A line is pinned, dropped or undone, not {choice!r}.")
    with store.write():
        store.run(
            "lesson.choose",
            {"project": project, "form": form, "choice": choice, "text": command.strip(), "decided_at": time.time()},
        )
    return form


def _check_pin(command: str, project: str, redactor: Redactor | None) -> None:
    """Refuse to pin what may not be shown: agents can pin too, and sessions act on the sheet."""
    if len(command) > _MOST_CHARS or not command.isprintable():
        raise UsageError(f"A line of the sheet is one line of at most {_MOST_CHARS} characters.")
    if redactor is not None and redactor.text(command) != command:
        raise UsageError("The command contains a secret or personal data, so it cannot be pinned.")
    # Imported here: hooks never pin anything.
    from seasoned.admission import admit_call

    if why := admit_call("Bash", {"command": command}, project=project).why:
        raise UsageError(f"No session may be shown {command!r}: {why}. Pin another command.")
