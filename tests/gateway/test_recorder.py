"""The recorder: several exchanges at once, one that cannot be written, and more than it can write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from seasoned.config import Config
from seasoned.gateway.accounting import EntryCost, UsageJournal, problems
from seasoned.gateway.proxy.exchange import FinishedExchange
from seasoned.gateway.record import recorder as recorder_module
from seasoned.gateway.record.conversations import GatewayConversation
from seasoned.gateway.record.recorder import GatewayRecorder
from seasoned.gateway.record.session_writer import SessionWriter
from seasoned.gateway.settings import Failures
from seasoned.gateway.wire.chat import read_request
from seasoned.gateway.wire.request import ApiResponse
from seasoned.history.reader.seasoned_db import read
from seasoned.learn_queue import wait_until_learned, waiting
from seasoned.lesson.storage import last_learned
from seasoned.redact.key import Secrecy
from seasoned.session import SessionRef, ToolCall
from seasoned.store import open_store
from tests.gateway.running import config_in, used, wait_until
from tests.gateway.test_accounting import ENTRY

KEY = b"k" * 32


class Agent:
    """Two calls to a turn; every request repeats what was said."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.said: list[dict[str, Any]] = []
        self.count = 0

    def step(self) -> FinishedExchange:
        """The next exchange."""
        number, self.count = self.count, self.count + 1
        if number % 3 == 0:
            self.said.append({"role": "user", "content": f"Question {number} of {self.name}"})
        said, is_last = list(self.said), number % 3 == 2
        call = f"call_{self.name}_{number}"
        if is_last:
            answer = ApiResponse(text=f"Answer {number}", finish="stop")
            self.said.append({"role": "assistant", "content": answer.text})
        else:
            answer = ApiResponse(calls=(ToolCall(call, "terminal", {"command": f"cat {number}"}),), finish="tool_calls")
            function = {"name": "terminal", "arguments": json.dumps({"command": f"cat {number}"})}
            self.said += [
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": call, "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": call, "content": f"cat: {number}: No such file or directory"},
            ]
        return _finished(f"{self.name}-{number}", self.name, said, answer, at=1_000.0 + number)


def _finished(
    name: str, session: str, said: list[dict[str, Any]], answer: ApiResponse, *, at: float
) -> FinishedExchange:
    ref = SessionRef("gateway", session)
    entry = msgspec.structs.replace(ENTRY, id=name, at=at, session=str(ref), key_name="", raw=None, seconds=0.5)
    body = json.dumps({"model": "gpt-4o-mini", "messages": said}).encode()
    asked = read_request(body)
    assert asked is not None
    return FinishedExchange(
        id=name,
        at=at,
        key_name="",
        conversation=GatewayConversation(ref=ref, purpose="turn"),
        asked=asked,
        size=len(body),
        answer=answer,
        entry=entry,
    )


def _mixed(rounds: int) -> list[FinishedExchange]:
    agents = [Agent(name) for name in "abc"]
    return [agent.step() for _ in range(rounds) for agent in agents]


def _recorder(config: Config, failures: Failures, **more: Any) -> GatewayRecorder:
    config.home.mkdir(parents=True, exist_ok=True)
    return GatewayRecorder(
        config, secrecy=Secrecy(KEY), journal=_journal(config), failures=failures, price=lambda _: EntryCost(), **more
    )


def test_a_conversation_that_goes_quiet_is_learned_from_while_others_go_on(tmp_path: Path) -> None:
    config, failures = config_in(tmp_path), Failures()
    now = [1_000.0]
    recorder = _recorder(config, failures, clock=lambda: now[0])
    first, second = Agent("a"), Agent("b")
    recorder.start()
    try:
        _take(recorder, config, [first.step(), first.step(), second.step()])
        wait_until(lambda: recorder.waiting == 0)
        now[0] += 50
        _take(recorder, config, [second.step()])
        wait_until(lambda: recorder.waiting == 0)
        assert not (config.home / "learn").exists(), "no one was quiet for a minute"
        now[0] += 15
        wait_until(lambda: (config.home / "learn").exists())
        assert wait_until_learned(str(config.home), 60)
        with open_store(config.store_path) as store:
            (last,) = last_learned(store)
        assert (last.agent, last.sessions) == ("gateway", 2), "the other one has no end, and is read as far as it is"
    finally:
        recorder.stop()
    assert failures.counts == {}
    assert len(waiting(str(config.home))) == 1, "what was heard since is left to the next process"


