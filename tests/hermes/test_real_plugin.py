"""The real Hermes 0.19 with our wheel beside it: enabled by its own command, warm, judged, never stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hermes.house import House, block_of, terminal, turn
from tests.scripted_server import serve_script

WORDS = ("REVIEWED", "DELEGATED")
TOOLSETS = ["terminal", "file", "skills", "delegation", "seasoned"]
REVIEWS = "skills:\n  creation_nudge_interval: 1\n"
"""Hermes reviews a conversation in the background after every turn with a call."""


@pytest.mark.slow
def test_the_plugin_in_two_processes_of_hermes(tmp_path: Path) -> None:
    """Enabled by its own command; warm, also after a restart and in reviews; its database holds none of it."""
    steps = [
        turn(match="TESTED", calls=[terminal("echo hello", "call_house_1")]),
        turn(match="TESTED", text="They pass."),
        turn(match="TESTED", text="Still."),
        turn(match="REVIEWED", calls=[terminal("echo reviewed", "call_house_2")]),
        turn(match="REVIEWED", text="Said."),
        turn(match="REVIEWED", text="Nothing to save."),
        turn(match="DELEGATED", calls=[_delegates("Look at SUBTASK.", "call_house_5")]),
    ]
    with serve_script(*steps) as server:
        house = House(tmp_path / "house", server, enabled=False)
        house.keep_template()
        enabled = house.command("plugins", "enable", "seasoned", "--no-allow-tool-override")
        assert "seasoned enabled" in enabled.stdout, enabled.stderr
        chat = house.command("chat", "-Q", "-q", "Run the tests: TESTED.", "-t", ",".join(TOOLSETS))
        assert "They pass." in chat.stdout
        assert "Traceback" not in chat.stderr
        (first,) = [line.split()[1] for line in chat.stderr.splitlines() if line.startswith("session_id:")]
        house.add_settings(REVIEWS)
        sessions = house.play(
            {"session": first, "turns": ["And now?"], "toolsets": TOOLSETS},
            *[{"turns": [f"Be {word}."], "toolsets": TOOLSETS} for word in WORDS],
        )
        _is_warm_in_both(house)
        _keeps_the_prefix(house)
        _child_begins_cold(house)
        kept = house.words_in_hermes()
        assert "seasoned:" not in kept
        assert "warm_" not in kept.replace("warm_session", "")
        judged = dict(house.rows("SELECT call_id, counts_as FROM call WHERE tool = 'terminal'"))
        assert judged == {f"call_house_{at}": "ok" for at in (1, 2)}
        warm = {root for (root,) in house.rows("SELECT lineage_root FROM warm_block")}
        assert warm == {f"hermes:{session}" for session in sessions}


def _delegates(goal: str, call_id: str) -> dict[str, Any]:
    return {"tool": "delegate_task", "arguments": {"goal": goal, "background": False}, "id": call_id}


def _is_warm_in_both(house: House) -> None:
    first, second, third, *_reviews = house.requests("TESTED")
    assert "pytest -q" in block_of(first)
    assert "deploy_rocket" not in block_of(first), "only tools that the session has"
    assert block_of(first) == block_of(second) == block_of(third)
    assert third["messages"][: len(second["messages"]) - 1] == second["messages"][:-1]
    assert "warm_session" in [tool["function"]["name"] for tool in third["tools"]]


def _keeps_the_prefix(house: House) -> None:
    *_, last, review = house.requests("REVIEWED")
    assert "Review the conversation above" in json.dumps(review["messages"][-1])
    assert review["messages"][: len(last["messages"])] == last["messages"]
    assert block_of(review)
    assert review["tools"] == last["tools"]


def _child_begins_cold(house: House) -> None:
    children = [body for body in house.requests("SUBTASK") if "DELEGATED" not in json.dumps(body)]
    assert children
    assert not any(block_of(body) for body in children)
