"""The real Hermes through the gateway, with nothing changed but the address in its own settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.example.examples import example
from tests.gateway.behind import PNG, URL, Behind, check_accounts, said
from tests.real_clients import hermes_python
from tests.scripted_server import Step

PLAY = Path(__file__).parent / "play_hermes.py"
SETTINGS = f"""
model:
  default: scripted-1
  provider: custom
  base_url: {URL}/v1
  api_key: sk-dummy
  context_length: 200000
plugins:
  disabled: [seasoned]
skills:
  creation_nudge_interval: 1
"""


class Hermes(Behind):
    """Hermes with a folder of its own."""

    def ask(self, script: list[Step], *conversations: list[Any]) -> list[str]:
        """Let it lead these conversations, one after the other; the last words of each."""
        home = self.folder / ".hermes"
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(SETTINGS)
        play: list[object] = [hermes_python(), PLAY, *map(json.dumps, conversations)]
        ran = self.run(script, play, HERMES_HOME=str(home))
        assert ran.returncode == 0, ran.stderr
        return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('"')]


@pytest.fixture
def place(tmp_path: Path) -> Hermes:
    return Hermes(tmp_path)


def terminal(command: str) -> dict[str, Any]:
    return {"tool": "terminal", "arguments": {"command": command}}


def test_tools_pictures_a_look_back_and_an_error(place: Hermes) -> None:
    place.teach(example("terminal", arguments={"command": "ls"}))
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    looks = [terminal("echo one"), terminal("echo oops; exit 3")]
    words = place.ask(
        [
            {"match": "Describe everything", "text": "A dot."},
            {"match": "skill library", "text": "Nothing to keep."},
            {"text": "Two looks.", "calls": looks, "usage": {"input": 900, "cache_read": 500, "reasoning": 4}},
            {"match": "exit_code", "without": "Thanks.", "text": "Found it."},
            {"match": "And now?", "status": 400, "error": "this is not allowed"},
            {"match": "Thanks.", "without": "skill library", "text": "Bye."},
        ],
        ["Look around twice.", [{"type": "text", "text": "Thanks."}, image]],
        ["And now?"],
    )
    assert words[0] == "Bye." and "this is not allowed" in words[1]
    assert any(PNG[:40] in line["text"] for line in place.asked()), "the picture passes"
    check_accounts(place)
    sessions = {said(session)[0][1]: session for session in place.sessions().values()}
    main = sessions["Look around twice."]
    assert [text for _, text in said(main)][1:3] == ["Two looks.", "Found it."]
    assert said(main)[-2][1].endswith("Thanks.") and said(main)[-1] == ("assistant", "Bye.")
    purposes = [row["purpose"] for row in place.accounted() if row["session"] == str(main.ref)]
    assert purposes.count("turn") == 3 and set(purposes) == {"turn", "review"}, "a look back is accounted, not recorded"
    assert not any(
        "Review the conversation above" in text for session in sessions.values() for _, text in said(session)
    )
    assert place.verdicts() == [("terminal", "ok"), ("terminal", "failed")]
    blocks = {row["lineage_root"]: bytes(row["bytes"]).decode() for row in place.rows("SELECT * FROM warm_block")}
    block = blocks[str(main.ref)][1:-1]
    turns = [line for line in place.asked() if "Look around" in line["text"] and "skill library" not in line["text"]]
    assert [(line["text"].count(block), line["body"]["messages"][0]["role"]) for line in turns] == [(1, "system")] * 3
    assert [line["body"]["messages"][1]["role"] for line in turns] == ["user"] * 3
    looking_back = [line["text"] for line in place.asked() if "skill library" in line["text"]]
    assert looking_back and not any("[seasoned:warm" in text for text in looking_back)
