"""A command is ended within its limit, and nothing of it stays: each way out is tried with real processes."""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.runner.toolset.scope import ToolLimits
from seasoned.runner.toolset.terminal import FinishedCommand, clean_environment, run, shell

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
SHORT = ToolLimits(time_seconds=1.0, grace_seconds=0.5, processes=64)
SLACK_SECONDS = 3.0
"""Starting two interpreters on a busy machine takes a moment."""


@pytest.fixture
def sleep() -> Iterator[str]:
    """`sleep 300`, with a figure by which its processes are known; none is there when the test ends."""
    figure = f"300.{secrets.randbelow(10**12):012d}"
    yield f"sleep {figure}"
    assert _running(figure) == []


def _running(word: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if word in line:
                found.append(f"{entry.name}: {line}")
    return found


def _run(command: str, folder: Path, limits: ToolLimits = SHORT) -> FinishedCommand:
    return run(shell(command), folder=folder, limits=limits, environment={"PATH": os.environ["PATH"]})


def test_a_command_prints_and_ends(tmp_path: Path) -> None:
    done = _run("echo out; echo err >&2; pwd", tmp_path)
    assert done.output == f"out\nerr\n{tmp_path}\n"
    assert (done.exit_code, done.ending, done.ended, done.left) == (0, "exit", 0, 0)
    assert done.problem(SHORT) is None


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("kill -9 $$", 137), ("kill $$", 143), ("false", 1)])
def test_the_exit_code_is_that_of_the_command(command: str, code: int, tmp_path: Path) -> None:
    assert _run(command, tmp_path).exit_code == code


def test_words_reach_a_program_as_they_are_without_a_shell(tmp_path: Path) -> None:
    done = run(["echo", "$HOME", "a  b", "*"], folder=tmp_path, limits=SHORT, environment={"PATH": os.environ["PATH"]})
    assert done.output == "$HOME a  b *\n"


def test_a_program_that_is_not_there_is_code_127(tmp_path: Path) -> None:
    done = run(["no-such-program"], folder=tmp_path, limits=SHORT, environment={"PATH": os.environ["PATH"]})
    assert done.exit_code == 127
    assert "No such file" in done.output


