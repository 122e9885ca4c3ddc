"""Conversations from their source: redacted, with edits as diffs, and as one HTML file."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.config import Config
from seasoned.gateway.accounting import EntryCost, UsageJournal
from seasoned.gateway.failures import Failures
from seasoned.gateway.record import recorder as recorder_module
from seasoned.gateway.record.recorder import GatewayRecorder
from seasoned.redact.key import Secrecy, load_key
from seasoned.redact.redactor import Redactor
from seasoned.session import Message, Session, SessionRef
from seasoned.web.view.conversation import edits_of, find_lost_turns
from tests.cli.run import seasoned
from tests.gateway.test_recorder import Agent, account
from tests.web import hostile
from tests.web.filled import store_of
from tests.web.hostile import SECRET
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


_PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n x\n-old\n+new\n*** Delete File: b.py\n*** End Patch"


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
        ({"input": _PATCH}, [("a.py", old_and_new), ("b.py (deleted)", [])]),
        ({"command": ["apply_patch", _PATCH]}, [("a.py", old_and_new), ("b.py (deleted)", [])]),
        ({"file_path": "a", "old_string": "", "new_string": f"key = {SECRET}"}, [("a", [("came", "")])]),
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


def test_a_hostile_session_is_one_harmless_file(tmp_path: Path) -> None:
    home, to = tmp_path / "home", tmp_path / "session.html"
    home.mkdir()
    hostile.fill_hostile(home, tmp_path / "histories")
    seasoned("show", hostile.REF, "--html", to, SEASONED_HOME=str(home))
    page = to.read_text("utf-8")
    assert to.stat().st_mode & 0o777 == 0o600
    assert hostile.SECRET not in page and "default-src &#39;none&#39;" in page
    assert re.findall(r"<(?:script|img|svg|iframe|link|form|object)\b", page) == []
    assert set(re.findall(r'href="([^"]*)"', page)) <= {f"#call-{number}" for number in range(9)}
    assert "Thinking, " in page and 'id="call-3"' in page
    # A file of the user's own is never overwritten, an older export is.
    seasoned("show", hostile.REF, "-o", to, SEASONED_HOME=str(home))
    (mine := tmp_path / "mine.html").write_text("mine")
    assert (
        "is not a session of Seasoned"
        in seasoned("show", hostile.REF, "-o", mine, expect=2, SEASONED_HOME=str(home)).stderr
    )
    # Where the source is gone, the calls of the store are written.
    with store_of(home) as store:
        source = Path(store.rows("source.all")[0]["path"])
    source.unlink()
    seasoned("show", hostile.REF, "-o", to, SEASONED_HOME=str(home))
    assert "These are its calls from the store." in to.read_text("utf-8")
