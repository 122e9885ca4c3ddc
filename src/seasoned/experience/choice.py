"""What a person decides about a line of the sheet: pinned, dropped, or left to the evidence again."""

from __future__ import annotations

import time

from seasoned.command.written import written
from seasoned.errors import NotFound, UsageError
from seasoned.experience.lesson import Line
from seasoned.experience.lookup import StoredSheet, all_of
from seasoned.redact import Redactor
from seasoned.store import Store
from seasoned.template.admission.call import admit_call

_MOST_CHARS = 160  # of a pinned command, as of those that sessions show


def decide(store: Store, project: str, command: str, choice: str, *, redactor: Redactor | None = None) -> str:
    """Pin or drop a line of the sheet, or undo that; returns its form."""
    parts = [one for one in written(command) if one.form]
    if len(parts) != 1:
        raise UsageError(f"{command!r} is not a single command. Give one line of the sheet, such as `make test`.")
    form = parts[0].form
    decided = {row["form"] for row in store.rows("experience.choices", {"project": project})}
    if choice == "undo":
        with store.write():
            if not store.run("experience.unchoose", {"project": project, "form": form}):
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
            "experience.choose",
            {"project": project, "form": form, "choice": choice, "text": command.strip(), "decided_at": time.time()},
        )
    return form


def _check_pin(command: str, project: str, redactor: Redactor | None) -> None:
    """Refuse to pin what no session may be shown: agents can pin too, and sessions act on the sheet."""
    if len(command) > _MOST_CHARS or not command.isprintable():
        raise UsageError(f"A line of the sheet is one line of at most {_MOST_CHARS} characters.")
    if redactor is not None and redactor.text(command) != command:
        raise UsageError("The command contains a secret or personal data, so it cannot be pinned.")
    if why := admit_call("Bash", {"command": command}, project=project).why:
        raise UsageError(f"No session may be shown {command!r}: {why}. Pin another command.")
