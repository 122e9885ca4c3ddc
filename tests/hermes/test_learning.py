"""A connected plugin reads Hermes' database by itself, and the tool works on what Hermes has recorded up to now."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import seasoned
from seasoned.config import Config
from seasoned.hermes_plugin.host import HermesSettings
from seasoned.hermes_plugin.plugin import Plugin
from seasoned.learn_queue import wait_until_learned, waiting
from seasoned.outcome.judge import judge_session
from tests.cli.run import SEASONED
from tests.hermes.house import House, block_of, terminal, turn
from tests.hermes.test_warm import rows
from tests.history.hermes_rows import HermesDb
from tests.real_clients import pip, run
from tests.review.scripted import answer, note
from tests.scripted_server import serve_script

OK = '{"output": "3 passed", "exit_code": 0, "error": null}'
BAD = '{"output": "rtk: command not found", "exit_code": 127, "error": null}'
RIGHT = "make report WEEK=2026-W09"
REPORT = "./wp report late --week"


@pytest.fixture
def plugin(home: Path) -> Plugin:
    (home / ".hermes").mkdir()
    (home / ".seasoned").mkdir(mode=0o700)
    return Plugin(Config(home=home / ".seasoned", hermes_home=home / ".hermes"), HermesSettings())


def database(home: Path) -> HermesDb:
    """Hermes' own, as it is while Hermes runs: what was written last is in the log beside it."""
    made = HermesDb(home / ".hermes" / "state.db")
    made.db.execute("PRAGMA journal_mode = WAL")
    made.time = time.time() - 1200
    return made


def talk(made: HermesDb, name: str, *, calls: int = 16, last: str = OK, **fields: Any) -> None:
    """A session of a few minutes ago with so many calls."""
    made.session(name, cwd="/home/mira/w", **fields)
    made.says(name, "user", "Run the report of week 9, then the tests.")
    for at in range(calls):
        id = f"call_{name}_{at}"
        command = RIGHT if at == 1 else f"pytest -q tests/part_{at}"
        call = {"id": id, "function": {"name": "terminal", "arguments": json.dumps({"command": command})}}
        made.says(name, "assistant", "", tool_calls=json.dumps([call]))
        made.result(name, id, OK if at < calls - 1 else last)
    made.says(name, "assistant", "Done.")


def ask(plugin: Plugin, session: str = "", **arguments: Any) -> dict[str, Any]:
    return dict(json.loads(plugin.call_tool(arguments, session_id=session)))


def test_build_in_a_freshly_connected_hermes_learns_from_its_good_sessions(plugin: Plugin, home: Path) -> None:
    made = database(home)
    for number in range(12):
        talk(made, f"s{number}", ended_at=time.time(), end_reason="cli_close")
    answer = ask(plugin, action="build", name="mine")
    assert answer["success"], answer
    assert answer["metrics"]["sessions_qualified"] == 12 and answer["pattern_count"] > 0
    assert ask(plugin, action="profile", session_id="s3")["success"]
    talk(made, "s12")
    compared = ask(plugin, action="compare", session_id="s12", compare_with="s3")
    assert compared["success"], "also the session that was written a moment ago"


def test_where_nothing_can_be_learned_the_answer_counts_sessions_by_reason(plugin: Plugin, home: Path) -> None:
    made = database(home)
    assert "No session has been read yet" in ask(plugin, action="build", name="mine")["error"]
    for number in range(3):
        talk(made, f"short{number}", calls=3)
    talk(made, "open0")
    talk(made, "open1")
    talk(made, "bad", last=BAD, ended_at=time.time(), end_reason="agent_close")
    error = ask(plugin, action="build", name="mine")["error"]
    assert (
        "Of 6 sessions, 3 have fewer than 30 messages, 2 are not finished, 1 ended in an error. "
        "A session is finished when its agent says so" in error
    )
    plugin.session_ended(session_id="open0", reason="shutdown")
    assert ask(plugin, action="build", name="mine")["metrics"]["sessions_qualified"] == 1, "Hermes said it has ended"


def test_a_session_that_goes_on_after_its_end_is_not_finished(plugin: Plugin, home: Path) -> None:
    made = database(home)
    talk(made, "s0", ended_at=time.time() - 1190, end_reason="cli_close")
    assert "1 is not finished" in ask(plugin, action="build", name="mine")["error"]
    assert rows(plugin._config, "SELECT end_reason FROM session") == [(None,)]


def test_the_end_of_a_turn_has_the_database_read_in_the_background(plugin: Plugin, home: Path) -> None:
    made = database(home)
    talk(made, "s0")
    begun = time.monotonic()
    plugin.turn_ended(session_id="s0")
    took = time.monotonic() - begun
    assert waiting(str(home / ".seasoned")) or took > 0.5
    assert wait_until_learned(str(home / ".seasoned"), 60)
    assert rows(plugin._config, "SELECT native_id, messages, ok FROM session") == [("s0", 34, 16)]
    assert rows(plugin._config, "SELECT count(told_end_at) FROM session") == [(0,)], "the session goes on"


def test_when_hermes_exits_its_sessions_have_ended(plugin: Plugin, home: Path) -> None:
    made = database(home)
    talk(made, "s0")
    talk(made, "s1")
    for session in ("s0", "s1"):
        plugin.turn_ended(session_id=session)
    plugin.session_ended(session_id="s1", reason="session_reset")
    plugin.process_ended()
    assert wait_until_learned(str(home / ".seasoned"), 60)
    found = rows(plugin._config, "SELECT native_id FROM session WHERE told_end_at IS NOT NULL")
    assert sorted(found) == [("s0",), ("s1",)]


