"""The agent's own tool for templates and for how sessions went."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic_ai.messages import ToolReturnPart

from seasoned.store import open_store
from seasoned.template.library.storage import save
from seasoned.testing import ScriptedModel, call
from tests.runner.scripted import conversation_at, folders, say
from tests.template.examples import example, template


def test_an_agent_lists_loads_and_is_told_what_is_wrong(tmp_path: Path) -> None:
    home, _ = folders(tmp_path)
    with open_store(home / "seasoned.db") as store:
        save(store, template("work", example("terminal", arguments={"command": "make check"}, intent="Check it.")))
    model = ScriptedModel(
        call("warm_session", action="list"),
        call("warm_session", action="load", name="work", tools=["terminal"]),
        call("warm_session", action="load", name="gone"),
        "Done.",
    )
    conversation = conversation_at(tmp_path, model, toolsets=("warm_session",))
    say(conversation, "what do we know?")
    parts = [part for message in model.requests[-1] for part in message.parts if isinstance(part, ToolReturnPart)]
    listed, loaded, gone = [part.content for part in parts]
    assert listed["count"] == 1 and listed["templates"][0]["name"] == "work"
    assert "make check" in json.dumps(loaded["conversation"])
    assert gone["success"] is False and "gone" in gone["error"]
