"""The real Hermes is shown what sessions of its project learned, also when it takes a conversation up again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from seasoned.begin.memory import project_folder
from seasoned.begin.ongoing import CallHints
from seasoned.lesson.ask import LessonLookup
from seasoned.lesson.lesson import Way
from seasoned.session import Marks, Result, ToolCall
from seasoned.store import open_store
from seasoned.store.project import project_key
from tests.cli.run import SEASONED
from tests.hermes.house import House, terminal, turn
from tests.hermes.test_memory import TOOLSETS, keep_memory, key_of_project, memory_in
from tests.history.claude_lines import ClaudeFile
from tests.lesson.stored import command, keep_lessons, repair
from tests.real_clients import run
from tests.scripted_server import serve_script

FAILS, ERROR = "echo 'wp: missing --env'; exit 2", "wp: missing --env"


def _know(house: House, folder: Path) -> None:
    hint = repair("terminal", FAILS, ERROR, "python -m wp --env test", Way("option", "+--env"))
    with open_store(house.config.store_path) as store:
        keep_lessons(store, project_key(store, str(folder)) or "", command("python -m checks"), hint)


@pytest.mark.slow
def test_hermes_is_shown_memory_and_what_its_project_knows_and_its_database_holds_none_of_it(tmp_path: Path) -> None:
    """In both of two processes; a note that changed in between is only in what began after that."""
    steps = [
        turn(match="TESTED", calls=[terminal(FAILS, "call_hint_1")]),
        turn(match="TESTED", text="It failed."),
        turn(match="TESTED", text="Still."),
        turn(match="WALNUT", text="One."),
        turn(match="WALNUT", text="Two."),
        turn(match="HAZEL", text="Three."),
    ]
    with serve_script(*steps) as server:
        house = House(tmp_path / "house", server)
        # Hermes records the folder that it is started in.
        _know(house, Path.cwd())
        keep_memory(house)
        first, other = house.play(
            {"turns": ["Run the tests: TESTED."], "toolsets": ["terminal"]},
            {"turns": ["Be WALNUT."], "toolsets": TOOLSETS},
        )
        (project_folder(house.ours, key_of_project(house)) / "MEMORY.md").write_text("The depot listens on 5434.")
        house.play(
            {"session": first, "turns": ["And now?"], "toolsets": ["terminal"]},
            {"session": other, "turns": ["Go on."], "toolsets": TOOLSETS},
            {"turns": ["Be HAZEL."]},
        )
        sent = [json.dumps(body["messages"]) for body in house.requests("TESTED")]
        walnut = [body for body in house.requests("WALNUT") if body.get("tools")]
        hazel = next(body for body in house.requests("HAZEL") if body.get("tools"))
        kept = house.words_in_hermes()
    assert len(sent) == 3
    assert [text.count("Test: `python -m checks`") for text in sent] == [1, 1, 1]
    assert [text.count("`python -m wp --env test` works here") for text in sent] == [0, 1, 1]
    assert "python -m wp" not in kept and "python -m checks" not in kept
    remembered, again = map(memory_in, walnut)
    assert "- The depot listens on 5433." in remembered and "- Mira likes short answers." in remembered
    assert "9999" not in remembered and again == remembered, "byte for byte, although the note has changed"
    assert "5434" in memory_in(hazel)
    assert "seasoned:memory" not in kept


def _learned_in_claude_code(house: House, work: Path) -> None:
    """Three sessions of Claude Code in a folder, in each of which a command and an edit failed and were repaired."""
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400)).encode()
    edit = {"file_path": f"{work}/other.txt", "old_string": "one", "new_string": "two"}
    folder = house.folder / ".claude" / "projects" / "w"
    folder.mkdir(parents=True)
    for at in range(3):
        session = f"0000000{at}-2222-4333-8444-555555555555"
        file = ClaudeFile(session).user("Rename it.")
        steps: list[tuple[str, dict[str, Any], str]] = [
            ("Bash", {"command": "./wp render"}, f"Exit code 2\n{ERROR}"),
            ("Bash", {"command": "./wp render --env test"}, ""),
            ("Edit", edit, "String to replace not found in file."),
            ("Read", {"file_path": edit["file_path"]}, ""),
            ("Edit", edit, ""),
        ]
        for number, (tool, given, error) in enumerate(steps):
            call_id = f"toolu_{at}{number}"
            file.calls(call_id, tool, **given).result(call_id, error or "done", is_error=bool(error))
        file.says("Renamed.")
        dated = [line.replace(b"2026-03-01", day) for line in file.lines]
        file.lines = [line.replace(b"/home/mira/waypost", str(work).encode()) for line in dated]
        file.write(folder / f"{session}.jsonl")
    done = run(SEASONED, "scan", **house.environment())
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_hermes_is_told_what_repaired_a_command_of_claude_code_and_nothing_where_the_error_says_enough(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "notes.txt").write_text("one one")
    (work / "wp").write_text(f'#!/bin/sh\n[ "$2" ] || {{ echo "{ERROR}"; exit 2; }}\n')
    (work / "wp").chmod(0o755)
    patch = {"path": str(work / "notes.txt"), "old_string": "no such text", "new_string": "two", "mode": "replace"}
    steps = [
        turn(calls=[{"tool": "patch", "arguments": patch, "id": "call_p"}]),
        turn(calls=[terminal("./wp render", "call_w")]),
        turn(text="Three."),
    ]
    with serve_script(*steps) as server:
        house = House(tmp_path / "house", server)
        _learned_in_claude_code(house, work)
        inside = f"import os; os.chdir({str(work)!r}); os.environ['TERMINAL_CWD'] = {str(work)!r}\n"
        house.play({"turns": ["Rename it."], "toolsets": ["terminal", "file"]}, code=inside)
        *_, after = house.requests()
    said = {one["tool_call_id"]: one["content"] for one in after["messages"] if one.get("tool_call_id")}
    assert "[seasoned]" not in said["call_p"] and "no such text" in json.dumps(after)
    assert ERROR in said["call_w"] and "[seasoned] `./wp render --env test` works here (3 sessions" in said["call_w"]


def test_a_result_that_was_sent_without_a_line_stays_without(tmp_path: Path) -> None:
    """The decision came too late for the request: what the model has read must not change afterwards."""
    call = ToolCall("call_1", "terminal", {"command": FAILS}, Result(ERROR, Marks(failed=True)))
    with open_store(tmp_path / "store.db") as store:
        keep_lessons(
            store, "depot", repair("terminal", FAILS, ERROR, "python -m wp --env test", Way("option", "+--env"))
        )
        late, in_time = CallHints(), CallHints()
        late.pass_over(call.id)
        assert late.decide(LessonLookup(store, "depot", "hermes:a", None), call, agent="hermes") == ""
        assert "--env" in in_time.decide(LessonLookup(store, "depot", "hermes:b", None), call, agent="hermes")
