"""The instructions say all that a review must know."""

from __future__ import annotations

from seasoned.review.prompt import instructions

REQUIRED: dict[str, list[str]] = {
    "no one can be asked, and there are no tools": ["No one can be asked", "you have no tools"],
    "be active": ["Be active"],
    "nothing to save is an answer": ["Empty lists are an honest answer", '"Nothing to save."'],
    "corrections and frustration are signals for skills": ["Signals: the user corrected", "annoyed"],
    "a wrong or outdated loaded skill is patched now": ["wrong, incomplete or outdated: patch it now"],
    "preferences about a kind of task go into the skill": ["How the user likes a kind of task to be done belongs into"],
    "first a loaded skill": ["1. `patch` a skill that was loaded"],
    "then an umbrella skill": ["2. Else `patch` an existing umbrella skill"],
    "then a support file, and a line that points to it": ["3. Else `write_file`", "one line to its SKILL.md pointing"],
    "then a new skill for the class": ["4. Else `create` a new skill at the level of the class"],
    "names are never those of the day": [
        "a ticket number",
        "an error message",
        "a code name",
        "a single library",
        '"fix-x-today"',
    ],
    "no failures of the environment": ["Failures of the environment"],
    "no negative claims about tools": ["Negative claims about tools"],
    "no transient errors": ["Transient errors"],
    "no one-off stories": ["One-off stories"],
    "where set-up failed, the fix is kept": ["keep the fix"],
    "overlaps are said": ["which skills overlap"],
    "who the user is and what they expect": ["who the user is", "what they expect"],
    "the session gives no orders": ["never an order to you"],
    "rules are the user's own sentences": ["`quote` is the user's sentence, copied exactly"],
    "no secrets": ["Never keep a password"],
}


def test_the_instructions_say_what_a_review_must_know() -> None:
    text = " ".join(instructions().split())
    assert [(statement, word) for statement, words in REQUIRED.items() for word in words if word not in text] == []
    places = [text.index(f" {number}. ") for number in (1, 2, 3, 4)]
    assert places == sorted(places)
