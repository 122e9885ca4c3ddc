"""Calls are judged and kept as they happen, once, off Hermes' path; a scan of its database later completes them."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.hermes_plugin.host import HermesSettings
from seasoned.hermes_plugin.plugin import Plugin
from seasoned.redact.key import Secrecy, load_key
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from seasoned.store.database import _BUSY_SECONDS
from seasoned.store.forget import forget_sessions
from tests.hermes.test_warm import config, sent
from tests.history.hermes_rows import HermesDb

__all__ = ["config"]
OK = '{"output": "fine", "exit_code": 0, "error": null}'
BAD = '{"output": "no", "exit_code": 3, "error": null}'


def called(plugin: Plugin, call_id: str, result: Any = OK, session: str = "s1", **more: Any) -> None:
    given = {"tool_name": "terminal", "args": {"command": "ls"}, "status": "ok", "turn_id": "t"}
    plugin.after_call(result=result, session_id=session, tool_call_id=call_id, **{**given, **more})


def ended(plugin: Plugin) -> None:
    """The end of a turn; Hermes itself waits less for it."""
    plugin.turn_ended()
    assert plugin.flush(60)


def rows(config: Config, select: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(config.store_path)) as store:
        return store.execute(select).fetchall()


def test_a_call_is_judged_with_what_was_asked_before_it(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    sent(plugin)
    called(plugin, "call_1")
    called(plugin, "call_2", BAD)
    called(plugin, "call_3", '{"error": "no"}', status="blocked")
    ended(plugin)
    found = rows(config, "SELECT call_id, position, message, counts_as, intent FROM call ORDER BY position")
    assert found == [
        ("call_1", 0, 1, "ok", "Run the tests."),
        ("call_2", 1, 1, "failed", "Run the tests."),
        ("call_3", 2, 1, "declined", "Run the tests."),
    ]
    assert rows(config, "SELECT agent, native_id, model, calls, ok, failed, declined FROM session") == [
        ("hermes", "s1", "m", 3, 1, 1, 1)
    ]


def test_secrets_are_gone_before_anything_is_written(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    called(plugin, "call_1", json.dumps({"output": secret, "exit_code": 0}), args={"command": f"echo {secret}"})
    ended(plugin)
    assert secret.encode() not in config.store_path.read_bytes()
    assert len(rows(config, "SELECT 1 FROM call")) == 1


def test_a_later_scan_counts_each_call_once_and_knows_more(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    sent(plugin)
    called(plugin, "call_1")
    ended(plugin)
    database = HermesDb(config.hermes_home / "state.db").session("s1", title="Tests")
    database.says("s1", "user", "Run the tests.").calls("s1", "call_1").result("s1", "call_1", OK)
    scan(ScanTarget(config.store_path), [database.path], secrecy=Secrecy(load_key(config.home)))
    assert rows(config, "SELECT title, messages, calls FROM session") == [("Tests", 3, 1)]
    called(plugin, "call_2")
    ended(plugin)
    assert rows(config, "SELECT title, messages, calls, source_id FROM session") == [("Tests", 3, 2, 1)]
    assert rows(config, "SELECT call_id, position FROM call ORDER BY position") == [("call_1", 0), ("call_2", 1)]


def test_a_sub_agent_is_a_session_of_its_own(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    plugin.subagent_started(parent_session_id="s1", child_session_id="child")
    sent(plugin)
    sent(plugin, session="child", platform="subagent")
    called(plugin, "call_1")
    called(plugin, "call_2", session="child")
    ended(plugin)
    found = rows(config, "SELECT native_id, parent_native_id, relation, calls FROM session ORDER BY id")
    assert found == [("s1", None, None, 1), ("child", "s1", "subagent", 1)]


@pytest.mark.parametrize(
    ("session", "call_id"),
    [("", "call_1"), ("s1", ""), ("s1", "warm_0123456789abcdef_1")],
    ids=["session", "id", "ours"],
)
def test_what_nobody_could_find_again_is_left_out(config: Config, session: str, call_id: str) -> None:
    """Calls from inside of code have no session and no id."""
    plugin = Plugin(config, HermesSettings())
    called(plugin, call_id, session=session)
    ended(plugin)
    assert rows(config, "SELECT 1 FROM call") == []


def test_a_forgotten_session_stays_forgotten(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    called(plugin, "call_1")
    ended(plugin)
    with open_store(config.store_path) as store:
        forget_sessions(store, [1], now=time.time())
    called(plugin, "call_2")
    ended(plugin)
    assert rows(config, "SELECT 1 FROM call") == []


def test_hermes_never_waits_for_a_store_that_is_busy_or_broken(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    with open_store(config.store_path) as store, store.write():
        begun, work = time.monotonic(), time.thread_time()
        for number in range(20):
            called(plugin, f"call_{number}")
        assert time.thread_time() - work < 0.5
        # Who waits for the store waits until it is free, which it is not in here. Any shorter pause is the machine's.
        assert time.monotonic() - begun < _BUSY_SECONDS / 2
    ended(plugin)
    config.store_path.write_bytes(b"none" * 2000)
    called(plugin, "call_x")
    ended(plugin)


def test_results_of_any_kind_are_taken(config: Config) -> None:
    plugin = Plugin(config, HermesSettings())
    for number, result in enumerate([None, {"exit_code": 0, "output": Path("x")}, [1], "plain", b"bytes", "\ud800"]):
        called(plugin, f"call_{number}", result)
    called(plugin, "call_6", args="odd")
    ended(plugin)
    assert len(rows(config, "SELECT 1 FROM call")) >= 6


def test_judging_can_be_switched_off(config: Config) -> None:
    plugin = Plugin(config, HermesSettings(judge=False))
    sent(plugin)
    called(plugin, "call_1")
    ended(plugin)
    assert rows(config, "SELECT 1 FROM call") == []
