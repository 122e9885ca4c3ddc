"""A command in the working folder, as the model sees it and as the judge reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seasoned.command.risk import Danger
from seasoned.runner.toolset.scope import ConfinedFolder, ToolLimits, ToolScope
from seasoned.runner.toolset.terminal import terminal
from tests.runner.toolset.reading import fault, verdict


@pytest.fixture
def scope(tmp_path: Path) -> ToolScope:
    return ToolScope(folder=ConfinedFolder(tmp_path), environment={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("command", "code", "expected"),
    [
        ("echo hello", 0, "ok"),
        ("true", 0, "ok"),
        ("exit 3", 3, "failed"),
        ("no-such-program", 127, "failed"),
        ("cat missing.txt", 1, "failed"),
        ("grep nothing /dev/null", 1, "ok"),
        ("echo a | grep b", 1, "ok"),
        ("diff <(echo a) <(echo b)", 1, "ok"),
        ("test -f missing", 1, "ok"),
        ("grep x missing.txt", 2, "failed"),
        ("python3 -c 'import json; json.loads(\"\")'", 1, "failed"),
    ],
)
def test_the_judge_reads_the_answer_truly(command: str, code: int, expected: str, scope: ToolScope) -> None:
    answer = terminal(scope, command)
    assert (answer["exit_code"], answer["error"]) == (code, None)
    assert verdict("terminal", answer, command=command) == expected


def test_a_command_runs_in_the_working_folder_and_its_variables_do_not_last(scope: ToolScope) -> None:
    assert terminal(scope, "pwd; export A=1; mkdir sub; cd sub")["output"] == f"{scope.folder.root}\n"
    assert terminal(scope, 'pwd; echo "[$A]"')["output"] == f"{scope.folder.root}\n[]\n"


def test_a_time_limit_is_said_and_counts_as_failed(scope: ToolScope) -> None:
    answer = terminal(scope, "echo begun; sleep 60", timeout_seconds=1)
    assert answer["exit_code"] == 124
    assert answer["output"] == "begun\n"
    assert "time limit (1 seconds)" in answer["error"]
    assert verdict("terminal", answer, command="sleep 60") == "failed"


def test_a_call_cannot_ask_for_more_time_than_is_set() -> None:
    assert ToolLimits(time_seconds=5).within(500).time_seconds == 5
    assert ToolLimits(time_seconds=5).within(0).time_seconds == 1
    assert ToolLimits(time_seconds=5).within(None).time_seconds == 5


def test_what_would_steer_a_terminal_is_taken_out(scope: ToolScope) -> None:
    answer = terminal(scope, r"printf '\033[31mred\033[0m \033]0;title\007 a\bb\0c\r\n'")
    assert answer["output"] == "red  abc\n"


def test_processes_in_the_background_are_ended_and_that_is_said(scope: ToolScope) -> None:
    answer = terminal(scope, "sleep 300 & echo started")
    assert answer["output"] == "started\n"
    assert "Killed 1 process that it left" in answer["note"]
    assert verdict("terminal", answer, command="sleep 300 & echo started") == "ok"


def test_a_command_that_destroys_is_not_run_when_nobody_can_be_asked(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    answer = terminal(scope, "rm -rf kept")
    assert (tmp_path / "kept").is_dir()
    assert answer["status"] == "blocked"
    assert "deletes folders and everything in them" in answer["error"]
    assert verdict("terminal", answer, command="rm -rf kept") == "failed"
    assert fault("terminal", answer, command="rm -rf kept") == "user_declined"


def test_a_command_that_destroys_is_run_when_it_is_allowed(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def allow(command: str, danger: Danger) -> bool:
        asked.append((command, danger.pattern))
        return True

    (tmp_path / "gone").mkdir()
    scope = ToolScope(folder=ConfinedFolder(tmp_path), environment={"PATH": os.environ["PATH"]}, ask=allow)
    assert terminal(scope, "rm -rf gone")["exit_code"] == 0
    assert not (tmp_path / "gone").exists()
    assert asked == [("rm -rf gone", "rm -r")]


def test_a_stopped_command_is_no_fault_of_anyone(tmp_path: Path) -> None:
    scope = ToolScope(folder=ConfinedFolder(tmp_path), environment={"PATH": os.environ["PATH"]}, stop=lambda: True)
    answer = terminal(scope, "sleep 60")
    assert answer["status"] == "interrupted"
    assert fault("terminal", answer, command="sleep 60") == "interrupted"


def test_a_command_with_a_nul_character_is_refused_in_words(scope: ToolScope) -> None:
    answer = terminal(scope, "echo a\0b")
    assert answer["exit_code"] == -1
    assert "NUL" in answer["error"]
