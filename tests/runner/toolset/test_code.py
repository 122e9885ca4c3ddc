"""Python in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seasoned.runner.toolset.scope import ConfinedFolder, ToolLimits, ToolScope
from seasoned.runner.toolset.terminal import execute_code
from tests.runner.toolset.reading import fault, verdict


@pytest.fixture
def scope(tmp_path: Path) -> ToolScope:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "SOME_API_KEY": "hidden"}
    return ToolScope(folder=ConfinedFolder(tmp_path), environment=environment)


def test_what_it_prints_comes_back(scope: ToolScope) -> None:
    answer = execute_code(scope, "import sys\nprint('höllo')\nprint('err', file=sys.stderr)")
    assert answer["output"] == "höllo\nerr\n"
    assert (answer["status"], answer["exit_code"], answer["error"]) == ("success", 0, None)
    assert verdict("execute_code", answer, code="x") == "ok"


def test_code_that_prints_nothing_worked_too(scope: ToolScope) -> None:
    assert verdict("execute_code", execute_code(scope, "x = 1"), code="x = 1") == "ok"


def test_the_end_of_a_traceback_is_the_error(scope: ToolScope) -> None:
    answer = execute_code(scope, "def f():\n    return {}['missing']\n\nprint('before')\nf()")
    assert (answer["status"], answer["exit_code"]) == ("error", 1)
    assert answer["output"].startswith("before\nTraceback")
    assert answer["error"].endswith("KeyError: 'missing'")
    assert 'File "code.py", line 2, in f' in answer["error"]
    assert verdict("execute_code", answer, code="x") == "failed"


@pytest.mark.parametrize(
    ("code", "said"),
    [("x = (", "SyntaxError"), ("import sys; sys.exit(3)", "Exit code 3"), ("1/0", "ZeroDivisionError")],
)
def test_every_failure_is_said(code: str, said: str, scope: ToolScope) -> None:
    answer = execute_code(scope, code)
    assert answer["status"] == "error"
    assert said in answer["error"]
    assert verdict("execute_code", answer, code=code) == "failed"


def test_it_works_in_the_working_folder_or_in_an_empty_one(scope: ToolScope, tmp_path: Path) -> None:
    code = "import os, pathlib\npathlib.Path('made.txt').write_text('x')\nprint(os.listdir())"
    assert execute_code(scope, code, temporary_folder=True)["output"] == "['made.txt']\n"
    assert not (tmp_path / "made.txt").exists()
    execute_code(scope, code)
    assert (tmp_path / "made.txt").exists()


def test_it_is_isolated_from_modules_that_lie_around_and_from_secrets(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong one')")
    answer = execute_code(scope, "import json, os\nprint(json.dumps(1), os.environ.get('SOME_API_KEY'))")
    assert answer["output"] == "1 None\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True: pass", "time limit"),
        ("import signal, time\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(300)", "time limit"),
        ("while True: print('x' * 1000)", "printed more than"),
        ("import os, time\nfor _ in range(200): os.fork() or time.sleep(60)\ntime.sleep(60)", "processes at once"),
    ],
)
def test_code_without_end_is_ended(code: str, said: str, tmp_path: Path) -> None:
    limits = ToolLimits(time_seconds=1.5, grace_seconds=0.3, flood_bytes=1_000_000, processes=50)
    answer = execute_code(ToolScope(folder=ConfinedFolder(tmp_path), limits=limits), code)
    assert said in answer["error"]
    assert verdict("execute_code", answer, code=code) == "failed"


def test_memory_is_limited(tmp_path: Path) -> None:
    scope = ToolScope(folder=ConfinedFolder(tmp_path), limits=ToolLimits(code_memory_bytes=500_000_000))
    assert "MemoryError" in execute_code(scope, "x = b'x' * 2_000_000_000")["error"]


def test_code_that_destroys_is_not_run_when_nobody_can_be_asked(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    answer = execute_code(scope, "import shutil\nshutil.rmtree('kept')")
    assert (tmp_path / "kept").is_dir()
    assert answer["status"] == "blocked"
    assert fault("execute_code", answer, code="x") == "user_declined"


def test_a_program_of_a_million_characters_is_run(scope: ToolScope) -> None:
    assert execute_code(scope, f"x = '{'a' * 1_000_000}'\nprint(len(x))")["output"] == "1000000\n"
