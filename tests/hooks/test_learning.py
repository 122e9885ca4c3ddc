"""A session that ends is learned from in the background: once, whatever is killed, and without the agent waiting."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from seasoned.app.doctor import run_checks
from seasoned.config import Config, load
from seasoned.example.library.storage import save, snapshot
from seasoned.file_lock import locked
from seasoned.hooks.learner import learn_all
from seasoned.hooks.reviewer import review_folder
from seasoned.learn_queue import begin, is_running, lock_path, note, wait_until_learned, waiting
from seasoned.lesson.storage import last_learned
from seasoned.store import open_store
from tests.cli.run import seasoned
from tests.example.examples import template
from tests.example.library.test_upkeep import EXAMPLE, Place, order
from tests.history.claude_lines import ClaudeFile
from tests.hooks.test_events import ERROR, RIGHT, WRONG, context, hook

FOLDER = "/home/mira/w"


def write_session(projects: Path, number: int, *, calls: int = 3, folder: str = FOLDER) -> Path:
    """A session of a minute ago in which a mistake was repaired, where Claude Code keeps it."""
    file = ClaudeFile(f"{number:08}-2222-4333-8444-555555555555").user("How many parcels were late?")
    at = f"toolu_{number:04}"
    file.calls(f"{at}a", "Bash", command=WRONG).result(f"{at}a", f"Exit code 2\n{ERROR}", is_error=True)
    file.calls(f"{at}b", "Bash", command=RIGHT).result(f"{at}b", "3 parcels", is_error=False)
    for more in range(calls - 2):
        file.calls(f"{at}c{more}", "Bash", command="make test").result(f"{at}c{more}", "3 passed", is_error=False)
    minute = time.strftime("%Y-%m-%dT%H:%M:", time.gmtime(time.time() - 90)).encode()
    file.lines = [line.replace(b"2026-03-01T10:00:", minute) for line in file.lines]
    file.lines = [line.replace(b"/home/mira/waypost", folder.encode()) for line in file.lines]
    path = projects / "-home-mira-w" / f"{number:08}-2222-4333-8444-555555555555.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    file.write(path)
    return path


def end(path: Path, name: str = "SessionEnd", **fields: Any) -> None:
    """What Claude Code does when a session ends."""
    assert hook("claude-code", name, session_id=path.stem, transcript_path=str(path), cwd=FOLDER, **fields) is None


def log_of(config: Config) -> str:
    path = config.log_folder / "hooks.log"
    return path.read_text() if path.exists() else ""


@pytest.fixture
def projects(home: Path) -> Path:
    return home / ".claude" / "projects"


def test_what_a_session_taught_is_told_to_the_next_one_without_any_command(projects: Path) -> None:
    config = load()
    end(write_session(projects, 1))
    assert wait_until_learned(str(config.home), 60)
    failed = {"tool_name": "Bash", "tool_input": {"command": WRONG}, "error": f"Exit code 2\n{ERROR}"}
    said = context("claude-code", "PostToolUseFailure", session_id="new", cwd=FOLDER, **failed)
    assert said is not None and f"`{RIGHT}` works here (1 session" in said
    with open_store(config.store_path) as store:
        (last,) = last_learned(store)
        (ended,) = store.connection.execute("SELECT told_end_at FROM session").fetchone()
    assert (last.agent, last.sessions) == ("claude-code", 1) and last.at >= time.time() - 60
    assert ended >= last.ended
    assert log_of(config) == ""


def test_a_turn_is_learned_from_but_does_not_end_the_session(projects: Path) -> None:
    config = load()
    end(write_session(projects, 1), "Stop")
    assert wait_until_learned(str(config.home), 60)
    with open_store(config.store_path) as store:
        assert last_learned(store)[0].sessions == 1
        assert store.connection.execute("SELECT count(told_end_at) FROM session").fetchone()[0] == 0


def test_templates_and_what_is_shown_of_them_follow_when_a_session_ends(home: Path) -> None:
    config = load()
    place = Place(home / ".claude")
    for number in range(3):
        place.session(f"good{number}", 1, *(order(f"#W00{number}{at}123") for at in range(16)))
    for number in range(3):
        place.session(f"warm{number}", 1, order("#W0012345", fails=True), order("#W0012346", fails=True))
    with open_store(config.store_path) as store:
        save(store, template("orders", EXAMPLE))
    for path in sorted(place.folder.glob("*.jsonl")):
        # Minutes ago, and not in February: what is too old is not learned.
        ago = 1200 if path.stem.startswith("good") else 120
        minute = time.strftime("%Y-%m-%dT%H:%M:", time.gmtime(time.time() - ago)).encode()
        path.write_bytes(path.read_bytes().replace(b"2026-02-01T10:00:", minute))
        note(str(config.home), "session", agent="claude-code", session=path.stem, path=str(path), reason="exit")
    assert learn_all(config) == 6
    with open_store(config.store_path) as store:
        library = snapshot(store)
        assert "auto-mixed" in [one.name for one in library.templates], "although nothing was quiet for an hour"
        assert library.state_of(EXAMPLE.id) == "suspended"


def test_doctor_says_when_ends_of_sessions_wait_for_too_long(home: Path) -> None:
    config = load()
    note(str(config.home), "turn", agent="claude-code", session="x")
    assert [one for one in run_checks(config) if one.name == "learning"] == []
    for path in waiting(str(config.home)):
        os.utime(path, (time.time() - 3600, time.time() - 3600))
    (said,) = [one for one in run_checks(config) if one.name == "learning"]
    assert not said.ok and said.finding.startswith("1 session waiting for more than 10 minutes. Run `seasoned scan`")


def test_what_was_forgotten_does_not_come_back_by_itself(projects: Path) -> None:
    config = load()
    end(write_session(projects, 1))
    assert wait_until_learned(str(config.home), 60)
    seasoned("forget", "--all", "--yes")
    later = write_session(projects, 2)
    # It ends after that.
    moment = time.strftime("%Y-%m-%dT%H:%M:", time.gmtime(time.time() + 3600)).encode()
    minute = time.strftime("%Y-%m-%dT%H:", time.gmtime(time.time() - 90)).encode()
    later.write_bytes(re.sub(re.escape(minute) + rb"\d\d:", moment, later.read_bytes()))
    end(later)
    note(str(config.home), "everything")
    begin(str(config.home))
    assert wait_until_learned(str(config.home), 60)
    assert [row["native_id"] for row in session_rows(config)] == [later.stem]
    seasoned("scan")
    assert len(session_rows(config)) == 2, "a person may have it read again"


def session_rows(config: Config) -> list[Any]:
    with open_store(config.store_path) as store:
        return store.connection.execute("SELECT native_id FROM session").fetchall()


def test_an_end_that_comes_while_another_is_learned_from_is_not_lost(projects: Path) -> None:
    config = load()
    first, second = write_session(projects, 1), write_session(projects, 2)
    note(str(config.home), "session", agent="claude-code", session=first.stem, path=str(first))
    with locked(Path(lock_path(str(config.home)))):
        assert is_running(str(config.home))
        end(second)
        assert len(waiting(str(config.home))) == 2
    begin(str(config.home))
    assert wait_until_learned(str(config.home), 60)
    with open_store(config.store_path) as store:
        assert last_learned(store)[0].sessions == 2


def test_sessions_whose_end_was_not_told_are_learned_from_with_the_next_end_and_within_an_hour(projects: Path) -> None:
    config = load()
    killed = [write_session(projects, number) for number in range(2)]
    begins = {"source": "startup", "cwd": FOLDER}
    hook("claude-code", "SessionStart-startup", session_id="first", **begins)
    assert wait_until_learned(str(config.home), 60), "never before: everything is read"
    with open_store(config.store_path) as store:
        assert last_learned(store)[0].sessions == len(killed)
    write_session(projects, 2)
    hook("claude-code", "SessionStart-startup", session_id="second", **begins)
    assert not is_running(str(config.home)) and not waiting(str(config.home))
    end(write_session(projects, 3))
    assert wait_until_learned(str(config.home), 60)
    said = context("claude-code", "SessionStart-startup", session_id="another", **begins)
    assert said is not None and "- Test: `make test` (4 sessions)" in said


def test_a_start_waits_no_longer_than_its_limit(projects: Path) -> None:
    config = load()
    path = write_session(projects, 1)
    note(str(config.home), "session", agent="claude-code", session=path.stem, path=str(path))
    with locked(Path(lock_path(str(config.home)))):
        begun = time.monotonic()
        hook(
            "claude-code", "SessionStart-startup", session_id="new", source="startup", cwd=FOLDER, transcript_path=None
        )
        assert 0.9 < time.monotonic() - begun < 30, "it waited for the one at work, and then began without it"
    assert waiting(str(config.home)), "what was not learned from waits"


def test_a_store_that_cannot_be_opened_loses_nothing(projects: Path) -> None:
    config = load()
    config.home.mkdir(mode=0o700)
    config.store_path.write_bytes(b"this is no database" * 100)
    end(write_session(projects, 1))
    until = time.monotonic() + 60
    while "learning failed" not in log_of(config) and time.monotonic() < until:
        time.sleep(0.05)
    assert "learning failed" in log_of(config)
    assert len(waiting(str(config.home))) == 1
    config.store_path.unlink()
    assert learn_all(config) == 1 and not waiting(str(config.home))
    with open_store(config.store_path) as store:
        assert last_learned(store)[0].sessions == 1


def test_a_file_that_is_no_history_and_a_note_that_cannot_be_read_stop_nothing(projects: Path, tmp_path: Path) -> None:
    config = load()
    (tmp_path / "no.jsonl").write_text("nothing\n")
    note(str(config.home), "session", agent="claude-code", session="x", path=str(tmp_path / "no.jsonl"))
    (config.home / "learn" / "1-1.end").write_text("{")
    path = write_session(projects, 1)
    note(str(config.home), "session", agent="claude-code", session=path.stem, path=str(path))
    assert learn_all(config) == 2 and not waiting(str(config.home))
    assert "cannot be read" in log_of(config)
    with open_store(config.store_path) as store:
        assert last_learned(store)[0].sessions == 1


def test_a_file_elsewhere_is_read_alone(projects: Path, tmp_path: Path) -> None:
    config = load()
    path = write_session(projects, 1)
    elsewhere = tmp_path / "a" / path.name
    elsewhere.parent.mkdir()
    shutil.move(path, elsewhere)
    shutil.copy(elsewhere, elsewhere.with_name("other.jsonl"))
    end(elsewhere)
    assert wait_until_learned(str(config.home), 60)
    with open_store(config.store_path) as store:
        assert [row["path"] for row in store.each("source.all")] == [str(elsewhere)]


def test_what_waits_is_bounded(home: Path) -> None:
    for number in range(520):
        note(str(home / ".seasoned"), "turn", agent="claude-code", session=str(number))
    assert len(waiting(str(home / ".seasoned"))) == 501, "one note to read everything stands for the rest"


PROBE = """
import os, sys, json, time
from seasoned.background import lower_priority
lower_priority()
inherited = [os.readlink("/dev/fd/" + name) for name in os.listdir("/dev/fd")
             if int(name) > 2 and os.path.lexists("/dev/fd/" + name)]
