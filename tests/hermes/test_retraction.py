"""An example that does harm is suspended when its turns end, and taken back where it was shown, in one line."""

from __future__ import annotations

import json
import time

from seasoned.config import Config
from seasoned.example.library.storage import cached_library, set_state
from seasoned.hermes_plugin.host import HermesSettings
from seasoned.hermes_plugin.plugin import Plugin
from seasoned.store import open_store
from tests.hermes.test_warm import ASK, LATER, config, sent

__all__ = ["config"]


MARK = "[seasoned:retract]"
MORE = [*LATER, {"role": "assistant", "content": "So."}, {"role": "user", "content": "Go on."}]


def suspend_all(config: Config) -> None:
    with open_store(config.store_path) as store:
        for one in cached_library(store, now=time.time()).templates[0].examples:
            set_state(store, one.id, "suspended", "it fails", {}, now=time.time())


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
