"""`compare` and `compress-check` as a user meets them: real processes on the sample histories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import answer, seasoned
from tests.history.claude_lines import ClaudeFile

ONE, OTHER = "40904d81", "c73c43e8"


@pytest.fixture
def store(samples: Path) -> None:
    seasoned("scan", samples)


@pytest.mark.usefixtures("store")
def test_two_sessions_by_the_beginning_of_their_ids() -> None:
    found = answer("compare", ONE, OTHER)
    assert found["schema"] == "seasoned/compare/1"
    assert found["warm_id"].startswith(ONE) and found["cold_id"].startswith(OTHER)
    warm, cold = answer("show", ONE), answer("show", OTHER)
    assert found["warm_errors"] == warm["failed_calls"]
    assert found["cold_total"] == cold["successful_calls"] + cold["failed_calls"]
    assert found["improvement"] == pytest.approx(cold["error_rate"] - warm["error_rate"])
    assert found["interval"][0] <= found["improvement"] <= found["interval"][1]
    assert 0 <= found["p_value"] <= 1 and found["test_name"] == "Fisher's exact test"
    assert (found["is_set"], found["smallest_detectable"]) == (False, None)
    out = seasoned("compare", ONE, OTHER).stdout
    assert "warm  claude-code:" in out
    assert "cannot show that warm starts help" in " ".join(out.split())


def test_two_folders_are_two_sets(samples: Path) -> None:
    found = answer("compare", "--set", samples / "claude_code", samples / "codex")
    assert found["is_set"] is True and found["test_name"] == "permutation of lineages"
    assert len(found["warm_id"]) == found["warm_sessions"] > 10
    assert found["warm_lineages"] <= found["warm_sessions"]
    assert found["improvement"] == pytest.approx(found["cold_error_rate"] - found["warm_error_rate"])
    assert set(found["smallest_detectable"]) == {"fall", "rise", "reason"}
    out = " ".join(seasoned("compare", "--set", samples / "claude_code", samples / "codex").stdout.split())
    assert found["sentence"] in out


def test_what_is_counted_too_is_said(samples: Path) -> None:
    plain = answer("compare", ONE, OTHER, samples)
    more = answer("compare", ONE, OTHER, samples, "--include", "trivial", "--include", "declined")
    assert more["include"] == ["trivial", "declined"]
    assert more["cold_total"] + more["warm_total"] > plain["cold_total"] + plain["warm_total"]
    assert "Counted too: trivial" in seasoned("compare", ONE, OTHER, samples, "--include", "trivial").stdout


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([ONE, ONE], 2, "cannot be compared with itself"),
        ([ONE, "nobody-knows"], 1, "No session 'nobody-knows'"),
        ([ONE], 2, "Missing argument"),
        (["--set", "{samples}/codex", "{samples}/codex"], 2, "Both sets contain the same sessions"),
        (["--set", "{samples}/codex", ONE], 3, "The cold set has one session"),
        (["--set", "{samples}/codex", "{samples}/nowhere"], 1, "does not exist"),
        (["--set", "{samples}/codex", " , "], 2, "names no session"),
        (["{samples}/codex", ONE], 2, "Give the id of one"),
        ([ONE, OTHER, "--include", "unclear"], 2, "'unclear' is not one of"),
    ],
)
def test_a_wrong_use_of_compare_says_what_to_do(arguments: list[str], code: int, said: str, samples: Path) -> None:
    given = [one.format(samples=samples) for one in arguments]
    done = seasoned("compare", *given, expect=code)
    assert said in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""


def _session(path: Path, outcomes: str, *, compacted_before: int) -> Path:
    """A session of Claude Code with a call for each letter: `.` worked, `x` failed."""
    file = ClaudeFile(path.stem)
    for number, letter in enumerate(outcomes):
        if number == compacted_before:
            file.other("system", subtype="compact_boundary", content="Conversation compacted")
            file.user("This session is being continued from a previous conversation.", isCompactSummary=True)
        said = "wp: error: --env is required" if letter == "x" else "deployed"
        file.calls(f"toolu_{number:03}", command="wp deploy").result(f"toolu_{number:03}", said, letter == "x")
    return file.write(path)


def test_a_compaction_that_cost_what_was_known(tmp_path: Path) -> None:
    path = _session(tmp_path / "11111111-1111-4111-8111-111111111111.jsonl", "." * 40 + "x" * 30, compacted_before=40)
    found = answer("compress-check", path)
    assert found["schema"] == "seasoned/compress-check/1"
    assert found["has_compression"] is True and found["session_id"] == path.stem
    assert found["pre_compression_profile"]["error_rate"] == 0.0
    assert found["post_compression_profile"]["error_rate"] == 1.0
    assert (found["proficiency_preserved"], found["reason"], found["ratio"]) == (False, None, None)
    assert found["interval"][0] > 1.2 and found["interval"][1] is None
    assert found["lost"]["commands"]["items"] == [
        {"what": "wp deploy", "state": "failed after", "before": 40, "after": 30, "failed_after": 30}
    ]
    assert found["compressions"] == 1
    out = " ".join(seasoned("compress-check", path).stdout.split())
    assert "Proficiency was not preserved" in out and "failed after" in out and "not its cause" in out


@pytest.mark.usefixtures("store")
def test_compress_check_knows_stored_sessions_and_says_what_it_does_not_know(samples: Path) -> None:
    assert answer("compress-check", OTHER)["has_compression"] is True
    assert "No session 'nobody'" in seasoned("compress-check", "nobody", expect=1).stderr
    assert "does not exist" in seasoned("compress-check", samples / "nowhere", expect=1).stderr
    assert "Missing argument" in seasoned("compress-check", expect=2).stderr
