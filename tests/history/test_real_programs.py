"""Sessions that real programs record, counted once more by plain Python.

Goose is started here. OpenCode and Qwen Code are started by `tests/hooks/test_real_agents.py`, which counts theirs too.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from seasoned.history.read import read as read_path
from tests.hooks.agents import MODEL
from tests.hooks.connected import Connected
from tests.real_clients import goose
from tests.scripted_server import Step
from tests.torture import TORTURE

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


class Goose(Connected):
    agent = "goose"
    variables: ClassVar[dict[str, str]] = {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "scripted",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "OPENAI_API_KEY": "dummy",
        "OPENAI_HOST": MODEL,
    }

    @staticmethod
    def ask(prompt: str) -> list[object]:
        return [goose(), "run", "--with-builtin", "developer", "-t", prompt]

    @staticmethod
    def shell(command: str) -> dict[str, Any]:
        return {"calls": [{"tool": "shell", "arguments": {"command": command}}]}


def goose_counts(home: Path) -> tuple[Path, Counted]:
    path = home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        blocks = [
            block for row in database.execute("SELECT content_json FROM messages") for block in json.loads(row[0])
        ]
    ended = [one["toolResult"]["value"] for one in blocks if one["type"] == "toolResponse"]
    failed = sum(one["isError"] for one in ended)
    codes = [one.get("structuredContent", {}).get("exit_code") for one in ended]
    return path, (sum(one["type"] == "toolRequest" for one in blocks), failed, sum(bool(code) for code in codes))


# How the sessions of a program are counted, and its call that reads a file.
COUNTS: dict[str, tuple[Callable[[Path], tuple[Path, Counted]], str, str]] = {
    "goose": (goose_counts, "read_image", "source"),
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


@pytest.mark.skipif(
    not TORTURE,
    reason="Goose is a program of 280 MB: SEASONED_TORTURE=1 installs and runs it",
)
def test_a_session_of_goose_is_read_whole(tmp_path: Path) -> None:
    place = Goose(tmp_path)
    steps = [place.shell("ls"), place.shell("ls /nowhere"), reads_what_is_missing(place), {"text": "It is done."}]
    for step in steps:
        step["without"] = "Generate a short title"
    place.run(steps, place.ask("Fix the till."))
    check_the_session_is_read_whole(place, 3, "Fix the till.", "It is done.")
