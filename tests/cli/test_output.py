"""What commands print for programs and people."""

from __future__ import annotations

import re

import pytest

from seasoned.cli.output import table

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
