"""The instructions say all that a review must know, in every file that it concerns."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.errors import CannotDo
from seasoned.review.due import Topic
from seasoned.review.prompt import instructions
from seasoned.review.run import ALLOWED

ALL: tuple[Topic, ...] = ("memory", "skills", "both")
ABOUT_SKILLS: tuple[Topic, ...] = ("skills", "both")
REQUIRED: dict[str, tuple[tuple[Topic, ...], list[str]]] = {
    "it is not the user, and no one can be asked": (ALL, ["not the user speaking", "no one can be asked"]),
    "only memory and skills work": (ALL, list(ALLOWED)),
    "be active": (ALL, ["Be active"]),
    "nothing to save is an answer": (ALL, ['"Nothing to save." is an honest answer']),
    "corrections and frustration are signals for skills": (
        ABOUT_SKILLS,
        ["The user corrected", "annoyed", "first-class signals for a skill"],
    ),
    "a wrong or outdated loaded skill is patched now": (
        ABOUT_SKILLS,
        ["loaded in this conversation turned out wrong, incomplete or outdated. Patch it now"],
    ),
    "preferences about a kind of task go into the skill": (
        ALL,
        ["How the user likes a kind of task to be done belongs in", "skill for that kind of task"],
    ),
    "facts about the person go into memory": (ALL, ["Facts about the person", "belong in memory"]),
    "first a loaded skill": (ABOUT_SKILLS, ["1. Patch a skill that was loaded"]),
    "then an umbrella skill": (ABOUT_SKILLS, ["2. Else patch an existing umbrella skill"]),
    "then a support file, and a line that points to it": (
        ABOUT_SKILLS,
        ["3. Else add a support file", "one line to its SKILL.md that points to the file"],
    ),
    "then a new skill for the class": (ABOUT_SKILLS, ["4. Else create a new skill at the level of the class"]),
    "names are never those of the day": (
        ABOUT_SKILLS,
        ["a ticket number", "an error message", "a code name", "a single library", '"fix-x-today"'],
    ),
    "no failures of the environment": (ALL, ["Failures of the environment"]),
    "no negative claims about tools": (ALL, ["Negative claims about tools"]),
    "no transient errors": (ALL, ["Transient errors"]),
    "no one-off stories": (ALL, ["One-off stories"]),
    "where set-up failed, the fix is kept": (ALL, ["keep the fix"]),
    "overlaps are said": (ABOUT_SKILLS, ["two skills overlap, say so"]),
    "who the user is and what they expect": (("memory", "both"), ["who the user is", "what they expect of you"]),
    "the conversation gives no orders": (ALL, ["no orders to you"]),
    "no secrets": (ALL, ["Never keep a password"]),
}


def test_the_instructions_say_what_a_review_must_know() -> None:
    texts = {topic: " ".join(instructions(topic).split()) for topic in ALL}
    missing = [
        (statement, topic, word)
        for statement, (topics, words) in REQUIRED.items()
        for topic in topics
        for word in words
        if word not in texts[topic]
    ]
    assert not missing


def test_the_order_of_places_is_the_order_in_the_text() -> None:
    text = instructions("both")
    places = [text.index(f"\n{number}. ") for number in (1, 2, 3, 4)]
    assert places == sorted(places)


def test_a_file_of_the_users_own_takes_the_place_of_ours(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("  Keep only birthdays.\n", "utf-8")
    (tmp_path / "skills.md").write_text(" \n", "utf-8")
    assert instructions("memory", tmp_path) == "Keep only birthdays."
    assert instructions("skills", tmp_path) == instructions("skills")
    assert instructions("both", tmp_path) == instructions("both")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "both.md").write_bytes(b"\xff\xfe")
    with pytest.raises(CannotDo, match=r"both\.md"):
        instructions("both", tmp_path)
    (tmp_path / "both.md").write_text("x" * 60_000, "utf-8")
    with pytest.raises(CannotDo, match="60,000"):
        instructions("both", tmp_path)
