"""Sessions that real programs record, counted once more by plain Python.

OpenCode and Qwen Code are started by `tests/hooks/test_real_agents.py`, which has their sessions counted here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from seasoned.history.read import read as read_path
from tests.hooks.connected import Connected
from tests.scripted_server import Step

Counted = tuple[int, int, int]  # calls, calls that the agent says failed, commands with another code than 0


def opencode_counts(home: Path) -> tuple[Path, Counted]:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        parts = [json.loads(row[0]) for row in database.execute("SELECT data FROM part")]
    states = [part["state"] for part in parts if part["type"] == "tool"]
    failed = sum(state["status"] == "error" for state in states)
    return path, (len(states), failed, sum(bool(state.get("metadata", {}).get("exit")) for state in states))


def qwen_counts(home: Path) -> tuple[Path, Counted]:
    (path,) = (home / ".qwen" / "projects").glob("*/chats/*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    calls = sum("functionCall" in part for one in lines for part in one.get("message", {}).get("parts", ()))
    ended = [(one["toolCallResult"]["status"], json.dumps(one["message"])) for one in lines if "toolCallResult" in one]
    failed = sum(status == "error" for status, _ in ended)
    return path, (calls, failed, sum("Exit Code: 2" in text for _, text in ended))


# How the sessions of a program are counted, and its call that reads a file.
COUNTS: dict[str, tuple[Callable[[Path], tuple[Path, Counted]], str, str]] = {
    "opencode": (opencode_counts, "read", "filePath"),
    "qwen": (qwen_counts, "read_file", "file_path"),
}


def reads_what_is_missing(place: Connected) -> Step:
    """A call that the program answers with an error."""
    _, tool, name = COUNTS[place.agent]
    return {"calls": [{"tool": tool, "arguments": {name: str(place.work / "missing.txt")}}]}


def check_the_session_is_read_whole(place: Connected, calls: int, *said: str) -> None:
    """What the reader finds in the session that the program recorded is what plain Python counts there."""
    path, counted = COUNTS[place.agent][0](place.home)
    assert (counted[0], counted[2]) == (calls, 1), "the program did what the script says"
    (session,) = read_path(path)
    marks = [call.result.marks for call in session.calls() if call.result is not None]
    found = (
        len(list(session.calls())),
        sum(mark.failed is True for mark in marks),
        sum(bool(mark.exit_code) for mark in marks),
    )
    assert found == counted
    assert session.unreadable == ()
    assert session.cwd == str(place.work)
    assert session.usage is not None
    assert set(said) <= {message.text.strip('"\n') for message in session.messages}
