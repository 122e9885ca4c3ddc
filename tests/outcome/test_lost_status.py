"""Whose status a command ends with, and that a success which rests on another's is never an example by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.example.mine.selection import worked_calls
from seasoned.outcome.evidence.shell_command import read_command, told_name
from seasoned.outcome.evidence.tool_wording import judge_recorded
from seasoned.outcome.track import tracks
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store
from tests.each_case import each_case
from tests.history.claude_lines import ClaudeFile

FAILING = "tests/a.py F.\n=== 1 failed, 1 passed in 0.10s ==="


@each_case(
    ("command", "lost"),
    [
        ("pytest", []),
        ("pytest | tail", ["pytest"]),
        ("cd a && pytest 2>&1 | head -5", ["pytest"]),
        ("set -o pipefail; pytest | tail", []),
        ("pytest | tail; exit ${PIPESTATUS[0]}", []),
        ("make && pytest", []),
        ("make; pytest", ["make"]),
        ("make; echo done", ["make"]),
        ("make || true", ["make"]),
        ("ls a || true", []),
        ("cat a | grep b | head", ["cat"]),
        ("rm -f a 2>/dev/null || true; make", []),
        ("for f in a b; do make $f; done", ["make"]),
        ('bash -lc "make | tail"', ["make"]),
        ("npm run dev & sleep 3; curl x", ["npm"]),
    ],
)
def test_the_programs_whose_status_is_lost(command: str, lost: list[str]) -> None:
    assert [step.program for step in read_command(command).lost] == lost


def test_a_reason_names_known_programs_only() -> None:
    known, unknown = read_command("pytest; hunter2-secret").steps
    assert (told_name(known), told_name(unknown)) == ("pytest", "another program")


def test_what_rests_on_the_status_of_another_program_is_no_example_unless_its_output_is_good(tmp_path: Path) -> None:
    calls = [
        ("pytest -q | tail -1", FAILING),
        ("npm run build 2>&1 | head -3", "> a\n> b\nc"),
        ("make check 2>&1 | grep -A 5 test_x", ""),
        ("./check.sh | tail -40", "line\n" * 9 + "Error: x is wrong\n" + "line\n" * 20),
        ("pytest -x tests/b | tail -2", "tests/b .\n=== 2 passed in 0.10s ==="),
    ]
    file = ClaudeFile().user("Run the checks")
    for at, (command, result) in enumerate(calls):
        call_id = f"toolu_{at:024d}"
        file.says(f"Step {at}.").calls(call_id, "Bash", command=command).result(call_id, result)
    file.write(tmp_path / "s.jsonl")
    scan(ScanTarget(tmp_path / "s.db"), [tmp_path / "s.jsonl"], Secrecy(b"k" * 32), workers=1)
    with open_store(tmp_path / "s.db") as store:
        track = next(tracks(store))
        assert [call.counts_as for call in track.calls] == ["failed", "unclear", "unclear", "unclear", "ok"]
        assert worked_calls(track) == (4,)


@pytest.mark.parametrize(
    "title",
    ["internal/a.go:3:2: undefined: foo is reported once", "go: reject modules without a name", "3 failed, 2 passed"],
)
def test_titles_in_a_log_of_git_are_no_failed_build(title: str) -> None:
    both = "git commit -q -am x; git log --format=%s -3"
    assert judge_recorded(f"{title}\nfix: y", both).verdict == "ok"  # type: ignore[union-attr]
    # A compiler that ran beside it can mean what it says.
    built = judge_recorded("internal/a.go:3:2: undefined: foo", "go build ./...; git log --format=%s -3")
    assert built is not None
    assert built.verdict == "failed"
