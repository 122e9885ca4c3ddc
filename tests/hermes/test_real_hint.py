"""The real Hermes is shown what sessions of its project learned, also when it takes a conversation up again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from seasoned.experience.kind import kind_of_failure
from seasoned.experience.lesson import Hint, Line, Way
from seasoned.experience.lookup import kind_key
from seasoned.store import open_store
from seasoned.store.project import project_key
from tests.hermes.house import House, terminal, turn
from tests.scripted_server import serve_script

FAILS, ERROR = "echo 'wp: missing --env'; exit 2", "wp: missing --env"


def _know(house: House, folder: Path) -> None:
    line = Line("python -m checks", "python -m checks", "test", 0.9, 3, 0.0)
    hint = Hint(Way("option", "+--env"), "wp render --env test", 2, 0.0)
    after = kind_key(kind_of_failure("terminal", FAILS, ERROR))
    with open_store(house.config.store_path) as store, store.write():
        project = project_key(store, str(folder))
        for topic, key, content in (("purpose", "test", line), ("after", after, hint)):
            row = {"project": project, "topic": topic, "key": key, "content": msgspec.json.encode(content)}
            store.run("experience.add_knowledge", row)


@pytest.mark.slow
@pytest.mark.parametrize(
    "knows",
    [
        pytest.param(True, id="its project"),
        pytest.param(
            False,
            id="another project",
            marks=pytest.mark.skipif(
                "SEASONED_TORTURE" not in os.environ,
                reason="starts Hermes twice more; tests/begin does the same with the plugin: set SEASONED_TORTURE=1",
            ),
        ),
    ],
)
def test_hermes_is_shown_what_its_project_knows_and_its_database_holds_none_of_it(tmp_path: Path, knows: bool) -> None:
    steps = [
        turn(calls=[terminal(FAILS, "call_hint_1")]),
        turn(text="It failed."),
        turn(text="Still."),
    ]
    with serve_script(*steps) as server:
        house = House(tmp_path / "house", server)
        # Hermes records the folder that it is started in.
        _know(house, Path.cwd() if knows else tmp_path / "elsewhere")
        (session,) = house.play({"turns": ["Run the tests."], "toolsets": ["terminal"]})
        house.play({"session": session, "turns": ["And now?"], "toolsets": ["terminal"]})
        sent = [json.dumps(body["messages"]) for body in house.requests()]
        kept = house.words_in_hermes()
    assert len(sent) == 3
    assert [text.count("Test: `python -m checks`") for text in sent] == ([1, 1, 1] if knows else [0, 0, 0])
    assert [text.count("`wp render --env test` works here") for text in sent] == ([0, 1, 1] if knows else [0, 0, 0])
    assert "wp render" not in kept and "python -m checks" not in kept
