"""Conversations from their source: redacted, with edits as diffs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.gateway.accounting import EntryCost, UsageJournal
from seasoned.gateway.record import recorder as recorder_module
from seasoned.gateway.record.recorder import GatewayRecorder
from seasoned.gateway.settings import Failures
from seasoned.redact.key import Secrecy, load_key
from seasoned.redact.redactor import Redactor
from seasoned.web.view.conversation import edits_of
from tests.gateway.test_recorder import Agent, account
from tests.web.hostile import SECRET
from tests.web.pages import Visitor, site

_LOST = re.compile(r'<p class="lost[^>]*>([^<]*)')


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


def _lost(visitor: Visitor, session: str) -> list[str]:
    return _LOST.findall(visitor.client.get(f"{visitor.path}/sessions/{session}").text)


def test_turns_that_were_not_recorded_are_counted_on_the_page_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine the recorder may need longer for the rest than a gateway waits for it.
    monkeypatch.setattr(recorder_module, "_STOP_SECONDS", 120.0)
    agent = Agent("a")
    _record(tmp_path, Agent("whole"), 3)
    monkeypatch.setattr(recorder_module, "MOST_WAITING", 3)
    _record(tmp_path, agent, 5)
    with site(tmp_path) as found, found.visitor() as alice:
        (said,) = _lost(alice, "gateway:a")
        assert said.startswith("2 turns that went through the gateway from 1970-01-01 00:16 UTC to ")
        assert _lost(alice, "gateway:whole") == [], "of what was recorded nothing is said"


def test_edits_of_every_agent_are_recognised_by_their_form() -> None:
    redactor = Redactor(b"key")
    old_and_new = [("stayed", "x"), ("went", "old"), ("came", "new")]
    before, after = "x\nold", "x\nnew"
    cases: list[tuple[dict[str, Any], list[tuple[str, list[tuple[str, str]]]]]] = [
        ({"file_path": "a", "old_string": before, "new_string": after}, [("a", old_and_new)]),
        ({"filePath": "a", "oldString": before, "newString": after}, [("a", old_and_new)]),
        ({"path": "a", "command": "str_replace", "old_str": before, "new_str": after}, [("a", old_and_new)]),
        ({"path": "a", "edits": [{"oldText": before, "newText": after}, "odd"]}, [("a", old_and_new)]),
        ({"file_path": "a", "content": "new"}, [("a", [("came", "new")])]),
        ({"file_path": "a", "old_string": "", "new_string": f"key = {SECRET}"}, [("a", [("came", "")])]),
        # A patch is a difference already.
        ({"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n*** End Patch"}, []),
        # Not edits: a message has content but names no file, a search names a file but no new text.
        ({"content": "hello"}, []),
        ({"path": "a", "old_string": "x"}, []),
        ({"command": "ls", "edits": "none"}, []),
        ({"new_string": 3, "old_string": None}, []),
    ]
    for arguments, expected in cases:
        found = edits_of(arguments, redactor)
        assert [one.path for one in found] == [path for path, _ in expected], arguments
        if SECRET in str(arguments):
            assert SECRET not in str(found)
        else:
            assert [one.lines for one in found] == [lines for _, lines in expected], arguments
