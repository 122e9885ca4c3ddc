"""Sessions that the real OpenCode, Qwen Code and Goose record, counted once more by plain Python."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any, ClassVar

import pytest

from seasoned.history.read import read as read_path
from tests.hooks.agents import MODEL, OpenCode, Qwen
from tests.hooks.connected import Connected
from tests.real_clients import goose

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
    variables: ClassVar[dict[str, str]] = {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "scripted",
        "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
        "OPENAI_API_KEY": "dummy",
        "OPENAI_HOST": MODEL,
    }

    @staticmethod
    def prepare(home: Path) -> None:
        """It needs no settings."""
        if os.environ.get("SEASONED_TORTURE") != "1":
            pytest.skip("Goose is a program of 280 MB: SEASONED_TORTURE=1 installs and runs it")

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


@pytest.mark.parametrize(
    ("place", "tool", "name", "count"),
    [
        (OpenCode, "read", "filePath", opencode_counts),
        (Qwen, "read_file", "file_path", qwen_counts),
        (Goose, "read_image", "source", goose_counts),
    ],
    ids=["opencode", "qwen", "goose"],
)
def test_a_session_of_the_real_program_is_read_whole(
    place: type[Connected], tool: str, name: str, count: Any, tmp_path: Path
) -> None:
    client: Any = place(tmp_path)
    client.prepare(tmp_path)
    missing = str(client.work / "missing.txt")
    steps = [client.shell("ls"), client.shell("ls /nowhere"), {"calls": [{"tool": tool, "arguments": {name: missing}}]}]
    for step in steps:
        step["without"] = "Generate a short title" if place is Goose else "title generator"
    client.run([*steps, {"text": "It is done.", "without": steps[0]["without"]}], client.ask("Fix the till."))
    path, counted = count(tmp_path)
    assert (counted[0], counted[2]) == (3, 1), "the program did what the script says"
    (session,) = read_path(path)
    marks = [call.result.marks for call in session.calls() if call.result is not None]
    found = (
        len(list(session.calls())),
        sum(mark.failed is True for mark in marks),
        sum(bool(m.exit_code) for m in marks),
    )
    assert found == counted
    assert session.unreadable == ()
    assert session.cwd == str(client.work)
    assert session.usage is not None
    assert {"Fix the till.", "It is done."} <= {message.text.strip('"\n') for message in session.messages}
