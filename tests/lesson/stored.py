"""Lessons put into a store by hand, as its sessions would have taught them."""

from __future__ import annotations

import msgspec

from seasoned.lesson.kind import kind_of_failure
from seasoned.lesson.lesson import Lesson, Way
from seasoned.store import Store


def command(text: str, purpose: str = "test") -> Lesson:
    """A command that three sessions ran for a purpose."""
    return Lesson("command", text, text, purpose, 3, 3)  # type: ignore[arg-type]


def repair(tool: str, failed: str, error: str, text: str, way: Way) -> Lesson:
    """What repaired a failed command in two sessions."""
    kind = kind_of_failure(tool, failed, error)
    return Lesson("repair", kind.key, text, lineages=2, among=2, failed=kind, way=way)


def keep_lessons(store: Store, project: str, *lessons: Lesson) -> None:
    """Replace what the store knows of a project."""
    with store.write():
        store.run("lesson.clear_lessons", {"project": project})
        for one in lessons:
            content = msgspec.json.encode(one)
            store.run("lesson.add_lesson", {"project": project, "topic": one.kind, "key": one.key, "content": content})
