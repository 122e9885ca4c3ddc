"""The real Claude Code through the gateway: it works as without, and what happened is what was written down."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.example.examples import example
from tests.gateway.behind import PNG, URL, Behind, check_accounts, check_warm, said
from tests.real_clients import claude_code
from tests.scripted_server import Step


class ClaudeCode(Behind):
    """Claude Code with a folder of its own."""

    before: tuple[object, ...] = ()
    """What stands before its name on the command line."""

    def ask(self, script: list[Step], *runs: list[object]) -> list[dict[str, Any]]:
        """Let it run with these prompts and options, one after the other; what each prints at its end."""
        options = ("--output-format", "json", "--allowedTools", "Bash,Read,Agent")
        ran = self.run(
            script,
            *[[*self.before, claude_code(), "-p", *one, *options] for one in runs],
            CLAUDE_CONFIG_DIR=str(self.folder / ".claude"),
            ANTHROPIC_BASE_URL=URL,
            ANTHROPIC_API_KEY="sk-ant-dummy",
            ANTHROPIC_MODEL="claude-sonnet-4-5",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            DISABLE_AUTOUPDATER="1",
            CLAUDE_CODE_MAX_RETRIES="0",
        )
        printed = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        assert printed, ran.stderr
        return printed


@pytest.fixture
def place(tmp_path: Path) -> ClaudeCode:
    return ClaudeCode(tmp_path)


def bash(command: str) -> dict[str, Any]:
    return {"tool": "Bash", "arguments": {"command": command, "description": "Look"}}


def test_tools_pictures_a_resumed_session_a_sub_agent_and_a_summary(place: ClaudeCode) -> None:
    place.teach(example("Bash", arguments={"command": "ls", "description": "List files"}))
    (place.work / "dot.png").write_bytes(base64.b64decode(PNG))
    looks = [bash("echo one"), bash("sh -c 'echo oops; exit 3'")]
    picture = {"tool": "Read", "arguments": {"file_path": str(place.work / "dot.png")}}
    (begun,) = place.ask(
        [
            {"text": "Two looks.", "calls": looks, "usage": {"input": 900, "cache_read": 500, "cache_write": 100}},
            {"text": "And a picture.", "calls": [picture], "usage": {"input": 1000, "cache_read": 900}},
            {"text": "Found it.", "usage": {"input": 1100, "cache_read": 1000}},
        ],
        ["Look around twice."],
    )
    assert (begun["result"], begun["is_error"]) == ("Found it.", False)
    assert PNG[:40] in place.asked()[-1]["text"], "the picture passes"
    id = begun["session_id"]
    counting = {"description": "Count", "prompt": "Count all birds.", "subagent_type": "general-purpose"}
    *_, last = place.ask(
        [
            {"text": "I send somebody.", "calls": [{"tool": "Agent", "arguments": counting}]},
            {"match": "echo three", "without": "How many", "text": "There are three."},
            {"match": "Count all", "without": "How many", "text": "Counting.", "calls": [bash("echo three")]},
            {"match": "TEXT ONLY", "text": "<summary>We looked around.</summary>"},
            {"match": "Thanks.", "text": "Bye."},
        ],
        ["How many birds?", "--resume", id],
        ["/compact", "--resume", id],
        ["Thanks.", "--resume", id],
    )
    assert last["result"] == "Bye."

    check_accounts(place)
    purposes = [row["purpose"] for row in place.accounted()]
    assert (purposes.count("subagent"), purposes[-2:]) == (2, ["compaction", "turn"])
    is_main = ["x-claude-code-agent-id" not in line["headers"] for line in place.asked()]
    check_warm(place, warm=[*is_main[:-2], False, True], field="messages", at=0)

    main, agent = place.sessions().values()
    assert (str(main.ref), main.parent) == (f"claude-code:{id}", None)
    assert (agent.parent, agent.relation) == (main.ref, "subagent")
    told = [text for role, text in said(main) if role != "system"]
    assert told[:6] == [
        "Look around twice.",
        "Two looks.",
        "And a picture.",
        "Found it.",
        "How many birds?",
        "I send somebody.",
    ]
    assert told[-1] == "Bye." and told[-2].endswith("Thanks.")
    assert not any("TEXT ONLY" in text or "<summary>" in text for text in told), "who asks for a summary says nothing"
    assert [one.text.startswith("This session is being continued") for one in main.messages if one.summary] == [True]
    assert [text for role, text in said(agent) if role != "system"] == [
        "Count all birds.",
        "Counting.",
        "There are three.",
    ]
    verdicts = [("Bash", "ok"), ("Bash", "failed"), ("Read", "ok"), ("Agent", "ok"), ("Bash", "ok")]
    assert place.verdicts() == verdicts, "each call once, and judged"

    place.scan()
    assert place.verdicts() == verdicts, "its own files tell of the same sessions"
    assert set(place.sessions()) == {str(main.ref), str(agent.ref)}


def test_errors_reach_it_and_one_that_is_interrupted_stops_the_upstream(place: ClaudeCode) -> None:
    place.before = ("timeout", "-s", "INT", "2.5")
    refused, *_ = place.ask(
        [
            {"status": 429, "error": "slow down please"},
            {"text": "word " * 400, "words": 400, "pause": 0.02},
        ],
        ["Hello."],
        ["Talk for long."],
    )
    assert refused["is_error"] and "slow down please" in refused["result"]
    line = place.asked()[-1]
    assert "status" not in line["step"] and not line["sent"], "the upstream was told to stop"
    (row,) = place.accounted()
    assert (row["ended"], row["input_tokens"]) == ("cancelled", 100), "a request that was refused took no tokens"
