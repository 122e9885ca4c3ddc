"""The receipt: what a session was shown by its hooks, what its own history then shows of it, and what was kept."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from seasoned.config import Config
from tests.cli.run import answer, seasoned
from tests.history.claude_lines import ClaudeFile
from tests.hooks.test_events import ERROR, FOLDER, RIGHT, WRONG
from tests.hooks.test_notices import answer as hook_answer
from tests.hooks.test_notices import known_project, start

SESSION = "77777777-2222-4333-8444-555555555555"


@pytest.fixture
def config(home: Path) -> Config:
    return known_project(home)


def shown(config: Config) -> None:
    """A session begins, fails as earlier ones did, and is told what works."""
    start(session_id=SESSION)
    failed = {"tool_name": "Bash", "tool_input": {"command": WRONG}, "error": f"Exit code 2\n{ERROR}"}
    said = hook_answer("claude-code", "post-tool-use-failure", "PostToolUseFailure", session_id=SESSION, **failed)
    assert RIGHT in said["hookSpecificOutput"]["additionalContext"]


def write_history(folder: Path, *commands: tuple[str, bool]) -> None:
    """What the session did."""
    folder.mkdir()
    file = ClaudeFile(SESSION).user("How many parcels were late?")
    for at, (command, works) in enumerate(commands):
        file.calls(f"toolu_9{at}", "Bash", command=command)
        file.result(f"toolu_9{at}", "3 parcels" if works else f"Exit code 2\n{ERROR}", is_error=not works)
    # Of tomorrow, so that all of it came after what the hooks said just now.
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86_400)).encode()
    lines = [line.replace(b"2026-03-01", day) for line in file.lines]
    file.lines = [line.replace(b"/home/mira/waypost", FOLDER.encode()) for line in lines]
    file.write(folder / "9.jsonl")


def test_nothing_is_said_where_nothing_happened(home: Path) -> None:
    assert seasoned("receipt").stdout == "No session was shown anything yet.\n"
    assert answer("receipt")["items"] == []
    assert "No session 'abc'" in seasoned("receipt", "abc", expect=1).stderr


def test_before_its_history_is_read_what_was_used_is_not_known(config: Config) -> None:
    shown(config)
    found = answer("receipt")
    assert (found["session"], found["project"], found["is_read"]) == (f"claude-code:{SESSION}", FOLDER, False)
    assert {item["used"] for item in found["items"]} == {"unknown"}
    assert "not in the store yet" in seasoned("receipt", SESSION[:8]).stdout


def test_what_was_used_is_told_from_the_calls(config: Config, home: Path) -> None:
    shown(config)
    write_history(home / "now", (WRONG, False), (RIGHT, True))
    seasoned("scan", home / "now")
    found = answer("receipt", SESSION)
    used = {(item["place"], item["text"].split(" (")[0]): item["used"] for item in found["items"]}
    assert used == {
        ("start", "Test: `make test`"): "not used",
        ("memory", "The depot listens on 5433."): "unknown",
        ("skill", "late-parcels"): "not used",
        ("after", f"`{RIGHT}` works here"): "used",
    }
    assert found["counts"] == {"shown": 4, "kept": 0, "used": 1, "not_used": 2, "failed": 0, "unknown": 1}
    text = seasoned("receipt").stdout
    assert "4 things shown: 1 used, 2 not used, 0 failed, 1 unknown." in text


def test_a_hint_that_was_not_tried_has_not_failed_and_one_that_was_has(config: Config, home: Path) -> None:
    shown(config)
    write_history(home / "now", (WRONG, False))
    seasoned("scan", home / "now")
    assert (answer("receipt", SESSION)["counts"]["not_used"], answer("receipt", SESSION)["counts"]["failed"]) == (3, 0)
    (home / "now" / "9.jsonl").unlink()
    (home / "now").rmdir()
    write_history(home / "now", (WRONG, False), (RIGHT, False))
    seasoned("scan", home / "now")
    assert answer("receipt", SESSION)["counts"]["failed"] == 1


def test_a_session_that_was_shown_nothing_says_why(config: Config, home: Path) -> None:
    write_history(home / "now", (RIGHT, True))
    seasoned("scan", home / "now")
    assert "its agent was not connected" in answer("receipt", SESSION)["cold"]
    (config.home / "config.toml").write_text('[warm]\noff = ["claude-code"]\n')
    assert "It was shown nothing. Warm starts are switched off for it" in seasoned("receipt", SESSION).stdout
