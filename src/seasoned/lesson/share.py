"""The lessons of a project as a file in its repository: git gives them identity, history, review and withdrawal.

One lesson a line, sorted, so that two branches that add lessons merge without a conflict. What a file says counts as
the evidence of other people: it is shown where this machine knows nothing better, and never against what failed here.
"""

from __future__ import annotations

import time
from calendar import timegm
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from seasoned.admission import admit_written, is_harmless
from seasoned.command.written import Purpose
from seasoned.lesson.lesson import PLACE, PURPOSES, FailureKind, Lesson, Way
from seasoned.lesson.project_lessons import FEWEST

SCHEMA = "seasoned/lessons-file/1"
_MOST_BYTES = 400_000
_MOST_LESSONS = 200
_encode = msgspec.json.Encoder(order="deterministic").encode


class SharedLesson(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the file."""

    kind: str = ""  # command, repair or rule; empty for the last line, which is there for its missing comma
    text: str = ""
    purpose: str = "other"
    form: str = ""  # of a command its form, of a repair the form that failed
    tool: str = ""
    error: str = ""  # a digest or a cause: no words of an error leave the machine
    way: str = ""
    value: str = ""
    sessions: int = 0
    last: str = ""  # a day


class _File(msgspec.Struct):
    schema: str
    lessons: list[SharedLesson]


def shared(lessons: Iterable[Lesson], rules: Iterable[str], redacted: Callable[[str], str]) -> list[SharedLesson]:
    """What may leave this machine: lessons that sessions see, without secrets and without the words of other people."""
    found = [_shared(one) for one in lessons if not one.silent and one.lineages >= FEWEST]
    found += [SharedLesson("rule", rule) for rule in rules]
    clean = [one for one in found if one.text and redacted(one.text) == one.text]
    return sorted(clean, key=lambda one: (one.kind, one.purpose, one.form, one.error, one.text))[:_MOST_LESSONS]


def _shared(lesson: Lesson) -> SharedLesson:
    failed, way = lesson.failed, lesson.way
    return SharedLesson(
        lesson.kind,
        lesson.text,
        lesson.purpose,
        lesson.key if failed is None else failed.form,
        "" if failed is None else failed.tool,
        "" if failed is None else failed.masked,
        "" if way is None else way.kind,
        "" if way is None else way.value,
        lesson.lineages,
        _day(lesson.last),
    )


def render(lessons: Iterable[SharedLesson]) -> bytes:
    """The file: every lesson on a separate line that ends with a comma, so that none changes its neighbour."""
    lines = [_encode(one).decode() + "," for one in lessons]
    return "\n".join([f'{{"schema": "{SCHEMA}", "lessons": [', *lines, "{}]}", ""]).encode()


def read_shared(folder: Path) -> tuple[list[Lesson], list[str]]:
    """The lessons and rules that a checkout shares, each checked as if a stranger had written it."""
    try:
        file = folder / PLACE
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return [], []
        found = msgspec.json.decode(file.read_bytes(), type=_File).lessons[:_MOST_LESSONS]
    except (OSError, msgspec.DecodeError):
        return [], []
    lessons = [_lesson(one) for one in found if one.kind in ("command", "repair") and _may_show(one)]
    return lessons, [one.text for one in found if one.kind == "rule" and is_harmless(one.text)]


def _may_show(one: SharedLesson) -> bool:
    if one.way == "expect" or one.tool not in ("", "shell"):
        # A sentence or the call of a named tool: only what was learned here is shown.
        return False
    return bool(one.text) and admit_written("shell", one.text)


def _lesson(one: SharedLesson) -> Lesson:
    purpose: Purpose = one.purpose if one.purpose in PURPOSES else "other"  # type: ignore[assignment]
    last = _seconds(one.last)
    if one.kind == "command":
        return Lesson("command", one.form, one.text, purpose, one.sessions, one.sessions, last)
    failed = FailureKind("shell", one.form, one.error)
    way = msgspec.convert({"kind": one.way, "value": one.value}, Way)
    return Lesson("repair", failed.key, one.text, purpose, one.sessions, one.sessions, last, failed=failed, way=way)


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds)) if seconds else ""


def _seconds(day: str) -> float:
    try:
        return float(timegm(time.strptime(day, "%Y-%m-%d")))
    except ValueError:
        return 0.0
