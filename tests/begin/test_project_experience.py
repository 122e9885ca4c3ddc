"""What sessions of a project learned reaches agents that speak by messages, and never another project's session.

Two projects in one home and a folder without sessions, through the gateway, the Hermes plugin and MCP.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from mcp import Client
from seasoned.config import load
from seasoned.experiment.live.assignment import ArmShare, keep_split, new_split
from seasoned.hermes_plugin.plugin import open_plugin
from seasoned.lesson.lesson import Way
from seasoned.store import Store, open_store
from seasoned.store.project import project_key
from tests.begin.entry_points import ASK, GatewayEntry, HermesEntry, ask_gateway, ask_hermes, block_in, place_of
from tests.gateway.upstream_server import chat
from tests.lesson.stored import command, keep_lessons, repair
from tests.mcp.clients import talk

FAILS, ERROR = "sh render.sh", "wp: missing --env"
RESULT = json.dumps({"output": ERROR, "exit_code": 2, "error": None})


@pytest.fixture(autouse=True)
def _is_never_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """How busy the machine is does not matter here; other tests are about requests that cannot wait."""
    monkeypatch.setattr("seasoned.gateway.provision._BLOCK_SECONDS", 60.0)
    # A process that learns from the store would find no session behind what `_know` says, and remove it.
    monkeypatch.setattr("seasoned.gateway.record.recorder.begin", lambda home: None)


every_way = pytest.mark.parametrize("entry", [GatewayEntry(), HermesEntry()], ids=lambda one: type(one).__name__)


def _know(store: Store, project: str, name: str) -> None:
    """What the store knows of a project after its sessions: how it is tested, and what repairs a failed rendering."""
    hint = repair("terminal", FAILS, ERROR, f"sh render.sh --env {name}", Way("option", "+--env"))
    keep_lessons(store, project, command(f"python -m {name}_tests"), hint)


def _two_projects(entry: Any) -> None:
    with open_store(load().store_path) as store:
        for name in ("shop", "bank"):
            place = place_of(entry, name)
            key = project_key(store, place.get("folder"), application=place.get("application"))
            assert key is not None
            _know(store, key, name)
            if "folder" in place:
                (Path(place["folder"]) / "render.sh").touch()


@every_way
def test_a_session_begins_with_the_command_of_its_own_project(entry: Any) -> None:
    _two_projects(entry)
    shop = entry.begin("in-shop", "shop")
    assert shop is not None and shop.count("Test: `python -m shop_tests` (3 sessions)") == 1 and "bank" not in shop
    assert "python -m bank_tests" in entry.begin("in-bank", "bank")
    assert entry.begin("elsewhere", "garden") is None
    assert entry.begin("nowhere") is None


def test_mcp_gives_the_command_of_the_folder_with_the_task() -> None:
    _two_projects(HermesEntry())

    def loaded(**more: Any) -> str:
        async def work(client: Client) -> Any:
            return await client.call_tool("warm_session", {"action": "load", "task": "Run the tests.", **more})

        return json.dumps(talk(work).structured_content)

    assert "python -m shop_tests" in loaded(folder=str(Path.home() / "shop"))
    assert "bank_tests" not in loaded(folder=str(Path.home() / "shop"))
    for nothing in ({}, {"folder": str(Path.home() / "garden")}):
        assert "_tests" not in loaded(**nothing)


def _turns(more: int = 0) -> list[dict[str, Any]]:
    made = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "terminal", "arguments": f'{{"command": "{FAILS}"}}'},
    }
    asked = [
        *ASK,
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
    ]
    return [*asked, {"role": "assistant", "content": "It failed."}, {"role": "user", "content": "Go on."}][: 4 + more]


def _result_in(messages: list[dict[str, Any]]) -> str:
    return next(str(one["content"]) for one in messages if one.get("tool_call_id") == "call_1")


def _send(project: str | None, session: str, *requests: list[dict[str, Any]]) -> list[str]:
    if project is not None:
        _HERMES.keep_session(session, project)
    found = []
    for number, messages in enumerate(requests):
        plugin = open_plugin()  # as after a restart
        if not number and any(one.get("tool_calls") for one in messages):
            plugin.after_call("terminal", {"command": FAILS}, RESULT, session, "call_1")
        found.append(_result_in(ask_hermes(plugin, session, messages)))
    return found


_HERMES = HermesEntry()


def test_a_failed_call_is_answered_with_what_repaired_it_in_this_project() -> None:
    _two_projects(_HERMES)
    first, later = _send("shop", "s1", _turns(), _turns(2))
    assert first == f"{RESULT}\n\n[seasoned] `sh render.sh --env shop` works here (2 sessions)."
    assert later == first, "the provider has cached it"
    assert _send("bank", "s2", _turns())[0].endswith("`sh render.sh --env bank` works here (2 sessions).")
    assert _send("garden", "s3", _turns()) == _send(None, "s4", _turns()) == [RESULT]


@pytest.mark.parametrize("session", ["s1", None], ids=["named", "by its words"])
def test_what_the_gateway_told_keeps_its_bytes_through_compaction(session: str | None) -> None:
    """The item of the first prompt, after the project has forgotten it."""
    _two_projects(GatewayEntry())
    made = [("call_1", "terminal", f'{{"command": "{FAILS}"}}')]
    item = block_in(json.dumps(ask_gateway("shop", session, ASK, chat("", calls=made))))
    assert item is not None and "In this project: Test: `python -m shop_tests` (3 sessions)." in item
    with open_store(load().store_path) as store, store.write():
        store.connection.execute("DELETE FROM lesson")

    def seen(project: str, name: str | None, messages: list[dict[str, Any]]) -> str | None:
        return block_in(json.dumps(ask_gateway(project, name, messages)))

    after = [*_turns(1), {"role": "user", "content": "Try another way."}]
    assert seen("shop", session, after) == item
    summary = [ASK[0], {"role": "user", "content": "This is a summary: it failed."}, *_turns(2)[2:]]
    if session is not None:
        assert seen("shop", session, summary) == item
    assert seen("bank", session, after) is None, "another key's history is not this one's"


def test_a_conversation_whose_arm_shows_nothing_gets_no_hint() -> None:
    _two_projects(_HERMES)
    settings = load().home / "config.toml"
    settings.write_text('[warm]\nexperiment = "autumn"\n')
    with open_store(load().store_path) as store:
        split = new_split("autumn", [ArmShare("cold", 1e9), ArmShare("warm", 1e-9)], salt="s")
        keep_split(store, split, now=1.0)
    _send("shop", "s1", [*ASK, {"role": "tool", "tool_call_id": "call_1", "content": "x"}])  # it begins
    assert _send("shop", "s1", _turns()) == [RESULT]
