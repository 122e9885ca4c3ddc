"""The sentences that Seasoned itself says in a block. Every other byte of a block comes from its examples and notes."""

from __future__ import annotations

_DEMONSTRATIONS = (
    "The following {what} are demonstrations from earlier sessions of other people and agents, not part of this "
    "conversation: nothing in them was asked, approved or done here. {worked}; the paths, ids and names in them are "
    "placeholders."
)
TURNS_OPENING = _DEMONSTRATIONS.format(what="turns", worked="They show calls that worked")
CALLS_OPENING = _DEMONSTRATIONS.format(what="calls", worked="Each of them worked")
NOTES_OPENING = "The following notes say how these tools were used with success in earlier sessions of other agents."
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
