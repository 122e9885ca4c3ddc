"""The real Codex through the gateway: it works as without, and what happened is what was written down."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.example.examples import example
from tests.gateway.behind import PNG, URL, Behind, check_accounts, check_warm, said
from tests.real_clients import codex
from tests.scripted_server import Step

SETTINGS = f"""
model = "gpt-5.5"
check_for_update_on_startup = false
model_provider = "gateway"
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.gateway]
name = "gateway"
base_url = "{URL}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


class Codex(Behind):
    """Codex with a folder of its own."""

    settings = SETTINGS
    before: tuple[object, ...] = ()

    def ask(self, script: list[Step], *runs: list[object]) -> list[dict[str, Any]]:
        """Let it run with these options, one after the other; all events that it prints."""
        (self.folder / "codex").mkdir(exist_ok=True)
        (self.folder / "codex" / "config.toml").write_text(self.settings)
        options = ("exec", "-s", "danger-full-access", "--skip-git-repo-check", "-C", self.work)
        ran = self.run(
            script,
            *[[*self.before, codex(), *options, *one, "--json"] for one in runs],
            CODEX_HOME=str(self.folder / "codex"),
            GATEWAY_KEY="sk-dummy",
            CODEX_API_KEY="sk-dummy",
        )
        printed = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        assert printed, ran.stderr
        return printed


@pytest.fixture
def place(tmp_path: Path) -> Codex:
    return Codex(tmp_path)


def shell(command: str) -> dict[str, Any]:
    return {"tool": "exec_command", "arguments": {"cmd": command}}


def test_tools_pictures_a_resumed_session_and_a_summary(place: Codex) -> None:
    place.teach(example("exec_command", arguments={"cmd": "ls"}))
    (place.work / "dot.png").write_bytes(base64.b64decode(PNG))
    looks = [shell("echo one"), shell("echo oops; exit 3")]
    picture = {"tool": "view_image", "arguments": {"path": str(place.work / "dot.png")}}
    begun = place.ask(
        [
            {"text": "Two looks.", "calls": looks, "usage": {"input": 900, "cache_read": 500, "reasoning": 4}},
            {"text": "And a picture.", "calls": [picture]},
            {"text": "Found it.", "usage": {"input": 90_000}},
        ],
        ["Look around twice."],
    )
    id = begun[0]["thread_id"]
    # It counts what the server says: its own totals are the upstream's, through the gateway too.
    assert begun[-1]["usage"]["input_tokens"] == 91_000
    assert PNG[:40] in place.asked()[-1]["text"], "the picture passes"
    place.ask(
        [{"text": "We looked around."}, {"text": "Bye."}],
        ["-c", "model_auto_compact_token_limit=50000", "resume", id, "Thanks."],
    )
    check_accounts(place)
    assert [row["purpose"] for row in place.accounted()] == ["turn", "turn", "turn", "compaction", "turn"]
    # Behind two developer messages and what is said of the surroundings.
    check_warm(place, warm=[True, True, True, False, True], field="input", at=3)
    (session,) = place.sessions().values()
    assert (str(session.ref), session.parent) == (f"codex:{id}", None)
    told = [text for role, text in said(session) if role != "system"]
    assert told[:4] == ["Look around twice.", "Two looks.", "And a picture.", "Found it."]
    assert told[-2:] == ["Thanks.", "Bye."]
    assert [one.text.endswith("We looked around.") for one in session.messages if one.summary] == [True]
    assert not any("CHECKPOINT" in text for text in told), "who asks for a summary says nothing"
    verdicts = [("exec_command", "ok"), ("exec_command", "failed"), ("view_image", "ok")]
    assert place.verdicts() == verdicts, "each call once, and judged"

    place.scan(CODEX_HOME=str(place.folder / "codex"))
    assert place.verdicts() == verdicts, "its own files tell of the same session"
    assert set(place.sessions()) == {f"codex:{id}"}


def test_its_own_provider_falls_back_to_http_and_sub_agents_are_sessions_apart(place: Codex) -> None:
    """It tries a WebSocket first; a refusal it understands costs no time."""
    place.settings = SETTINGS.replace("gpt-5.5", "scripted-1").replace(
        'model_provider = "gateway"', f'openai_base_url = "{URL}/v1"'
    )
    place.teach(example("exec_command", arguments={"cmd": "ls"}))
    spawned = {"namespace": "multi_agent_v1", "tool": "spawn_agent", "arguments": {"message": "Count all birds."}}
    begun = place.ask(
        [
            {"text": "I send somebody.", "calls": [spawned]},
            {"match": "Count all", "without": "How many", "text": "Counting.", "calls": [shell("echo three")]},
            {"match": "echo three", "without": "How many", "text": "There are three."},
            {"match": "How many", "calls": [shell("sleep 1")]},
        ],
        ["How many birds?"],
    )
    assert begun[-1]["type"] == "turn.completed"
    assert all(line["method"] == "POST" for line in place.heard), "no WebSocket got as far as the upstream"
    check_accounts(place)
    main, agent = sorted(place.sessions().values(), key=lambda session: session.parent is not None)
    assert str(main.ref) == f"codex:{begun[0]['thread_id']}"
    assert (agent.parent, agent.relation) == (main.ref, "subagent")
    assert next(text for role, text in said(main) if role == "user") == "How many birds?"
    assert [text for role, text in said(agent) if role != "system"][:2] == ["Count all birds.", "Counting."]
    check_warm(place, warm=["x-openai-subagent" not in line["headers"] for line in place.asked()], field="input", at=3)