def test_a_file_that_is_no_program_is_code_126(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x")
    done = run([str(tmp_path / "text")], folder=tmp_path, limits=SHORT, environment={"PATH": os.environ["PATH"]})
    assert done.exit_code == 126


def test_standard_input_is_empty(tmp_path: Path) -> None:
    assert _run("cat; echo end", tmp_path).output == "end\n"


def test_a_command_of_a_hundred_thousand_characters_is_run(tmp_path: Path) -> None:
    done = _run(f"echo {'x' * 100_000} | wc -c", tmp_path)
    assert done.output.strip() == "100001"


@pytest.mark.parametrize(
    "way",
    [
        "{sleep}",
        "trap '' TERM INT HUP; {sleep}; {sleep}",
        "trap '' TERM; while true; do {sleep}; done",
        "(trap '' TERM; setsid {sleep}) & wait",
        "kill -STOP $$; {sleep}",
        "kill $PPID; {sleep}",
        "kill -STOP $PPID; {sleep}",
    ],
)
def test_a_command_that_sleeps_for_ever_or_ignores_signals_is_ended(way: str, sleep: str, tmp_path: Path) -> None:
    limits = ToolLimits(time_seconds=1.0, grace_seconds=0.5)
    start = time.monotonic()
    done = _run(way.format(sleep=sleep), tmp_path, limits)
    frozen = 10.0 if "STOP $PPID" in way else 0.0  # then only patience is left to find it out
    assert time.monotonic() - start < limits.time_seconds + limits.grace_seconds + SLACK_SECONDS + frozen
    assert done.exit_code in (124, 137)
    assert done.left == 0
    assert done.problem(limits)


@pytest.mark.parametrize(
    "way",
    [
        "{sleep} &",
        "nohup {sleep} >/dev/null 2>&1 &",
        "setsid {sleep} >/dev/null 2>&1 </dev/null &",
        "setsid -f {sleep}",
        "(setsid sh -c '(setsid {sleep} &) &' &) &",
        "env -i setsid -f {sleep} >/dev/null 2>&1",
        "trap '' TERM; setsid -f {sleep}",
        "bash -c '{sleep} & disown; exec setsid {sleep} &'",
    ],
)
def test_what_is_left_in_the_background_is_ended_with_the_command(way: str, sleep: str, tmp_path: Path) -> None:
    start = time.monotonic()
    done = _run(
        f"{way.format(sleep=sleep)}\necho done; sleep 0.2", tmp_path, ToolLimits(time_seconds=20, grace_seconds=0.5)
    )
    assert time.monotonic() - start < SLACK_SECONDS
    assert done.output.endswith("done\n")
    assert (done.exit_code, done.ending, done.left) == (0, "exit", 0)
    assert done.ended >= 1


def test_a_daemon_that_forks_twice_is_ended(sleep: str, tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "os.closerange(0, 3)\n"
        f"os.execvp('sleep', {sleep.split()!r})\n"
    )
    done = run([sys.executable, "-c", program], folder=tmp_path, limits=SHORT, environment={"PATH": os.environ["PATH"]})
    assert (done.exit_code, done.left) == (0, 0)


def test_a_process_that_outlives_its_first_thread_is_ended(sleep: str, tmp_path: Path) -> None:
    program = (
        "import ctypes, threading, time, sys\n"
        "threading.Thread(target=time.sleep, args=(300,)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    done = run(
        [sys.executable, "-c", program, sleep], folder=tmp_path, limits=SHORT, environment={"PATH": os.environ["PATH"]}
    )
    assert (done.ending, done.left) == ("time", 0)


def test_a_command_that_kills_its_watcher_is_ended_all_the_same(sleep: str, tmp_path: Path) -> None:
    done = _run(f"setsid -f {sleep}; kill -9 $PPID; {sleep}", tmp_path)
    assert (done.ending, done.left) == ("lost", 0)
    assert "supervises it" in (done.problem(SHORT) or "")


def test_a_flood_of_output_is_ended_and_its_ends_are_kept(tmp_path: Path) -> None:
    limits = ToolLimits(time_seconds=20, grace_seconds=0.5, flood_bytes=5_000_000, output_characters=1_000)
    start = time.monotonic()
    done = _run("echo first; yes flood", tmp_path, limits)
    assert time.monotonic() - start < SLACK_SECONDS
    assert done.ending == "output"
    assert done.output.startswith("first\nflood\n")
    assert len(done.output) < 1_100
    assert "printed more than 5,000,000 bytes" in (done.problem(limits) or "")


def test_long_output_keeps_its_head_and_tail_and_counts_the_rest(tmp_path: Path) -> None:
    done = _run("seq 100000", tmp_path, ToolLimits(time_seconds=20, output_characters=200))
    assert done.output.startswith("1\n2\n3\n")
    assert done.output.endswith("99999\n100000\n")
    assert done.characters == 588_895
    assert f"[… {588_895 - 200:,} characters left out …]" in done.output


def test_output_that_is_no_text_is_shown_as_far_as_it_can_be(tmp_path: Path) -> None:
    assert _run(r"printf 'a\377b\303'", tmp_path).output == "a\ufffdb\ufffd"


def test_many_processes_are_ended_as_soon_as_they_are_too_many(sleep: str, tmp_path: Path) -> None:
    start = time.monotonic()
    done = _run(f"for i in $(seq 400); do {sleep} & done; wait", tmp_path, ToolLimits(time_seconds=30, processes=50))
    assert time.monotonic() - start < SLACK_SECONDS
    assert (done.ending, done.left) == ("processes", 0)


@pytest.mark.parametrize(
    "way",
    [
        'bomb() { [ "$1" -gt 0 ] && { bomb $(($1 - 1)) | bomb $(($1 - 1)) & }; sleep 5; }; : MARK; bomb 9; wait',
        'bomb() { [ "$1" -gt 0 ] && { bomb $(($1 - 1)) | bomb $(($1 - 1)) & }; sleep 5; }; : MARK; bomb 9 & sleep 0.2',
        "echo '[ $1 -gt 0 ] && for i in 1 2; do setsid bash MARK $(($1 - 1)) & done; sleep 5' > MARK; bash MARK 9",
    ],
)
def test_a_fork_bomb_is_ended_and_leaves_no_process(way: str, tmp_path: Path) -> None:
    # They end by themselves after nine generations, should the limit ever fail: the machine of the tests must live on.
    mark = secrets.token_hex(8)
    start = time.monotonic()
    done = _run(way.replace("MARK", mark), tmp_path, ToolLimits(time_seconds=30, processes=50))
    assert time.monotonic() - start < SLACK_SECONDS
    assert done.ending in ("processes", "exit")
    assert done.left == 0
    assert _running(mark) == []


def test_memory_can_be_limited(tmp_path: Path) -> None:
    done = run(
        [sys.executable, "-I", "-c", "x = b'x' * 2_000_000_000"],
        folder=tmp_path,
        limits=ToolLimits(time_seconds=20, memory_bytes=500_000_000),
        environment={},
    )
    assert "MemoryError" in done.output


def test_a_file_cannot_grow_beyond_its_limit(tmp_path: Path) -> None:
    done = _run("head -c 3000000 /dev/zero > big", tmp_path, ToolLimits(time_seconds=20, written_bytes=1_000_000))
    assert done.exit_code != 0
    assert (tmp_path / "big").stat().st_size <= 1_000_000


def test_a_run_can_be_stopped_from_outside(sleep: str, tmp_path: Path) -> None:
    asked = threading.Event()
    threading.Timer(0.5, asked.set).start()
    start = time.monotonic()
    done = run(
        shell(sleep),
        folder=tmp_path,
        limits=ToolLimits(time_seconds=60, grace_seconds=0.5),
        environment={"PATH": os.environ["PATH"]},
        stop=asked.is_set,
    )
    assert time.monotonic() - start < 0.5 + SLACK_SECONDS
    assert done.ending == "stopped"


def test_when_the_caller_is_killed_the_command_ends_too(sleep: str, tmp_path: Path) -> None:
    program = (
        "import os, pathlib\n"
        "from seasoned.runner.toolset.terminal import run, shell\n"
        "from seasoned.runner.toolset.scope import ToolLimits\n"
        f"run(shell('echo $$ > started; setsid -f {sleep}; {sleep}'), folder=pathlib.Path({str(tmp_path)!r}),"
        " limits=ToolLimits(time_seconds=60, grace_seconds=0.2), environment=dict(os.environ))\n"
    )
    caller = os.posix_spawn(sys.executable, [sys.executable, "-c", program], os.environ)
    _wait_until((tmp_path / "started").exists)
    os.kill(caller, 9)
    os.waitpid(caller, 0)
    _wait_until(lambda: _running(sleep.split()[1]) == [])
    assert _running(sleep.split()[1]) == []


def _wait_until(true: object, seconds: float = 10.0) -> None:
    assert callable(true)
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.02)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    _run("true", tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for command in ("true", "yes | head -c 100000", "kill -9 $PPID"):
        _run(command, tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_names_that_look_like_secrets_do_not_reach_a_command(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "OPENAI_API_KEY": "x1",
        "GITHUB_TOKEN": "x2",
        "AWS_SECRET_ACCESS_KEY": "x3",
        "DB_PASSWORD": "x4",
        "GOOGLE_APPLICATION_CREDENTIALS": "x5",
        "SSH_AUTH_SOCK": "x6",
        "DATABASE_URL": "postgres://u:x7@host/db",
        "SENTRY_DSN": "x8",
        "NPM_TOKEN": "kept",
        "LANG": "C.UTF-8",
        "KEYBOARD": "de",
        "MAX_TOKENS": "100",
    }
    done = run(["env"], folder=tmp_path, limits=SHORT, environment=environment, keep={"NPM_TOKEN"})
    seen = dict(line.split("=", 1) for line in done.output.splitlines())
    assert not [value for value in seen.values() if value.startswith("x") or "x7" in value]
    assert {"NPM_TOKEN", "LANG", "KEYBOARD", "MAX_TOKENS", "PATH"} <= seen.keys()
    assert clean_environment({"A_TOKEN": "x"}, {"A_TOKEN"}) == {"A_TOKEN": "x"}
