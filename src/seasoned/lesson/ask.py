"""What a conversation is shown at its start, at its first prompt and at its calls. Every entry point asks here.

Each thing is shown once in a conversation. What a person dropped is never shown; what a person pinned always is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from seasoned.command.tool import command_of
from seasoned.command.written import purpose_of, written
from seasoned.digest import short_digest
from seasoned.errors import NotFound, UsageError
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.kind import explains_itself, is_working, kind_of_failure
from seasoned.lesson.lesson import (
    PLACE,
    Lesson,
    find,
    fitting,
    hint_text,
    lessons_about,
    line_text,
    sheet_text,
)
from seasoned.project import checkout_root
from seasoned.session import ToolCall
from seasoned.store import Store
from seasoned.store.project import project_of_conversation

if TYPE_CHECKING:
    from seasoned.redact import Redactor

MOST_ITEMS = 2
# Only words that ask for the command itself. Files like test-secrets.txt, verbs like "check", a place like "in CI" and
# what is to be built ("build a page") say too little.
_ASKS: tuple[tuple[str, LazyRegex], ...] = (
    (
        "test",
        LazyRegex(
            r"(?<![\w./-])(?:unit |integration |e2e |failing |broken )?tests?(?![\w/-]|\.\w|ing framework)"
            r"(?! (?:data|value|file|key|account|secret))"
        ),
    ),
    (
        "check",
        LazyRegex(
            r"(?<![\w./-])(?:lint\w*|type[- ]?check\w*|type errors?|(?:fix|green|red|failing|broken)(?: the)? ci"
            r"|ci(?: is| was| run| job)? (?:fail\w*|red|broken|green|pass\w*|errors?|checks?))(?![\w/-]|\.\w)"
        ),
    ),
    ("format", LazyRegex(r"(?<![\w./-])(?:fmt|gofmt|formatting|reformat)(?![\w/-]|\.\w)")),
    (
        "build",
        LazyRegex(
            r"(?<![\w./-])(?:(?:compile|compiler|compilation|bundle)(?:s|d|ing)?(?![\w/-]|\.\w)"
            r"|builds? (?:fail\w*|is|errors?|broken|pass\w*|succe\w*|commands?|scripts?|steps?|it\b|again"
            r"|(?:the|this) (?:project|app\w*|package|binary|extension|image|site|docs))"
            r"|(?:run|fix|failing|broken|release|production|clean|try)(?: the| a)? build(?![\w/-]|\.\w))"
        ),
    ),
)
# What Codex asks a model that judges one of its calls: it holds a session, and is not a request.
_NO_REQUEST = "The following is the Codex agent history"


def purposes_in(prompt: str) -> tuple[str, ...]:
    """What a prompt asks to be done, the first mentioned first. Who wants tests to pass wants checks to pass too."""
    if prompt.startswith(_NO_REQUEST):
        return ()
    text = prompt[:4000].lower()
    found = [(pattern.compiled.search(text), purpose) for purpose, pattern in _ASKS]
    asked = [purpose for _, purpose in sorted((match.start(), purpose) for match, purpose in found if match)]
    return tuple(dict.fromkeys([*asked, *(["check"] if "test" in asked else [])]))


Place = Literal["start", "prompt", "before", "after"]


class LessonLookup(msgspec.Struct, frozen=True):
    """Looks up what one conversation is shown, by its project and the folder it works in."""

    store: Store
    project: str
    conversation: str
    folder: str | None = None

    def sheet(self) -> tuple[str, tuple[Lesson, ...]]:
        """The sheet and its lines; empty if nothing is known or nothing passes the checks."""
        rules = self.rules()
        kept = fitting(self._lines(), rules)
        return sheet_text(kept, rules), kept

    def rules(self) -> tuple[str, ...]:
        """What the user said in earlier sessions and the project's instruction files do not say."""
        if not self.store.rows("rule.of_project", {"project": self.project}):
            return ()
        # Imported here: in most projects no one said any.
        from seasoned.lesson.instruction_file import instructions_say
        from seasoned.lesson.rule import rules_of, told_rules

        folder = self._checkout()
        says = (lambda text: instructions_say(text, folder)) if folder is not None else (lambda text: False)
        return tuple(rule.text for rule in told_rules(rules_of(self.store, self.project), says=says))

    def _lines(self) -> tuple[Lesson, ...]:
        """One line for each purpose: what a person pinned, else what most sessions do and the checkout allows.

        What the repository shares fills the purposes about which nothing is known here.
        """
        lines = [line for line in chosen_lines(self.store, self.project) if self.why_not_here(line) is None]
        others = self.shared()
        known = self._known_forms() if others else set()
        served = {line.purpose for line in lines}
        for line in others:
            # A form that failed, was dropped or is used by few here is not brought back by a file.
            is_new = line.kind == "command" and line.key not in known and line.purpose not in served
            if is_new and self.why_not_here(line) is None:
                lines.append(line)
                served.add(line.purpose)
        return tuple(lines)

    def _known_forms(self) -> set[str]:
        """The forms about which something is known here: used by enough sessions, decided about, or failing."""
        known = {line.key for line in lessons_about(self.store, self.project, "command")}
        known |= {row["form"] for row in self.store.rows("lesson.choices", {"project": self.project})}
        repairs = lessons_about(self.store, self.project, "repair")
        return known | {one.failed.form for one in repairs if one.failed is not None}

    def shared(self) -> list[Lesson]:
        """What the repository shares, if the folder is a checkout on this machine."""
        top = None if self.folder is None else checkout_root(self.folder)
        if top is None or not Path(top, PLACE).exists():
            return []
        # Imported here: few repositories have such a file.
        from seasoned.lesson.share import read_shared

        return read_shared(Path(top))[0]

    def first_prompt(self, prompt: str) -> str:
        """The commands that the first prompt asks for and the sheet did not show; empty if there are none."""
        asked = purposes_in(prompt)
        if not asked or self._saw_sheet():
            return ""
        by_purpose = {line.purpose: line for line in self._lines()}
        found = [by_purpose[purpose] for purpose in asked if purpose in by_purpose]
        return "\n".join(f"In this project: {line_text(line)}." for line in found[:MOST_ITEMS])

    def before(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """What works here instead of the call that is about to be made; empty if nothing is known."""
        command = command_of(ToolCall("", tool, dict(arguments)))
        if not command or len(command) > 4000:
            return ""
        for one in written(command):
            if is_working(one):
                hint = find(self.store, self.project, "before", one.form, Lesson)
                if hint is not None and self.contradiction(hint.text) is None:
                    return hint_text(hint)
        return ""

    def after(self, tool: str, arguments: Mapping[str, Any], error: str) -> str:
        """What repaired such a failure in this project; empty if nothing is known."""
        hint = self.repair(tool, arguments, error)
        return "" if hint is None else hint_text(hint)

    def repair(self, tool: str, arguments: Mapping[str, Any], error: str) -> Lesson | None:
        """What repaired such a failure in this project; None if nothing is known."""
        if explains_itself(error):
            return None
        kind = kind_of_failure(tool, command_of(ToolCall("", tool, dict(arguments))), error)
        hint = find(self.store, self.project, "repair", kind.key, Lesson)
        if hint is not None and not hint.silent:
            is_command = hint.way is not None and hint.way.kind in ("form", "before", "option", "value", "variable")
            return None if is_command and self.contradiction(hint.text) is not None else hint
        if hint is not None:
            return None  # what sessions here know about it says that nothing is shown
        shared = next((one for one in self.shared() if one.key == kind.key), None)
        return shared if shared is not None and self.contradiction(shared.text) is None else None

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

    def contradiction(self, command: str) -> str | None:
        """Why a command cannot work in this folder; None if it can, or the folder is not on this machine."""
        folder = self._checkout()
        if folder is None:
            return None
        from seasoned.lesson.tree import contradiction

        return contradiction(command.removesuffix(" …"), folder)

    def why_not_here(self, line: Lesson) -> str | None:
        """Why a line of the sheet is not shown in this folder; None if it is."""
        folder = self._checkout()
        if line.silent:
            return line.silent
        if folder is None:
            return "only two sessions did it since another command failed" if line.needs_tree else None
        from seasoned.lesson import tree
        from seasoned.lesson.instruction_file import instructions_say

        command = line.text.removesuffix(" …")
        if why := tree.contradiction(command, folder):
            return why
        if line.needs_tree and not tree.agrees(command, folder):
            return "only two sessions did it since another command failed, and the checkout does not say the same"
        if not line.is_correction and instructions_say(command, folder):
            return "the project's instruction files say it"
        return None

    def _checkout(self) -> Path | None:
        folder = Path(self.folder) if self.folder else None
        return folder if folder is not None and folder.is_dir() else None


def lookup_for(store: Store, conversation: str, folder: str | None) -> LessonLookup | None:
    """The lookup for a conversation in a folder; None if the folder belongs to no project."""
    project = project_of_conversation(store, conversation, folder)
    return None if project is None else LessonLookup(store, project, conversation, folder)


def chosen_lines(store: Store, project: str) -> list[Lesson]:
    """One command for each purpose: those a person pinned, else those that sessions show and no person dropped."""
    choices = {row["form"]: row for row in store.rows("lesson.choices", {"project": project})}
    known = lessons_about(store, project, "command")
    by_form = {line.key: line for line in known}
    pinned = []
    for form, row in choices.items():
        if row["choice"] == "pin":
            line = by_form.get(form) or Lesson("command", form, form, purpose_of(form), last=row["decided_at"])
            pinned.append(msgspec.structs.replace(line, text=row["text"], silent=""))
    rest = [line for line in known if line.key not in choices and line.purpose not in {one.purpose for one in pinned}]
    return [*pinned, *[line for line in rest if not line.silent]]


_MOST_CHARS = 160  # of a pinned command, as of those that sessions show


def decide(
    store: Store,
    project: str,
    command: str,
    choice: str,
    *,
    folder: str | None = None,
    redactor: Redactor | None = None,
) -> str:
    """Pin or drop a line of the sheet, or undo that; returns its form."""
    parts = [one for one in written(command) if one.form]
    if len(parts) != 1:
        raise UsageError(f"{command!r} is not a single command. Give one line of the sheet, such as `make test`.")
    # A line for one test says how it begins; its key says so as well.
    form = parts[0].form
    known_lines = [*lessons_about(store, project, "command"), *LessonLookup(store, project, "", folder).shared()]
    form = next((line.key for line in known_lines if command.strip() in (line.text, line.key)), form)
    decided = {row["form"] for row in store.rows("lesson.choices", {"project": project})}
    if choice == "undo":
        with store.write():
            if not store.run("lesson.unchoose", {"project": project, "form": form}):
                raise NotFound(f"Nothing was decided about {command!r}. `seasoned lessons` shows what was.")
        return form
    if choice == "drop":
        if form not in {line.key for line in known_lines} | decided:
            raise NotFound(f"The sheet has no line {command!r}. `seasoned lessons` shows its lines.")
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
