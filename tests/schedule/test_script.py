"""The gate script: only from its folder, within limits, without credentials, and nothing of it stays."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from seasoned.errors import NotFound, Refused
from seasoned.runner.process import run_limited
from seasoned.schedule.script import OUTPUT_CHARACTERS, ScriptRun, find_script, run_script
from tests.each_case import each_case
from tests.schedule.places import config_at_home, script


def run(name: str, **options: Any) -> ScriptRun:
    config = config_at_home()
    values: dict[str, Any] = {"folder": None, "time_seconds": 20.0, "stop": lambda: False, "run_program": run_limited}
    return run_script(name, scripts=config.home / "scripts", environment=os.environ, **{**values, **options})


def test_the_output_and_the_second_stream_are_kept_apart() -> None:
    ran = run(script("echo new mail; echo careful >&2"))
    assert (ran.output.strip(), ran.error_output.strip(), ran.problem) == ("new mail", "careful", None)
    assert ran.whole == "new mail\ncareful"


def test_an_exit_code_is_a_problem_with_what_was_printed() -> None:
    ran = run(script("echo half; echo no disk >&2; exit 3"))
    assert ran.problem == "The script 'gate.sh' ended with exit code 3."
    assert (ran.whole, ran.is_nothing_to_do) == ("half\nno disk", False)


def test_python_scripts_and_executables_run_too() -> None:
    assert run(script("print('Zürich')", "gate.py")).output.strip() == "Zürich"
    name = script("#!/bin/sh\necho direct", "gate")
    assert "chmod +x" in (run(name).problem or "")
    (config_at_home().home / "scripts" / name).chmod(0o700)
    assert run(name).output.strip() == "direct"


def test_a_script_that_does_not_end_or_is_called_off_is_ended() -> None:
    begun = time.monotonic()
    overran = run(script("sleep 60"), time_seconds=1.0)
    assert (overran.limit, "did not end within 1 s" in (overran.problem or "")) == ("time", True)
    called_off = time.monotonic() + 0.3
    assert run(script("sleep 60"), stop=lambda: time.monotonic() > called_off).limit == "stopped"
    assert time.monotonic() - begun < 30


def test_children_that_a_script_leaves_behind_are_ended(tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    ways = ("sleep 300 &", "nohup sleep 300 &")
    text = "\n".join([*[f"{way} echo $! >> {mark}" for way in ways], "echo ok"])
    assert run(script(text)).output.strip() == "ok"
    pids = [int(line) for line in mark.read_text().split()]
    assert len(pids) == 2
    until = time.monotonic() + 5
    while time.monotonic() < until and any(map(_is_running, pids)):
        time.sleep(0.02)
    assert [pid for pid in pids if _is_running(pid)] == []


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_fifty_megabytes_are_cut_and_not_kept() -> None:
    ran = run(script("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"))
    assert ran.problem is None
    assert len(ran.output) < OUTPUT_CHARACTERS + 200
    assert ran.output.startswith("first")
    assert ran.output.rstrip().endswith("last")
    assert "left out" in ran.output


def test_credentials_are_not_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "SEASONED_TELEGRAM_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_PASSWORD"):
        monkeypatch.setenv(name, "hush-hush-hush")
    monkeypatch.setenv("SEASONED_TEST_PLAIN", "seen")
    output = run(script("env")).output
    assert "hush" not in output
    assert "SEASONED_TEST_PLAIN=seen" in output


def test_a_script_outside_the_folder_or_behind_a_link_is_refused() -> None:
    home = config_at_home().home
    script("echo no", "inside.sh")
    (home / "outside.sh").write_text("echo no > leaked")
    (home / "scripts" / "folder").mkdir()
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "x.sh").write_text("echo no > leaked")
    (home / "scripts" / "linked.sh").symlink_to(home / "outside.sh")
    (home / "scripts" / "in").symlink_to(home / "elsewhere")
    for name in ("../outside.sh", "/etc/hostname", "folder/../../outside.sh", "linked.sh", "in/x.sh"):
        with pytest.raises(Refused, match="is outside"):
            find_script(home / "scripts", name)
        ran = run(name)
        assert (ran.limit, ran.output) == ("start", ""), name
        assert "was not run" in (ran.problem or "")


def test_what_is_missing_or_no_file_is_said_in_a_sentence() -> None:
    folder = config_at_home().home / "scripts"
    with pytest.raises(NotFound, match="Create it and put"):
        find_script(folder, "a.sh")
    (folder / "sub").mkdir(parents=True)
    with pytest.raises(NotFound, match="Put it there"):
        find_script(folder, "a.sh")
    with pytest.raises(Refused, match="is not a file"):
        find_script(folder, "sub")
    (folder / "loop.sh").symlink_to("loop.sh")
    with pytest.raises(NotFound):
        find_script(folder, "loop.sh")


def test_a_script_that_everybody_may_change_is_refused() -> None:
    name = script("echo no")
    path = config_at_home().home / "scripts" / name
    path.chmod(0o777)
    with pytest.raises(Refused, match="chmod o-w"):
        find_script(path.parent, name)


@each_case(
    ("output", "is_nothing"),
    [
        ("", True),
        (" \n", True),
        ("[SILENT]", True),
        ("checked 3 hosts\n[SILENT]", True),
        ("0", False),
        ("say [SILENT] when done", False),
    ],
)
def test_nothing_to_do_is_said_by_silence_or_by_a_last_line(output: str, is_nothing: bool) -> None:
    assert ScriptRun(output=output).is_nothing_to_do is is_nothing
