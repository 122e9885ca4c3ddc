"""What commands print for programs and people."""

from __future__ import annotations

import re

import pytest

from seasoned.cli.output import money, table
from tests.cli.run import seasoned
from tests.cli.terminal import terminal

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


def test_at_a_terminal_prose_wraps_between_words_and_an_error_is_red(home: object) -> None:
    sentence = seasoned("scan", expect=1).stderr.rstrip("\n")
    assert "\n" not in sentence and len(sentence) > 100, "a pipe gets whole lines"
    with terminal("scan") as screen:
        seen = screen.wait_for("\x1b[0m")
    assert seen.startswith("\x1b[31m")
    lines = seen.removeprefix("\x1b[31m").splitlines()
    assert len(lines) == 2 and max(map(len, lines)) <= 100
    assert " ".join(lines) == sentence


def test_amounts_have_cents_and_an_unknown_one_is_a_dash() -> None:
    shown = [money(usd) for usd in (None, 0.0, 0.0004, 0.126, 1926.8)]
    assert shown == ["–", "$0.00", "<$0.01", "$0.13", "$1,926.80"]
    assert money(2.5, is_estimate=True) == "~$2.50"
