"""The Hermes database: all rows of the schema and older ones, each call once, nothing ever changed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import seasoned
from seasoned.errors import SourceError
from seasoned.history.coerce import arguments_of
from seasoned.history.formats import recognise
from seasoned.history.read import without_copies
from seasoned.history.reader import hermes_db
from seasoned.session import Usage
from tests.history.hermes_rows import HermesDb
from tests.torture import TORTURE

# Readers meet whatever an agent wrote, so torture looks at more examples than the profile asks for.
LONG = settings(
    max_examples=2000 if TORTURE else 30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_the_real_database_reads_to_36_sessions_with_each_call_once(data: Path) -> None:
    sessions = list(seasoned.read(data / "hermes" / "state.db"))
    calls = Counter((call.id, str(call.arguments)) for session in sessions for call in session.calls())
    with closing(sqlite3.connect(f"file:{data}/hermes/state.db?mode=ro&immutable=1", uri=True)) as db:
        rows = db.execute(
            "SELECT DISTINCT json_extract(value, '$.id'), json_extract(value, '$.function.arguments')"
            " FROM messages, json_each(messages.tool_calls)"
        ).fetchall()
    assert len(sessions) == 36
    # Two unrelated sessions both have a `call_1_0`: the id alone does not name a call.
    assert calls == Counter({(row[0], str(arguments_of(row[1]))): 1 for row in rows})
    assert len(rows) == 160
    assert all(call.result is not None for session in sessions for call in session.calls())


def test_compaction_in_place_inserts_rows_again_but_they_count_once(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db").session("s1")
    old = {"active": 0, "compacted": 1}
    db.says("s1", "user", "start", **old).calls("s1", "c1", **old).result("s1", "c1", **old)
    db.calls("s1", "c2", **old).result("s1", "c2", **old)
    db.says("s1", "user", "start").says("s1", "user", "[CONTEXT COMPACTION — REFERENCE ONLY] …")
    db.calls("s1", "c2").result("s1", "c2").calls("s1", "c3").result("s1", "c3")
    (session,) = hermes_db.read(db.path)
    assert [call.id for call in session.calls()] == ["c1", "c2", "c3"]
    assert [m.role for m in session.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "user",
        "assistant",
        "tool",
    ]
    assert session.compactions == (5,)


def test_rotation_copies_calls_into_the_child_but_they_count_in_the_parent(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db").session("s1", end_reason="compression").session("s2", parent_session_id="s1")
    db.calls("s1", "c1").result("s1", "c1").calls("s1", "c2").result("s1", "c2")
    db.calls("s2", "c2").result("s2", "c2").calls("s2", "c3").result("s2", "c3")
    parent, child = without_copies(hermes_db.read(db.path))
    assert child.relation == "compression"
    assert [call.id for call in parent.calls()] == ["c1", "c2"]
    assert [call.id for call in child.calls()] == ["c3"]


def test_an_older_schema_without_columns_is_read(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db", old=True).insert("sessions", id="s1", started_at=5.0)
    db.insert("messages", session_id="s1", role="user", content="hi")
    assert recognise(db.path) == "hermes_db"
    (session,) = hermes_db.read(db.path)
    assert [message.text for message in session.messages] == ["hi"]
    assert session.usage is None


def test_an_unknown_cost_is_unknown_and_zeros_are_not_usage(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db")
    db.session("a", estimated_cost_usd=0.0, cost_status="unknown", input_tokens=7, output_tokens=2)
    db.session("b").session("c", estimated_cost_usd=0.25, cost_status="estimated")
    a, b, c = hermes_db.read(db.path)
    assert (a.cost_usd, b.cost_usd, c.cost_usd) == (None, None, 0.25)
    assert a.usage is not None and (a.usage.input, a.usage.output) == (7, 2)
    assert b.usage is None
    assert Usage() != a.usage


def test_sub_agents_forks_and_broken_rows(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db").session("s1")
    db.insert("sessions", id="s2", source="subagent", started_at=db.time + 1, parent_session_id="s1")
    db.session("s3", parent_session_id="s1", model_config='{"_branched_from": "s1"}')
    db.says("s1", "assistant", "", tool_calls="{not json").says("s1", "narrator", "x").result("s1", "lost")
    db.says("s1", "user", '\x00json:[{"type": "text", "text": "structured"}]')
    s1, s2, s3 = hermes_db.read(db.path)
    assert (s2.relation, s3.relation) == ("subagent", "fork")
    assert s1.messages[-1].text == "structured"
    assert len(s1.unreadable) == 3


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_reading_leaves_no_trace(mode: str, tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db")
    db.db.execute(f"PRAGMA journal_mode = {mode}")
    db.session("s1").says("s1", "user", "hi")
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    assert len(list(hermes_db.read(db.path))) == 1
    after = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    # The index of a write-ahead log is shared memory between programs that are reading; only locks change in it.
    before.pop("state.db-shm", None)
    after.pop("state.db-shm", None)
    assert after == before


def test_a_log_that_a_crash_left_behind_is_read_from_a_copy(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db")
    db.db.execute("PRAGMA journal_mode = WAL")
    db.session("s1").says("s1", "user", "in the log only")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("state.db", "state.db-wal"):
        (crashed / name).write_bytes((tmp_path / name).read_bytes())
    (session,) = hermes_db.read(crashed / "state.db")
    assert session.messages[0].text == "in the log only"
    assert sorted(path.name for path in crashed.iterdir()) == ["state.db", "state.db-wal"]


def test_locked_and_damaged_databases_say_so(tmp_path: Path) -> None:
    db = HermesDb(tmp_path / "state.db").session("s1")
    db.db.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceError, match="locked by another program"):
        list(hermes_db.read(db.path))
    db.db.execute("ROLLBACK")
    broken = tmp_path / "broken.db"
    data = bytearray(db.path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    broken.write_bytes(data)
    with pytest.raises(SourceError, match="damaged"):
        list(hermes_db.read(broken))


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
