"""The one line that a user is told."""

from __future__ import annotations

from typing import Any

from seasoned.review.journal import Change
from seasoned.review.run import line_of
from tests.each_case import each_case

EMPTY = dict.fromkeys(Change.__struct_fields__)


def change(number: int, kind: str, action: str, target: str = "notes", file: str = "SKILL.md", **more: Any) -> Change:
    values = {**EMPTY, "id": number, "kind": kind, "action": action, "target": target, "file": file, "state": "kept"}
    return Change(**{**values, **more})


@each_case(
    ("written", "line"),
    [
        ([], None),
        ([change(1, "memory", "add"), change(2, "memory", "add", "user")], "Kept: memory +2"),
        ([change(1, "memory", "replace"), change(2, "memory", "remove")], "Kept: memory ~1 −1"),
        ([change(2, "skill", "patch", "x"), change(1, "memory", "add")], "Kept: memory +1; skill `x` patched"),
        (
            [change(3, "skill", "patch", "x", "references/a.md"), change(2, "skill", "patch", "x")],
            "Kept: skill `x` patched, patched in `references/a.md`",
        ),
        ([change(n, "skill", "patch", "x") for n in range(3)], "Kept: skill `x` patched"),
        ([change(1, "memory", "add", state="failed"), change(2, "memory", "add", state="undone")], None),
        (
            [change(1, "memory", "add"), change(2, "skill", "create", "x", state="staged")],
            "Kept: memory +1. Waiting for you (`seasoned inbox`): skill `x` created",
        ),
    ],
)
def test_the_line_tells_what_was_written_and_no_more(written: list[Change], line: str | None) -> None:
    assert line_of(written) == line


def test_many_skills_are_counted() -> None:
    line = line_of([change(n, "skill", "create", f"s{n}") for n in range(9)])
    assert line is not None and line.endswith("; 3 more skills") and len(line) < 200
