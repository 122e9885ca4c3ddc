"""An example that does harm is suspended when its turns end, and taken back where it was shown, in one line."""

from __future__ import annotations

import json
import time
from pathlib import Path

from seasoned.config import Config
from seasoned.example.library.storage import cached_library, save, set_state
from seasoned.hermes_plugin.host import HermesSettings
from seasoned.hermes_plugin.plugin import Plugin
from seasoned.learn_queue import wait_until_learned
from seasoned.store import open_store
from tests.example.examples import example, template
from tests.hermes.test_warm import ASK, LATER, config, sent
from tests.history.hermes_rows import HermesDb

__all__ = ["config"]
BAD = '{"output": "", "exit_code": 2, "error": "pytest: unrecognized arguments: -q"}'
MARK = "[seasoned:retract]"
MORE = [*LATER, {"role": "assistant", "content": "So."}, {"role": "user", "content": "Go on."}]


def suspend_all(config: Config) -> None:
    with open_store(config.store_path) as store:
        for one in cached_library(store, now=time.time()).templates[0].examples:
            set_state(store, one.id, "suspended", "it fails", {}, now=time.time())


def test_failures_after_an_example_suspend_it_and_living_conversations_are_told(tmp_path: Path) -> None:
    config = Config(home=tmp_path / "seasoned", hermes_home=tmp_path / "hermes")
    shown = example("terminal", arguments={"command": "pytest -q"}, result="3 passed", intent="Run the tests.")
    with open_store(config.store_path) as store:
        save(store, template("house", shown))
    config.hermes_home.mkdir()
    database = HermesDb(config.hermes_home / "state.db")
    database.time = time.time() - 100
    plugin = Plugin(config, HermesSettings())
    for number in range(4):
        session = f"s{number}"
        sent(plugin, session=session)
        database.session(session).says(session, "user", "Run the tests.")
        for call in (f"call_{session}_{number}" for number in range(3)):
            made = {"id": call, "function": {"name": "terminal", "arguments": '{"command": "pytest -q"}'}}
            database.says(session, "assistant", "", tool_calls=json.dumps([made])).result(session, call, BAD)
        plugin.turn_ended(session_id=session)
    assert wait_until_learned(str(config.home), 60)
    with open_store(config.store_path) as store:
        library = cached_library(store, now=time.time())
        assert [library.state_of(one.id) for one in library.templates[0].examples] == ["suspended"]
    assert MARK in json.dumps(sent(plugin, session="s0", messages=LATER)[-1])
    assert MARK not in json.dumps(sent(plugin, session="new")), "nothing is shown there, so nothing is taken back"


def test_the_line_stands_where_it_was_first_said(config: Config) -> None:
    first = sent(Plugin(config, HermesSettings()))
    suspend_all(config)
    plugin = Plugin(config, HermesSettings())
    told = sent(plugin, messages=LATER)
    assert told[: len(first) - 1] == first[:-1]
    assert told[-1]["content"].startswith(f"Again.\n\n{MARK}")
    assert sent(plugin, messages=MORE)[: len(told)] == told
    shorter = sent(plugin, messages=[ASK[0], {"role": "user", "content": "[CONTEXT COMPACTION] all"}])
    assert MARK in shorter[-1]["content"], "a compression took the message away that it stood behind"


def test_it_is_put_behind_parts_too(config: Config) -> None:
    sent(Plugin(config, HermesSettings()))
    suspend_all(config)
    plugin = Plugin(config, HermesSettings())
    parts = [{"type": "text", "text": "Again.", "cache_control": {"type": "ephemeral"}}]
    told = sent(plugin, messages=[*LATER[:-1], {"role": "user", "content": parts}])
    assert told[-1]["content"][0] == parts[0]
    assert MARK in told[-1]["content"][1]["text"]
    assert json.dumps(sent(plugin, messages=LATER)).count(MARK) == 1
