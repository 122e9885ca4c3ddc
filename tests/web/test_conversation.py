"""A turn whose recording was lost is seen on the page of its session, at the place where it is missing."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.config import Config
from seasoned.gateway.accounting import EntryCost, UsageJournal
from seasoned.gateway.failures import Failures
from seasoned.gateway.record import recorder as recorder_module
from seasoned.gateway.record.recorder import GatewayRecorder
from seasoned.redact.key import Secrecy, load_key
from seasoned.session import Message, Session, SessionRef
from seasoned.web.view.conversation import find_lost_turns
from tests.gateway.test_recorder import Agent, account
from tests.web.pages import Visitor, site

_LOST = re.compile(r'<li class="(lost|turn)[^>]*>([^<]*)')


def _record(home: Path, agent: Agent, steps: int) -> None:
    """A recorder takes so many exchanges before it begins to write."""
    exchanges = [agent.step() for _ in range(steps)]
    account(UsageJournal(home / "gateway-journal"), exchanges)
    recorder = GatewayRecorder(
        Config(home=home),
        secrecy=Secrecy(load_key(home)),
        journal=UsageJournal(home / "gateway-journal"),
        failures=Failures(),
        price=lambda _: EntryCost(),
    )
    for exchange in exchanges:
        recorder.take(exchange)
    recorder.start()
    recorder.stop()


def _lines(visitor: Visitor, session: str) -> list[str]:
    """What stands in the conversation, line by line: the sentence of a gap, or that there is a message."""
    text = visitor.client.get(f"{visitor.path}/sessions/{session}").text
    return [html.unescape(said) if kind == "lost" else "message" for kind, said in _LOST.findall(text)]


def test_turns_that_were_not_recorded_are_marked_where_they_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine the recorder may need longer for the rest than a gateway waits for it.
    monkeypatch.setattr(recorder_module, "_STOP_SECONDS", 120.0)
    agent = Agent("a")
    _record(tmp_path, Agent("whole"), 3)
    monkeypatch.setattr(recorder_module, "MOST_WAITING", 3)
    _record(tmp_path, agent, 5)
    missing = "2 turns that went through the gateway at 1970-01-01 00:16:43 UTC and later were not recorded"
    with site(tmp_path) as found, found.visitor() as alice:
        *before, last = _lines(alice, "gateway:a")
        assert before == ["message"] * 4 and last.startswith(missing), "at the end, while nothing follows"
        _record(tmp_path, agent, 1)
        lines = _lines(alice, "gateway:a")
        assert [line.startswith(missing) for line in lines] == [False] * 4 + [True] + [False] * 4
        assert _lines(alice, "gateway:whole") == ["message"] * 4, "of what was recorded nothing is said"


@given(st.lists(st.one_of(st.none(), st.floats(0, 100))), st.lists(st.floats(0, 100)))
def test_every_lost_turn_is_counted_once_and_before_a_message_that_is_shown(
    times: list[float | None], lost: list[float]
) -> None:
    roles = ("user", "assistant", "tool")
    messages = [
        Message(roles[at % 3], "", time=time, answers="c" if at % 3 == 2 else None)  # type: ignore[arg-type]
        for at, time in enumerate(times)
    ]
    found = find_lost_turns(Session(SessionRef("gateway", "a"), "seasoned", "", messages=tuple(messages)), sorted(lost))
    assert sum(gap.turns for gap in found.values()) == len(lost)
    assert list(found) == sorted(found) and all(index == len(times) or index % 3 != 2 for index in found)
