"""Whatever bytes a history holds: no exception escapes, what was unreadable is counted, the rest survives."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seasoned.errors import SourceError
from seasoned.history.formats import recognise
from seasoned.history.reader import claude_code, codex, hermes_db
from seasoned.session import Session
from tests.history.claude_lines import ClaudeFile
from tests.history.codex_lines import CodexFile
from tests.history.hermes_rows import HermesDb
from tests.history.test_growing import codex_story, story
from tests.torture import TORTURE

# Readers meet whatever an agent wrote, so torture looks at more examples than the profile asks for.
LONG = settings(
    max_examples=2000 if TORTURE else 30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
READERS = {"claude-code": (claude_code, story), "codex": (codex, codex_story)}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def check_reads(module: Any, lines: list[bytes]) -> list[Session]:
    """Read a file of these lines; every text it gives can be stored."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(b"".join(lines))
        sessions = list(module.read(path))
        recognise(path)
    for session in sessions:
        for message in session.messages:
            assert message.text.encode() is not None
        for call in session.calls():
            assert call.result is None or call.result.text.encode() is not None
            assert isinstance(call.arguments, dict)
    return sessions


def replaced(value: Any, path: list[int], junk: Any) -> Any:
    """The JSON value with something else at one place of it."""
    if not path or not isinstance(value, dict | list) or not value:
        return junk
    at, rest = path[0], path[1:]
    if isinstance(value, dict):
        key = list(value)[at % len(value)]
        return {**value, key: replaced(value[key], rest, junk)}
    index = at % len(value)
    return [*value[:index], replaced(value[index], rest, junk), *value[index + 1 :]]


@pytest.mark.parametrize("name", sorted(READERS))
@LONG
@given(data=st.binary(max_size=400))
def test_arbitrary_bytes_between_good_lines(name: str, data: bytes) -> None:
    module, make = READERS[name]
    lines = make()
    whole = {call.id for session in check_reads(module, lines) for call in session.calls()}
    sessions = check_reads(module, [*lines[:6], data.replace(b"\n", b" ") + b"\n", *lines[6:]])
    assert whole <= {call.id for session in sessions for call in session.calls()}
    if data.strip(b" \t\r\n\x00\xef\xbb\xbf") and not data.strip().startswith(b"{"):
        places = [one.place for session in sessions for one in session.unreadable]
        assert "line 7" in places


@pytest.mark.parametrize("name", sorted(READERS))
@LONG
@given(line=st.integers(0, 30), path=st.lists(st.integers(0, 9), max_size=6), junk=JUNK)
def test_wrong_types_anywhere(name: str, line: int, path: list[int], junk: Any) -> None:
    module, make = READERS[name]
    lines = make()
    number = line % len(lines)
    broken = replaced(json.loads(lines[number]), path, junk)
    lines[number] = json.dumps(broken).encode() + b"\n"
    assert check_reads(module, lines)


@pytest.mark.parametrize("name", sorted(READERS))
@LONG
@given(cut=st.integers(1, 4000), glue=st.integers(0, 12))
def test_cut_and_glued_lines(name: str, cut: int, glue: int) -> None:
    module, make = READERS[name]
    lines = make()
    glue %= len(lines) - 1
    data = b"".join([*lines[:glue], lines[glue].rstrip(b"\n"), *lines[glue + 1 :]])
    whole = check_reads(module, [data])
    assert sum(len(session.messages) for session in whole) == sum(len(s.messages) for s in check_reads(module, lines))
    check_reads(module, [data[:cut]])


@pytest.mark.parametrize("name", sorted(READERS))
def test_long_lines_and_deep_nesting(name: str) -> None:
    module, make = READERS[name]
    lines = make()
    deep = b'{"type":"user","message":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n"
    long = (
        ClaudeFile().user("x" * 5_000_000).lines[0]
        if module is claude_code
        else CodexFile().user("x" * 5_000_000).lines[0]
    )
    sessions = check_reads(module, [*lines[:4], deep, long, *lines[4:]])
    assert any("deep" in one.reason for session in sessions for one in session.unreadable)
    assert any(len(message.text) == 5_000_000 for session in sessions for message in session.messages)


@LONG
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["user", "assistant", "tool", "system", "x", ""]), st.text(max_size=30), JUNK, JUNK),
        max_size=8,
    )
)
def test_any_rows_of_a_hermes_database(rows: list[tuple[str, str, Any, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        db = HermesDb(Path(folder) / "state.db").session("s1")
        db.says("s1", "user", "before")
        for role, content, calls, call_id in rows:
            plain = content.encode("utf-8", "replace").decode()
            db.says("s1", role, plain, tool_calls=json.dumps(calls), tool_call_id=json.dumps(call_id))
        db.calls("s1", "after").result("s1", "after")
        db.db.close()
        (session,) = hermes_db.read(db.path)
        assert session.messages[0].text == "before"
        assert "after" in {call.id for call in session.calls()}


@LONG
@given(at=st.integers(100, 20_000), junk=st.binary(min_size=1, max_size=200))
def test_a_damaged_database_is_an_error_or_is_read(at: int, junk: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        db = HermesDb(Path(folder) / "state.db").session("s1").calls("s1", "c1").result("s1", "c1")
        db.db.close()
        data = bytearray(db.path.read_bytes())
        data[at : at + len(junk)] = junk
        db.path.write_bytes(data)
        try:
            sessions = list(hermes_db.read(db.path))
        except SourceError as error:
            assert str(error).endswith((".", "repair."))
        else:
            assert isinstance(sessions, list)