def _journal(config: Config) -> UsageJournal:
    return UsageJournal(config.home / "gateway-journal")


def _take(recorder: GatewayRecorder, config: Config, exchanges: list[FinishedExchange]) -> None:
    account(_journal(config), exchanges)
    for exchange in exchanges:
        recorder.take(exchange)


def account(journal: UsageJournal, exchanges: list[FinishedExchange]) -> None:
    """Write the lines that a gateway writes before the answers end."""
    journal.open()
    for exchange in exchanges:
        assert exchange.entry is not None
        journal.append(exchange.entry)
    journal.close()


def _unrecorded(config: Config) -> dict[str | None, int]:
    return {one.name: one.unrecorded for one in used(config, "session")}


def test_what_is_written_together_is_what_is_written_one_by_one(tmp_path: Path) -> None:
    found = []
    for name, at_once in (("one", 1), ("many", 5)):
        exchanges = _mixed(9)
        with open_store(tmp_path / name) as store:
            archive = SessionWriter(store, Secrecy(KEY), clock=lambda: 2_000.0)
            for start in range(0, len(exchanges), at_once):
                archive.write(exchanges[start : start + at_once])
            queries = (
                "SELECT native_id, title, messages, calls, failed, input_tokens FROM session",
                "SELECT native_id, position, body FROM message JOIN session ON session.id = session_id",
                "SELECT native_id, call.* FROM call JOIN session ON session.id = session_id",
            )
            found.append([sorted(map(repr, map(tuple, store.connection.execute(query)))) for query in queries])
    assert found[0] == found[1]
    assert [len(rows) for rows in found[0]] == [3, 3 * (3 + 9 + 6), 3 * 6]


def test_one_that_cannot_be_written_keeps_no_other_out(tmp_path: Path) -> None:
    config, failures = config_in(tmp_path), Failures()
    exchanges = _mixed(3)
    # Half a character, which no file takes.
    exchanges[4].answer = ApiResponse(text="\ud83d", finish="stop")
    recorder = _recorder(config, failures)
    recorder.start()
    _take(recorder, config, exchanges)
    recorder.stop()
    assert (recorder.waiting, failures.counts) == (0, {"record": 1})
    assert _unrecorded(config) == {"gateway:a": 0, "gateway:b": 1, "gateway:c": 0}
    sessions = {one.ref.native_id: one for one in read(config.store_path)}
    assert {name: len(one.messages) for name, one in sessions.items()} == {"a": 6, "b": 6, "c": 6}


def test_what_is_too_much_is_counted_marked_logged_and_told_by_the_next_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recorder_module, "MOST_WAITING", 3)
    config, failures = config_in(tmp_path), Failures()
    agent = Agent("a")
    recorder = _recorder(config, failures)
    _take(recorder, config, [agent.step() for _ in range(5)])
    recorder.start()
    recorder.stop()
    assert failures.counts == {"record": 2}
    assert [one.getMessage()[:24] for one in caplog.records] == ["more answers come than t"], "once a minute"
    assert _unrecorded(config) == {"gateway:a": 2}
    with open_store(config.store_path) as store:
        (row,) = store.rows("gateway.requests_of", {"session": "gateway:a"})[:1]
        now = row["at"] + 3600.0
        assert problems(store, now=now) == ["2 of 5 answers of the last day were not recorded; see the gateway's log"]
        assert problems(store, now=now + 86_400.0) == []
    (cut,) = read(config.store_path)
    assert [one.role for one in cut.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    recorder = _recorder(config, failures)
    _take(recorder, config, [agent.step()])
    recorder.start()
    recorder.stop()
    (whole,) = read(config.store_path)
    assert [one.role for one in whole.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"] * 2
    assert [call.result is not None for call in whole.calls()] == [True] * 4
    assert _unrecorded(config) == {"gateway:a": 2}, "of those turns it is not known what the model itself said"


def test_whose_a_conversation_is_holds_though_the_gateway_forgot_it(tmp_path: Path) -> None:
    mine, yours = Agent("a").step(), Agent("a").step()
    yours.key_name = "yours"
    with open_store(tmp_path / "store") as store:
        for exchange in (mine, yours):
            SessionWriter(store, Secrecy(KEY)).write([exchange])
    first, second = read(tmp_path / "store")
    assert (first.ref.native_id, second.ref.native_id[:2]) == ("a", "a~")
    assert [len(one.messages) for one in (first, second)] == [2, 2]
