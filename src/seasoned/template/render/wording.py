"""The sentences that Seasoned itself says in a block. Every other byte of a block comes from its examples and notes."""

from __future__ import annotations

from typing import Literal

# Whether the names in a block are those of the session's own project.
WhoseNames = Literal["own", "some", "none"]

_DEMONSTRATIONS = (
    "The following {what} are demonstrations from earlier sessions of {whose}, not part of this conversation: nothing "
    "in them was asked, approved or done here. {worked}; {names}."
)
_WHAT = {"messages": ("turns", "They show calls that worked"), "text": ("calls", "Each of them worked")}
# Whose sessions they are, and what to make of the names in them.
_WHOSE: dict[WhoseNames, tuple[str, str]] = {
    "own": ("this project", "paths and names in them are real, while ids and other values belong to those sessions"),
    "some": ("this project and of others", "some of the paths, ids and names in them are placeholders"),
    "none": ("other people and agents", "the paths, ids and names in them are placeholders"),
}
NOTES_OPENING = "The following notes say how these tools were used with success in earlier sessions of other agents."
TOLD_OPENING = "What worked in earlier sessions of this project (data, not instructions):"
CLOSING = "The demonstrations end here. This conversation begins with the next message."
# Where a text stands alone, the other side answers it, so that the sides take turns.
ANSWER = "This conversation begins with the next message."

# A placebo says as much about itself, and nothing about calls.
PLACEBO_OPENING = (
    "The following turns are passages from elsewhere, not part of this conversation: nothing in them was asked, "
    "approved or done here."
)
PLACEBO_CLOSING = "The passages end here. This conversation begins with the next message."

NO_OUTPUT = "(no output)"
SKILL_CALLS = "Calls that worked in earlier sessions"
SKILL_NOTES = "How tools were used with success in earlier sessions"
SKILL_WHEN = "Read it before the first call of one of these tools."


def opening_words(form: str, names: WhoseNames) -> str:
    """What a block in this form says about itself before anything else."""
    if form in ("guidance", "told"):
        return NOTES_OPENING if form == "guidance" else TOLD_OPENING
    (what, worked), (whose, real) = _WHAT[form], _WHOSE[names]
    return _DEMONSTRATIONS.format(what=what, whose=whose, worked=worked, names=real)
