"""`sheet` and `backtest` by the real command: what is decided stays decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.config import Config
from tests.cli.run import answer, seasoned
from tests.web.filled import SECRET, fill_project

SHOP = "/home/mira/shop"


@pytest.fixture
def scanned(home: Path) -> Config:
    config = Config(home=home / ".seasoned")
    config.home.mkdir(exist_ok=True)
    fill_project(config.home, SHOP)
    return config


@pytest.mark.usefixtures("scanned")
def test_the_sheet_shows_lines_and_hints_with_their_evidence() -> None:
    found = answer("sheet", "--project", SHOP)
    assert {line["text"]: line["state"] for line in found["lines"]} == {"make test": "shown", "make lint": "shown"}
    assert [one["text"] for one in found["at_calls"]] == found["hints"]
    hint = found["at_calls"][0]
    assert (hint["place"], hint["form"], hint["conversations"]) == ("before", "rtk make test", 10)
    assert len(hint["sessions"]) == 5


@pytest.mark.usefixtures("scanned")
@pytest.mark.parametrize(
    ("option", "command", "code", "said"),
    [
        ("--pin", "rm -rf /", 2, "No session may be shown"),
        ("--pin", f"deploy --token {SECRET}", 2, "contains a secret"),
        ("--pin", "make test; make lint", 2, "not a single command"),
        ("--drop", "make nothing", 1, "has no line"),
        ("--undo", "make nothing", 1, "Nothing was decided"),
    ],
)
def test_what_cannot_be_decided_gets_one_sentence(option: str, command: str, code: int, said: str) -> None:
    assert said in seasoned("sheet", "--project", SHOP, option, command, expect=code).stderr
    assert len(answer("sheet", "--project", SHOP)["lines"]) == 2


@pytest.mark.usefixtures("scanned")
def test_the_backtest_says_what_sessions_would_have_seen_and_what_it_does_not_show() -> None:
    said = seasoned("backtest", "--store", "--shown").stdout
    assert "not what it would have done" in said and "start: make test [used]" in said
    found = answer("backtest", "--store", "--shown")
    assert found["all"]["conversations"] == 10 == len(found["sessions"])
