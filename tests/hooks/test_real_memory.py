"""The real Claude Code and Codex are shown memory and skills of their project, and their users see a line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from seasoned.experience.memory import project_folder
from tests.hooks.connected import Connected, shown, texts
from tests.hooks.test_real_claude_code import ClaudeCode, bash
from tests.hooks.test_real_codex import SETTINGS, Codex, shell
from tests.real_clients import codex
from tests.scripted_server import Line
from tests.torture import TORTURE

WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
SESSION = "33333333-3333-4333-8333-333333333333"


def remember(place: Connected) -> None:
    """A note and a skill of the project, and a line about the user."""
    folder = project_folder(place.config.home, str(place.work))
    (folder / "skills" / "parcels").mkdir(parents=True)
    (folder / "skills" / "parcels" / "SKILL.md").write_text(
        "---\nname: parcels\ndescription: How parcels are counted.\n---\nBy hand.\n"
    )
    (folder / "MEMORY.md").write_text("The depot listens on 5433.")
    (place.config.home / "memory").mkdir()
    (place.config.home / "memory" / "USER.md").write_text("Mira likes short answers.")


def memory_in(line: Line) -> str:
    """What a request says of memory, from its mark to its end; it is never there twice."""
    found = [text for text in texts(line) if "[seasoned:memory]" in text]
    assert len(found) == 1, shown(line)
    start = found[0].index("[seasoned:memory]")
    return found[0][start : found[0].index("[seasoned:end]", start)]


def check(text: str) -> None:
    assert "About the user:\n- Mira likes short answers." in text
    assert "About this project:\n- The depot listens on 5433." in text
    assert "- parcels: How parcels are counted. (" in text


@pytest.mark.skipif(
    not TORTURE,
    reason="starts Claude Code four times; test_notices shows it its recorded events: SEASONED_TORTURE=1 runs it",
)
@pytest.mark.slow
def test_claude_code(tmp_path: Path) -> None:
    place = ClaudeCode(tmp_path)
    place.run([bash(WRONG), bash(RIGHT), {"text": "Three."}] * 2, *[place.ask("How many were late?")] * 2)
    place.seasoned("scan")
    remember(place)
    (tmp_path / ".claude" / "settings.json").write_text("{}")
    place.seasoned("connect", "claude-code", "--yes")
    stream = ["--output-format", "stream-json", "--verbose"]
    printed, asked, _ = place.run(
        [bash(WRONG), {"text": "Three."}, {"match": "Go on.", "text": "Still."}, {"match": "TEXT ONLY", "text": "<s>"}],
        place.ask("How many again?", "--session-id", SESSION, *stream),
        place.ask("Go on.", "--resume", SESSION),
    )
    first = memory_in(asked[0])
    check(first)
    assert {memory_in(line) for line in asked} == {first}, "the same in every request, also of a resumed session"
    said = [json.loads(line) for line in printed.stdout.splitlines() if line.startswith('{"type":"system"')]
    lines = [one["content"] for one in said if one.get("subtype") == "informational"]
    assert any(
        line.startswith("PostToolUseFailure:Bash says: Seasoned told the agent: ")
        and line.endswith("Details: seasoned receipt 33333333")
        for line in lines
    ), lines
    began = [json.loads(one["stdout"]) for one in said if one.get("hook_event") == "SessionStart" and "stdout" in one]
    assert "1 note, what is known about you and 1 skill" in began[0]["systemMessage"]
    found = json.loads(place.seasoned("receipt", SESSION, "--json"))
    assert {item["place"] for item in found["items"]} >= {"memory", "skill", "after"}


@pytest.mark.slow
def test_codex(tmp_path: Path) -> None:
    place = Codex(tmp_path)
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(SETTINGS)
    place.run([shell(WRONG), shell(RIGHT), {"text": "Three."}] * 2, *[place.ask("How many were late?")] * 2)
    place.seasoned("scan")
    remember(place)
    place.seasoned("connect", "codex", "--yes", "--parts", "warm,hints")
    client = [sys.executable, Path(__file__).with_name("codex_client.py"), codex(), place.work, "How many again?"]
    printed, asked, _ = place.run([shell(WRONG), {"text": "Three."}], client)
    first = memory_in(asked[0])
    check(first)
    assert {memory_in(line) for line in asked} == {first}
    ran: list[dict[str, Any]] = [
        heard["params"]["run"]
        for heard in map(json.loads, printed.stdout.splitlines())
        if heard.get("method") == "hook/completed"
    ]
    told = {run["eventName"]: entry["text"] for run in ran for entry in run["entries"] if entry["kind"] == "warning"}
    assert "1 note, what is known about you and 1 skill" in told["sessionStart"]
    assert told["postToolUse"].startswith("Seasoned told the agent: ")
