"""`profile` and `report` by the real command: figures, bad input in one sentence, never 0.0 for unknown."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.cli.run import answer, seasoned

WITHOUT_CALLS = "cs-20260312-0005"


def test_a_profile_has_every_promised_field(samples: Path) -> None:
    found = answer("profile", "c73c43e8", samples)
    assert found["schema"] == "seasoned/profile/1"
    assert found["tool_call_count"] == 63 and found["left_out"]["trivial"] == 7
    assert (found["successful_calls"], found["failed_calls"], found["unclear_calls"]) == (53, 10, 0)
    low, high = found["error_rate_interval"]
    assert low < found["error_rate"] < high
    assert found["error_rate"] == pytest.approx(10 / 63)
    assert found["tool_distribution"]["Bash"] == 41
    assert "TodoWrite" not in found["tool_success_rates"]
    assert found["dominant_tool_type"] == "terminal"
    assert found["usage"]["output"] == 8320
    assert found["cost_usd"] is None


def test_a_session_without_calls_has_no_rate_and_says_so(samples: Path) -> None:
    found = answer("profile", WITHOUT_CALLS, samples)
    assert found["tool_call_count"] == 0
    for name in ("error_rate", "error_rate_interval", "early_error_rate", "proficiency_gain", "dominant_tool_type"):
        assert found[name] is None
    assert found["error_rate_reason"] == "there are no trials"
    assert "its error rate is unknown" in seasoned("profile", WITHOUT_CALLS, samples).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["profile", "/no/such/file"], 1, "does not exist"),
        (["profile", ""], 2, "Give a session id or a path"),
        (["profile", "cs-20260312-0099", "{samples}"], 1, WITHOUT_CALLS),
        (["report", "--source", "nobody", "{samples}"], 1, "No sessions of 'nobody'"),
        (["report", "--include", "everything", "{samples}"], 2, "Invalid value"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: list[str], code: int, said: str, samples: Path) -> None:
    done = seasoned(*[one.format(samples=samples) for one in arguments], expect=code)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_report_is_written_and_nothing_of_others_is_overwritten(samples: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    said = seasoned("report", samples, "-o", page).stdout
    assert "Do sessions get better with experience?" in said
    assert "Mistakes that come back" in said
    assert (
        "- Run `wp deploy preview --stage staging`. (3 failures in 2 sessions, 6 calls lost, 2 repaired it so)" in said
    )
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    seasoned("report", samples, "-o", page)
    mine = tmp_path / "mine.html"
    mine.write_text("<p>mine</p>", "utf-8")
    assert "is not a report of Seasoned" in seasoned("report", samples, "-o", mine, expect=2).stderr
    assert mine.read_text("utf-8") == "<p>mine</p>"


def test_what_is_counted_too_changes_the_report(samples: Path) -> None:
    plain, wide = answer("report", samples), answer("report", samples, "--include", "trivial")
    assert (plain["include"], wide["include"]) == ([], ["trivial"])
    assert wide["cohort"]["overall"]["calls"] > plain["cohort"]["overall"]["calls"]
