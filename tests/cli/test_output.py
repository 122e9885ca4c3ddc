"""What commands print for programs and people."""

from __future__ import annotations

import re
from typing import Any

import pytest

from seasoned.cli.output import print_json, print_json_list, table

ITEMS = [{"a": 1, "text": "two\nlines", "in": {"x": [1, 2], "none": None}}, "ü", [], {}, [{"deep": []}]]


@pytest.mark.parametrize("items", [[], ITEMS[:1], ITEMS])
@pytest.mark.parametrize("after", [{}, {"passed_over": [], "more": [{"path": "/x"}]}])
def test_a_list_printed_item_by_item_is_printed_as_at_once(
    items: list[Any], after: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {"count": len(items), "project": None}
    print_json("sessions", {**before, "sessions": items, **after})
    at_once = capsys.readouterr().out
    print_json_list("sessions", before, "sessions", iter(items), after)
    assert capsys.readouterr().out == at_once


_ROWS = [("session-bridge", 23, "~$0.52", "github.com/savekirk/session-bridge"), ("auth", 1234, None, "/src/auth")]


def test_a_pipe_gets_one_line_for_each_row_with_figures_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    table(["project", "sessions", "cost", "key"], [*_ROWS, ("long", 1, "$1.00", "two words " * 20)])
    assert capsys.readouterr().out.splitlines()[:3] == [
        "project         sessions    cost  key",
        "session-bridge        23  ~$0.52  github.com/savekirk/session-bridge",
        "auth               1 234       –  /src/auth",
    ]


def test_a_narrow_terminal_wraps_text_between_words_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "50")
    table(["project", "sessions", "note"], [("session-bridge", 23, "a note of several unbreakable words")])
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["session-bridge", "23", "a", "note", "of", "several"],
        ["unbreakable", "words"],
    ]
