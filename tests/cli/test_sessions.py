"""`seasoned sessions`: what went wrong yesterday, in one command and 80 columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import answer, process, seasoned
from tests.web.filled import fill_project


@pytest.fixture(autouse=True)
def scanned(samples: Path, home: Path) -> None:
    seasoned("scan", samples)


def test_sub_agents_are_folded_under_their_session_with_their_figures() -> None:
    every = answer("sessions", "--limit", 500)["sessions"]
    children = [one for one in every if one["relation"] == "subagent"]
    assert children
    parent = children[0]["parent"].partition(":")[2]
    folded = answer("sessions", "--limit", 500, "--no-subagents")["sessions"]
    assert len(folded) == len(every) - len(children)
    lines = seasoned("sessions", "--limit", 500).stdout.splitlines()[1:]
    assert len(lines) == len(folded)
    (line,) = [line for line in lines if parent.startswith(line.split()[1])]
    assert f"(+{sum(one['parent'] == children[0]['parent'] for one in children)} sub-agent" in line
    of_all = [one for one in every if one["session_id"] == parent or one["parent"] == children[0]["parent"]]
    total = sum(one["tool_call_count"] - one["left_out"]["copies"] for one in of_all)
    assert f"{sum(one['failed_calls'] for one in of_all)}/{total}" in line
    assert len(seasoned("sessions", "--limit", 500, "--subagents").stdout.splitlines()) == len(every) + 1


def test_every_line_fits_80_columns_and_has_a_title() -> None:
    head, *lines = seasoned("sessions", "--limit", 500, COLUMNS="80").stdout.splitlines()
    at = head.index("title")
    assert at <= 56 and max(map(len, lines)) <= 80
    assert all(line[at:].strip() not in ("", "–") for line in lines)
    assert "github" not in seasoned("sessions", "--project", "/home/mira/waypost").stdout.splitlines()[0]


def test_what_failed_on_some_days_is_listed_with_the_reason() -> None:
    asked = ("sessions", "--since", "2026-05-06", "--until", "2026-05-07")
    found = answer(*asked)["sessions"]
    assert found and all("2026-05-05" < _day(one["ended"]) <= "2026-05-07" for one in found)
    failed = answer(*asked, "--failed")["sessions"]
    assert failed == [one for one in found if one["failed_calls"]] != []
    said = seasoned(*asked, "--failed").stdout
    assert all(one["session_id"][:8] in said for one in failed if one["relation"] != "subagent")
    assert said.count("  failed ") <= 3 * len(failed) and "failed Bash" in said


def _day(time: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(time).strftime("%Y-%m-%d")


def test_usage_is_summed_by_project_and_week_the_dearest_first() -> None:
    by_project = answer("usage", "--by", "project")["histories"]
    costs = [one["cost_usd"] or 0 for one in by_project]
    assert costs == sorted(costs, reverse=True) and len(costs) > 1
    rows = answer("usage", "--by", "project,week")["histories"]
    names = list(dict.fromkeys(one["name"] for one in rows))
    assert names == [one["name"] for one in by_project], "rows of a project stay together"
    for one in by_project:
        weeks = [row for row in rows if row["name"] == one["name"]]
        assert [row["part"] for row in weeks] == sorted((row["part"] for row in weeks), reverse=True)
        assert sum(row["cost_usd"] or 0 for row in weeks) == pytest.approx(one["cost_usd"] or 0)
    months = answer("usage", "--by", "month")["histories"]
    assert [one["name"] for one in months][:2] == ["2026-05", "2026-04"]
    since = answer("usage", "--by", "month", "--since", "2026-05")["histories"]
    assert [one["name"] for one in since] == ["2026-05"]
    said = seasoned("usage", "--by", "project,month", COLUMNS="80").stdout
    assert max(map(len, said.splitlines()[1:-2])) <= 80 and "~$" in said
    assert "one of day, week, month" in " ".join(seasoned("usage", "--by", "year", expect=2).stderr.split())


def test_a_session_is_resumed_in_its_agent_and_folder(tmp_path: Path) -> None:
    folder, home, programs = tmp_path / "my shop", tmp_path / "other", tmp_path / "bin"
    for each in (folder / ".git", home, programs):
        each.mkdir(parents=True)
    fill_project(home, folder, sessions=1)
    own = {"HOME": str(home), "SEASONED_HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin"}
    (found,) = json.loads(seasoned("sessions", "--json", **own).stdout)["sessions"]
    one = found["session_id"]
    command = f"cd '{folder}' && claude --resume {one}"
    assert seasoned("resume", one, "--print", **own).stdout == f"{command}\n"
    assert json.loads(seasoned("resume", one, "--json", **own).stdout)["command"] == command
    assert "not on the PATH" in seasoned("resume", one, expect=3, **own).stderr
    (programs / "claude").write_text('#!/bin/sh\necho "$PWD: $*"\n', "utf-8")
    (programs / "claude").chmod(0o755)
    assert process("resume", one, **own).stdout == f"{folder}: --resume {one}\n"
    folder.rename(tmp_path / "moved")
    assert "cannot be entered" in seasoned("resume", one, expect=3, **own).stderr


def test_a_sub_agent_is_resumed_by_its_parent() -> None:
    child = next(one for one in answer("sessions", "--limit", 500)["sessions"] if one["relation"] == "subagent")
    said = seasoned("resume", child["session_id"], expect=3).stderr
    assert f"Resume {child['parent']}." in said


def test_a_hit_shows_the_words_once_and_how_to_go_back() -> None:
    hits = [one for one in answer("search", "carriers", "--all")["hits"] if one["by"] == "person" and one["resume"]]
    (first, *_) = [one for one in hits if one["title"] in one["snippet"]]
    shown = seasoned("search", "carriers", "--all").stdout
    assert shown.count(first["title"]) == 1
    assert first["resume"] in [line.strip() for line in shown.splitlines()]