@pytest.mark.parametrize("wanted", [True, False])
def test_reviews_can_be_switched_off(home: Path, monkeypatch: pytest.MonkeyPatch, wanted: bool) -> None:
    # Not started, so that what it would take stays.
    monkeypatch.setattr("seasoned.hermes_plugin.plugin.begin_learning", lambda home: None)
    for folder in (".hermes", ".seasoned"):
        (home / folder).mkdir(mode=0o700)
    database(home)
    config = Config(home=home / ".seasoned", hermes_home=home / ".hermes")
    Plugin(config, HermesSettings(reviews=wanted)).session_ended("s0")
    (file,) = waiting(str(config.home))
    told = json.loads(Path(file).read_text())
    assert (told["session"], told.get("reviews")) == ("s0", None if wanted else "no")


def test_a_review_and_a_sub_agent_end_nothing(plugin: Plugin, home: Path) -> None:
    database(home)
    plugin.subagent_started(parent_session_id="s0", child_session_id="child")
    plugin.turn_ended(session_id="child")
    assert not waiting(str(home / ".seasoned"))


def _reads(name: str) -> dict[str, Any]:
    return {"tool": "read_file", "arguments": {"path": f"{name}.txt"}, "id": f"call_{{}}_{name}"}


@pytest.mark.slow
def test_the_real_hermes_begins_its_fourth_session_with_what_the_first_three_taught(tmp_path: Path) -> None:
    """Connected once in an empty home, and no command after that."""
    once = [
        turn(calls=[terminal(f"{REPORT} 9", "call_{}_w")]),
        turn(calls=[terminal(f"{REPORT} 2026-W09", "call_{}_r")]),
        *[
            # Long enough to be learned from; quicker than as many commands.
            turn(calls=[_reads(f"{part}{at}") for at in range(12)])
            for part in ("a", "b")
        ],
        turn(text="Three were late."),
    ]
    steps = [json.loads(json.dumps(step).replace("{}", str(number))) for number in range(3) for step in once]
    wrong = turn(calls=[terminal(f"{REPORT} 9", "call_4_w")])
    foreign, own = "A week is like 2026-W09, error otherwise.", "Mira counts parcels on Mondays."
    review = {"text": answer(note(foreign), note(own))}
    with serve_script(*steps, wrong, turn(text="Three again.")) as server, serve_script(review) as reviewer:
        house = House(tmp_path, server, enabled=False)
        reviews = (
            f'model = "scripted"\nbase_url = "{reviewer.url}/v1"\nreview_memory_turns = 0\nreview_skill_calls = 75\n'
        )
        (house.ours / "config.toml").write_text(reviews)
        connected = run(SEASONED, "connect", "hermes", "--yes", **house.environment())
        assert connected.returncode == 0, connected.stderr
        work = tmp_path / "work"
        work.mkdir()
        program = work / "wp"
        wrong_week = "echo error: a week is like 2026-W09; exit 2"
        program.write_text(f'#!/bin/sh\ncase "$4" in 2026-W*) echo 3 were late ;; *) {wrong_week} ;; esac\n')
        program.chmod(0o755)
        for name in (f"{part}{at}" for part in "ab" for at in range(12)):
            (work / f"{name}.txt").write_text(f"part {name}\n")
        # The same prompt with the same calls would be one session and its copies.
        prompts = ("How many parcels were late in week 9?", "Once more, please.", "And what about week 9 now?")
        first, second, third = [{"turns": [prompt], "toolsets": ["terminal", "file"]} for prompt in prompts]
        inside = f"import os; os.chdir({str(work)!r}); os.environ['TERMINAL_CWD'] = {str(work)!r}\n"
        house.play(first, second, third, code=inside)
        assert wait_until_learned(str(house.ours), 60)
        until = time.monotonic() + 60
        while not house.rows("SELECT 1 FROM review WHERE state = 'kept'") and time.monotonic() < until:
            time.sleep(0.1)
        _database_is_read(house)
        house.play(first, code=inside)
        requests = house.requests()
        assert block_of(requests[0]) == "", "the first session knew nothing"
        begun, after = requests[-2:]
        block = block_of(begun)
        assert "--week 2026-W09" in block, "what works, before the mistake is made"
        assert "--week 9" not in block
        assert block_of(after) == block
        kept = dict(house.rows("SELECT after, state FROM learned WHERE parent LIKE 'hermes:%'"))
        assert kept == {foreign: "staged", own: "kept"}
        assert "Mira counts parcels" in json.dumps(begun) and "error otherwise" not in json.dumps(begun)
        # The line that follows a failure, at once and where it belongs.
        failed = after["messages"][-1]
        assert failed["tool_call_id"] == "call_4_w"
        assert f"[seasoned] `{REPORT} 2026-W09` works here (3 sessions" in failed["content"]


def _database_is_read(house: House) -> None:
    """By us, and in Hermes' own environment, in which the core lives without harm to it."""
    path = house.hermes / "state.db"
    sessions = [session for session in seasoned.read(path) if session.messages]
    found = {call.id: verdict for session in sessions for call, verdict in judge_session(session)}
    expected = {f"call_{at}_{name}": verdict for at in range(3) for name, verdict in (("w", "failed"), ("r", "ok"))}
    assert {id: found[id].verdict for id in expected} == expected
    assert "2" in found["call_0_w"].reason
    checked = pip(house.python, "check")
    assert "seasoned" not in checked.stdout, checked.stdout
    code = "import sys, seasoned; print(sum(1 for _ in seasoned.read(sys.argv[1])))"
    inside = run(house.python, "-c", code, path)
    assert (inside.stdout.strip(), inside.returncode) == (str(len(list(seasoned.read(path)))), 0)
