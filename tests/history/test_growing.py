"""A grown file is read from its old end, and says the same as if it had been read at once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.history.incremental import Resume, read_stretches
from seasoned.history.reader import claude_code, codex
from tests.history.claude_lines import story
from tests.history.codex_lines import codex_story

FORMATS = {"claude-code": claude_code, "codex": codex}


def collect(path: Path, cuts: list[int], module) -> dict[str, object]:
    """Read a file that grows to each of the cuts in turn, each time by another reader."""
    data = path.read_bytes()
    resume, calls, last = None, {}, {}
    for cut in [*cuts, len(data)]:
        path.write_bytes(data[:cut])
        for stretch in module.read_on(path, resume):
            resume = msgspec.json.decode(msgspec.json.encode(stretch.resume), type=Resume)
            for session in stretch.sessions:
                for call in [*session.calls(), *session.late]:
                    calls[session.ref, call.id] = (call.index, call.message, call.tool, call.result, call.synthetic)
                last[session.ref] = (session.message_count, session.usage, session.compactions)
    return {"calls": calls, "last": last}


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(data=st.data())
def test_growing_at_any_line_gives_what_one_reading_gives(name: str, data: st.DataObject, tmp_path_factory) -> None:
    module = FORMATS[name]
    lines = story() if module is claude_code else codex_story()
    ends = [sum(map(len, lines[: number + 1])) for number in range(len(lines))]
    cuts = sorted(data.draw(st.sets(st.sampled_from(ends[:-1]), max_size=6)))
    path = tmp_path_factory.mktemp("grow") / "s.jsonl"
    path.write_bytes(b"".join(lines))
    whole = collect(path, [], module)
    assert collect(path, cuts, module) == whole


@given(cut=st.integers(min_value=1, max_value=1500))
def test_a_file_cut_inside_a_line_is_completed_later(cut: int, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("grow") / "s.jsonl"
    path.write_bytes(b"".join(story()))
    whole = collect(path, [], claude_code)
    assert collect(path, [cut], claude_code) == whole


def test_stretches_keep_memory_small_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(story()))
    reader = claude_code._ClaudeCodeReader
    small = list(read_stretches(path, reader, stretch_bytes=500))
    assert len(small) > 5
    whole = next(iter(read_stretches(path, reader)))
    assert sum(len(s.messages) for part in small for s in part.sessions) == sum(len(s.messages) for s in whole.sessions)


def test_an_exec_session_gets_the_code_that_a_later_call_saw(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(codex_story()))
    (session,) = codex.read(path)
    codes = {call.id: call.result.marks.exit_code for call in session.calls() if call.result}
    assert codes == {"c1": 2, "c2": 0, "c3": 2}
