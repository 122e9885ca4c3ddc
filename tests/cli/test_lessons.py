"""`lessons`, `share` and `backtest` by the real command: what is said, decided and shared."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from seasoned.config import Config
from tests.cli.run import answer, seasoned
from tests.project.checkouts import checkout, needs_git
from tests.web.filled import SECRET, fill_project

SHOP = "/home/mira/shop"


@pytest.fixture
def scanned(home: Path) -> Config:
    config = Config(home=home / ".seasoned")
    config.home.mkdir(exist_ok=True)
    fill_project(config.home, SHOP)
    return config


@pytest.mark.usefixtures("scanned")
def test_lessons_have_their_evidence_and_say_where_they_are_told() -> None:
    found = answer("lessons", "--project", SHOP)
    assert found["text"].splitlines()[1:] == ["- Check: `make lint` (10 sessions)", "- Test: `make test` (10 sessions)"]
    commands = {one["text"]: one for one in found["lessons"] if one["kind"] == "command"}
    assert {text: one["state"] for text, one in commands.items()} == {"make test": "shown", "make lint": "shown"}
    assert all(one["where"] == ["start", "first prompt"] for one in commands.values())
    (repair,) = [one for one in found["lessons"] if one["kind"] == "repair"]
    assert (repair["form"], repair["text"], repair["lineages"], repair["among"]) == (
        "rtk make test",
        "make test",
        8,
        10,
    )
    assert repair["where"] == ["at the call", "after a failure"] and len(repair["sessions"]) == 5
    assert repair["said"].startswith("Test: `make test` works here (8 sessions, last ")


@pytest.mark.usefixtures("scanned")
def test_a_line_is_dropped_and_comes_back() -> None:
    assert "is never shown" in seasoned("lessons", "--project", SHOP, "--drop", "make lint").stdout
    found = answer("lessons", "--project", SHOP)
    assert "make lint" not in found["text"]
    assert {one["text"]: one["state"] for one in found["lessons"]}["make lint"] == "dropped"
    said = seasoned("lessons", "--project", SHOP).stdout
    assert "you dropped it" in said and "- Test: `make test` (10 sessions)" in said
    seasoned("lessons", "--project", SHOP, "--undo", "make lint")
    assert "make lint" in answer("lessons", "--project", SHOP)["text"]


def test_lessons_are_rebuilt_from_the_stored_calls(scanned: Config) -> None:
    before = answer("lessons", "--project", SHOP)
    with sqlite3.connect(scanned.home / "seasoned.db") as store:
        store.execute("DELETE FROM lesson")
        store.execute("DELETE FROM evidence")
    assert answer("lessons", "--project", SHOP)["lessons"] == []
    assert answer("lessons", "--project", SHOP, "--rebuild") == before


def test_what_is_silent_is_listed_with_the_reason(samples: Path) -> None:
    seasoned("scan", samples)
    short = seasoned("lessons", "--project", "/home/mira/waypost").stdout
    assert "4 repairs are silent; --all says why." in short and "git commit" not in short
    whole = seasoned("lessons", "--project", "/home/mira/waypost", "--all", "--evidence").stdout
    assert "every agent tries it first" in whole
    assert "only 1 of the newest 8 sessions that did this ran it" in whole
    assert "      claude-code:5e463e44-dd68-49d2-9412-13b73dc60395\n" in whole


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
    assert said in seasoned("lessons", "--project", SHOP, option, command, expect=code).stderr
    assert answer("lessons", "--project", SHOP)["text"].count("\n- ") == 2


@needs_git
def test_lessons_are_shared_as_a_file_that_is_shown_before_it_is_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = checkout(tmp_path.resolve() / "shop")
    (shop / "Makefile").write_text("test:\nlint:\n")
    config = Config(home=home / ".seasoned")
    config.home.mkdir(exist_ok=True)
    fill_project(config.home, shop)
    monkeypatch.chdir(shop)
    file = shop / ".seasoned" / "lessons.json"
    looked = seasoned("share", "--dry-run").stdout
    assert str(file) in looked and "make test" in looked and not file.exists()
    asked = answer("share", "--dry-run")
    assert (asked["is_changed"], asked["is_written"]) == (True, False) and "make test" in asked["diff"]
    seasoned("share", stdin="n\n")
    assert not file.exists()
    done = answer("share", "--yes")
    assert (done["path"], done["is_changed"], done["is_written"]) == (str(file), True, True)
    assert "make test" in file.read_text("utf-8")
    json.loads(file.read_text("utf-8"))
    assert "says the same already" in seasoned("share").stdout


@pytest.mark.usefixtures("scanned")
def test_the_backtest_says_what_sessions_would_have_seen_and_what_it_does_not_show() -> None:
    said = seasoned("backtest", "--shown").stdout
    assert "not what it would have done" in said and "start: make test [right]" in said
    assert "before a call: Test: `make test` works here" in said
    found = answer("backtest", "--shown")
    assert found["all"]["conversations"] == 10 == len(found["sessions"])
