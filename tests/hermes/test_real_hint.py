"""The real Hermes is shown what sessions of its project learned, also when it takes a conversation up again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.begin.memory import project_folder
from seasoned.begin.ongoing import CallHints
from seasoned.lesson.ask import LessonLookup
from seasoned.lesson.lesson import Way
from seasoned.session import Marks, Result, ToolCall
from seasoned.store import open_store
from seasoned.store.project import project_key
from tests.hermes.house import House, terminal, turn
from tests.hermes.test_memory import TOOLSETS, keep_memory, key_of_project, memory_in
from tests.lesson.stored import command, keep_lessons, repair
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
