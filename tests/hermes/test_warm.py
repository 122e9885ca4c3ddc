"""The plugin as Hermes calls it: what a request is given, and what it is never given."""

from __future__ import annotations

import copy
import json
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.example.library.storage import save
from seasoned.hermes_plugin.host import HermesSettings
from seasoned.hermes_plugin.plugin import Plugin
from seasoned.marks import BLOCK_OPENS
from seasoned.store import open_store
from tests.hermes.house import shown
from tests.history.hermes_rows import HermesDb

PATH = {"type": "object", "properties": {"path": {"type": "string"}, "pattern": {"type": "string"}}}
COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "terminal", "parameters": COMMAND}},
    {"type": "function", "function": {"name": "search_files", "parameters": PATH}},
]
ASK = [{"role": "system", "content": "You are Hermes."}, {"role": "user", "content": "Run the tests."}]
LATER = [*ASK, {"role": "assistant", "content": "They pass."}, {"role": "user", "content": "Again."}]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    made = Config(home=tmp_path / "seasoned", hermes_home=tmp_path / "hermes")
    made.hermes_home.mkdir()
    with open_store(made.store_path) as store:
        save(store, shown())
    return made


def sent(plugin: Plugin, session: str = "s1", messages: Any = None, **more: Any) -> list[dict[str, Any]]:
    """The messages that would go to the provider, as Hermes' middleware makes them."""
    body = {"model": "m", "messages": copy.deepcopy(messages or ASK), "tools": more.pop("tools", TOOLS)}
    given = {"platform": "cli", "model": "m", "base_url": "http://x", "api_mode": "chat_completions", "turn_id": "t"}
    before = copy.deepcopy(body)
    answer = plugin.before_request(request=body, session_id=session, **{**given, **more})
    assert body == before, "Hermes' own request is never changed in place"
    return list(body["messages"] if answer is None else answer["request"]["messages"])


def is_warm(messages: list[dict[str, Any]]) -> bool:
    return BLOCK_OPENS in json.dumps(messages)


def rows(config: Config, select: str) -> list[tuple[Any, ...]]:
    with open_store(config.store_path) as store:
        return [tuple(row) for row in store.connection.execute(select)]


def count(config: Config, select: str) -> int:
    return int(rows(config, select)[0][0])


def test_the_block_follows_the_system_message_and_never_changes(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    first, second = sent(plugin), sent(plugin, messages=LATER)
    again = sent(Plugin(config, HermesSettings()), messages=LATER)
    block = first[1:-1]
    assert is_warm(block)
    assert first == [ASK[0], *block, ASK[1]]
    assert second == again == [LATER[0], *block, *LATER[1:]]


def test_only_tools_of_the_session_are_shown_and_a_block_waits_for_one_that_is_gone(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    assert "search_files" not in json.dumps(sent(plugin, session="s0", tools=TOOLS[:1]))
    assert is_warm(sent(plugin))
    assert not is_warm(sent(plugin, tools=TOOLS[:1])), "it shows a call of a tool that is not there any more"
    assert is_warm(sent(plugin))
    assert not is_warm(sent(plugin, session="s2", tools=None))


def test_other_shapes_are_left_alone_and_anthropic_has_its_own(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    assert (
        plugin.before_request(request={"input": [], "tools": TOOLS}, session_id="s1", api_mode="codex_responses")
        is None
    )
    assert plugin.before_request(request={"messages": "odd"}, session_id="s1", api_mode="chat_completions") is None
    assert not is_warm(sent(plugin, session=""))
    theirs = [{"name": "terminal", "input_schema": COMMAND}, {"name": "search_files", "input_schema": PATH}]
    messages = sent(plugin, messages=ASK[1:], tools=theirs, api_mode="anthropic_messages")
    assert "tool_use" in json.dumps(messages)
    assert messages[-1] == ASK[1]


def test_a_sub_agent_begins_cold(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    assert not is_warm(sent(plugin, session="child", platform="subagent"))
    plugin.subagent_started(parent_session_id="s1", child_session_id="other")
    assert not is_warm(sent(plugin, session="other"))
    HermesDb(config.hermes_home / "state.db").session("s1").insert(
        "sessions", id="third", source="subagent", started_at=1.0, parent_session_id="s1"
    )
    assert not is_warm(sent(plugin, session="third"))
    assert count(config, "SELECT count(*) FROM warm_block") == 0


def test_a_session_that_goes_on_after_a_compression_or_as_a_branch_keeps_the_block(config: Config) -> None:
    first = sent(Plugin(config, HermesSettings()))
    database = HermesDb(config.hermes_home / "state.db").session("s1", end_reason="compression")
    database.session("s2", parent_session_id="s1").session(
        "s3", parent_session_id="s2", model_config='{"_branched_from": "s2"}'
    )
    for session in ("s2", "s3"):
        found = sent(Plugin(config, HermesSettings()), session=session, messages=LATER)
        assert found[1:-3] == first[1:-1]
    assert count(config, "SELECT count(*) FROM warm_block") == 1


def test_a_store_that_is_broken_or_busy_leaves_requests_as_they_are(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    first = sent(plugin)
    with open_store(config.store_path) as store, store.write():
        begun = time.monotonic()
        assert not is_warm(sent(plugin, session="s2"))
        assert time.monotonic() - begun < 5
    assert not is_warm(sent(plugin, session="s2", messages=LATER)), "it stays as it began"
    config.store_path.write_bytes(b"none" * 2000)
    assert sent(plugin, messages=LATER)[1:-3] == first[1:-1], "what is held in memory goes on"
    assert not is_warm(sent(plugin, session="s3"))


@pytest.mark.parametrize(
    "place",
    [
        "request.offered",
        "request.insert",
        "request.lineage",
        "request.open_store",
        "request.LessonLookup",
        "request.with_lines",
        "request.begin_with_memory",
        "request.begin",
        "plugin.request_of",
        "request.cached_library",
        "host.is_review",
    ],
)
def test_whatever_of_ours_raises_hermes_goes_on(config: Config, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    module, _, name = place.partition(".")
    monkeypatch.setattr(import_module(f"seasoned.hermes_plugin.{module}"), name, broken)
    plugin = Plugin(config, HermesSettings())
    messages = sent(plugin)
    assert (messages[0], messages[-1]) == (ASK[0], ASK[-1])
    plugin.after_call(tool_name="terminal", args={}, result="{}", session_id="s1", tool_call_id="call_1", status="ok")
    plugin.turn_ended()
    assert plugin.before_call("terminal", {"command": "ls"}, "s1") is None