seen = {"nice": os.nice(0), "session": os.getsid(0), "pid": os.getpid(),
        "open": inherited,
        "path": sys.path, "stdout": os.readlink("/proc/self/fd/1")}
open(sys.argv[1] + ".new", "w").write(json.dumps(seen))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, which only Linux has")
def test_the_process_is_on_its_own_and_lets_others_go_first(tmp_path: Path) -> None:
    (tmp_path / "probing").mkdir()
    (tmp_path / "probing" / "probe_module.py").write_text(PROBE)
    project = tmp_path / "project"
    project.mkdir()
    (project / "probe_module.py").write_text("raise SystemExit('the project was imported')")
    code = (
        "import os, sys; from seasoned.background import start; end = os.pipe()[1]; os.set_inheritable(end, True);"
        "start('probe_module', sys.argv[1])"
    )
    told = tmp_path / "told.json"
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "probing")}
    begun = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", code, str(told)], cwd=project, env=env, check=True, capture_output=True, close_fds=False
    )
    took = time.monotonic() - begun
    while not told.exists() and time.monotonic() < begun + 30:
        time.sleep(0.01)
    seen = json.loads(told.read_text())
    assert seen["nice"] == min(19, os.nice(0) + 15)
    assert seen["session"] == seen["pid"], "it survives what its agent started"
    assert (seen["open"], seen["stdout"]) == ([], "/dev/null"), "no pipe of the agent is held open"
    assert str(project) not in seen["path"] and "" not in seen["path"]
    assert took < 1 + time.monotonic() - begun, "the caller did not wait for it"


@pytest.mark.parametrize(("reviews", "is_counted"), [("", True), ("no", False)])
def test_where_reviews_were_not_connected_a_session_is_learned_from_and_counted_for_none(
    home: Path, reviews: str, is_counted: bool
) -> None:
    path = write_session(home / ".claude" / "projects", 1)
    config = Config(home=home / ".seasoned", model="local", claude_config_dir=home / ".claude")
    note(str(config.home), "session", agent="claude-code", session=path.stem, path=str(path), reviews=reviews)
    assert learn_all(config) == 1
    assert any(review_folder(config).glob("*.json")) == is_counted
    with open_store(config.store_path) as store:
        assert last_learned(store) is not None
