"""Files that grow are read in stretches, and nothing in them takes more memory than one stretch."""

from __future__ import annotations

from pathlib import Path

from seasoned.history.incremental import LONGEST_LINE
from seasoned.history.reader import claude_code
from tests.history.claude_lines import ClaudeFile


def test_a_line_that_is_too_long_is_passed_over_and_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    said = ClaudeFile().user("Go on.").lines[0]
    path.write_bytes(said + b'{"type":"user","message":"' + b"x" * LONGEST_LINE + b'"}\n' + said)
    stretches = list(claude_code.read_on(path))
    assert [one.place for stretch in stretches for one in stretch.unreadable] == ["line 2"]
    assert sum(len(session.messages) for stretch in stretches for session in stretch.sessions) == 2
    assert stretches[-1].resume.offset == path.stat().st_size
