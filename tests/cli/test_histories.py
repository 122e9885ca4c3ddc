"""Where commands find their sessions, and what one bad file among many does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.run import SEASONED, answer, seasoned


@pytest.fixture
def named(tmp_path: Path, samples: Path) -> list[str]:
    """Two good files, then one that holds no session, as `*.jsonl` would name them."""
    good = sorted((samples / "codex").rglob("*.jsonl"))[:2]
    for number, one in enumerate(good):
        shutil.copyfile(one, tmp_path / f"good-{number}.jsonl")
    bad = tmp_path / "snapshot.jsonl"
    bad.write_text('{"type":"file-history-snapshot","messageId":"m","snapshot":{}}\n' * 2)
    return [str(path) for path in sorted(tmp_path.glob("*.jsonl"))]


@pytest.mark.parametrize("command", ["sessions", "profile"])
def test_one_bad_file_among_many_is_passed_over_and_listed(command: str, named: list[str]) -> None:
    done = seasoned(command, *named, "--json")
    listed = json.loads(done.stdout)["passed_over"]
    assert [one["path"] for one in listed] == [named[-1]]
    assert "not a history" in listed[0]["reason"]
    assert done.stderr.count("Left out: ") == 1 and named[-1] in done.stderr
    judged = seasoned("judge", *named).stdout.splitlines()
    assert len({json.loads(line)["session"] for line in judged}) == 2


def test_a_named_pipe_among_the_histories_is_passed_over(named: list[str], tmp_path: Path, home: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    report = answer("scan", str(tmp_path))
    assert report["sessions"] == 2
    assert ["pipe" in path for path, why in report["failures"] if "pipe, socket or device" in why] == [True]
    assert "pipe, socket or device" in seasoned("sessions", str(tmp_path / "pipe.jsonl"), named[0]).stderr


@pytest.mark.parametrize("command", ["scan", "judge", "profile"])
def test_where_no_named_file_can_be_read_it_is_an_error(command: str, tmp_path: Path, home: Path) -> None:
    bad = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for one in bad:
        one.write_text('{"hello": "world"}\n')
    done = seasoned(command, *bad, expect=3)
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert f"{str(bad[0])!r} is not a history" in done.stderr
    assert not (home / ".seasoned" / "seasoned.db").exists()


def test_a_path_that_does_not_exist_is_a_mistake_and_never_passed_over(named: list[str], tmp_path: Path) -> None:
    assert "does not exist" in seasoned("judge", *named, tmp_path / "tpyo.jsonl", expect=1).stderr


def test_a_folder_that_cannot_be_opened_is_passed_over_and_its_sessions_stay(tmp_path: Path, samples: Path) -> None:
    closed = tmp_path / "logs" / "closed"
    closed.mkdir(parents=True)
    for source, to in zip(
        (samples / "codex").rglob("*.jsonl"), (closed / "a.jsonl", closed.parent / "b.jsonl"), strict=False
    ):
        shutil.copyfile(source, to)
    assert answer("scan", closed.parent)["sessions"] == 2
    closed.chmod(0)
    # Root opens everything; without its capabilities it is a user like any other.
    without_rights = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.access(closed, os.R_OK) else []
    if without_rights and not shutil.which("setpriv"):
        pytest.skip("root without setpriv: every folder can be opened, nothing to show")
    command = [*without_rights, str(SEASONED), "scan", str(closed.parent), "--json"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert [path for path, _ in report["failures"]] == [str(closed)]
    # Files that cannot be seen are not gone.
    assert (report["gone"], report["store"]["gone"]) == (0, 0)


def test_after_a_scan_commands_use_the_store(samples: Path, home: Path) -> None:
    seasoned("scan", samples / "codex")
    listed = seasoned("sessions")
    assert "codex" in listed.stdout and "From the store, last scan 20" in listed.stderr
    assert answer("sessions")["count"] == 6
    assert answer("report")["sessions"] == 6
    assert len({json.loads(line)["session"] for line in seasoned("judge").stdout.splitlines()}) == 6
    assert answer("template", "build", "code", "--min-messages", 0)["name"] == "code"
    assert "last scan" in seasoned("template", "build", "code", "--min-messages", 0).stderr


def test_own_histories_are_not_mixed_into_what_was_scanned(samples: Path, home: Path) -> None:
    shutil.copytree(samples / "codex", home / ".codex" / "sessions")
    assert answer("sessions")["count"] == 6
    seasoned("scan", samples / "claude_code")
    assert {one["agent"] for one in answer("sessions")["sessions"]} == {"claude-code"}
    seasoned("template", "build", "code", "--min-messages", 0)
    assert {one["agent"] for one in answer("sessions")["sessions"]} == {"claude-code"}
    seasoned("scan")
    assert {one["agent"] for one in answer("sessions")["sessions"]} == {"claude-code", "codex"}


def test_blind_verdicts_and_agreement_come_from_the_files_that_were_scanned(samples: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(samples / "codex", logs)
    seasoned("scan", logs)
    evidence = {json.loads(line)["evidence"] for line in seasoned("judge", "--blind").stdout.splitlines()}
    assert evidence and "flag" not in evidence
    assert answer("agreement") == answer("agreement", logs)


def test_up_and_scan_go_on_with_what_was_scanned_where_agents_keep_nothing(samples: Path, home: Path) -> None:
    seasoned("scan", samples / "codex")
    assert answer("up", "--no-serve")["is_sample"] is False
    assert answer("scan")["unchanged"] == 6
