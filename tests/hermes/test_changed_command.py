"""The real Hermes is told that a command has changed, in a project, on Telegram and in the home folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seasoned.learn_queue import wait_until_learned
from tests.cli.run import SEASONED
from tests.hermes.house import House, terminal, turn
from tests.hooks.changed_command import (
    BEFORE,
    MISSING,
    NEW,
    OLD,
    PIPED,
    SINCE,
    checkout,
    programs,
    write_claude_code,
)
from tests.real_clients import run
from tests.scripted_server import serve_script

# On Telegram and in the home folder sessions belong to Hermes itself, and what they know is the same. So each has a
# command of its own.
ON_TELEGRAM = ("npm run build 2>&1 | tail -3", "pnpm run build")
AT_HOME = ("npm run lint 2>&1 | tail -3", "pnpm run lint")
WORDS = {"shop": (PIPED, NEW), "till": (PIPED, NEW), "telegram": ON_TELEGRAM, "home": AT_HOME}


def _steps(word: str, number: int, *commands: str) -> Iterator[dict[str, Any]]:
    """One conversation, recognised by its own word."""
    for at, command in enumerate(commands):
        yield turn(match=_word(word, number), calls=[terminal(command, f"call_{word}{number}_{at}")])
    yield turn(match=_word(word, number), text="It is done.")


def _word(word: str, number: int) -> str:
    return f"ORDER-{word}-{number}."


def _talk(word: str, number: int, place: Path) -> dict[str, Any]:
    moved = f"import os; os.chdir({str(place)!r}); os.environ['TERMINAL_CWD'] = {str(place)!r}"
    platform = "telegram" if word == "telegram" else "cli"
    said = f"Run the tests of {_word(word, number)}"
    return {"turns": [said], "toolsets": ["terminal"], "platform": platform, "before": moved}


def _result(house: House, call_id: str) -> str:
    """What the model was given for a call."""
    found = {
        str(message["content"])
        for body in house.requests(call_id)
        for message in body["messages"]
        if message.get("tool_call_id") == call_id
    }
    assert len(found) == 1, "the same in every request"
    return found.pop()


@pytest.mark.slow
def test_hermes_is_told_the_new_command_in_a_project_on_telegram_and_in_the_home_folder(tmp_path: Path) -> None:
    earlier = [("shop", number) for number in range(3)] + [("telegram", 0), ("home", 0)]
    now = [("shop", 3), ("till", 0), ("telegram", 1), ("home", 1)]
    steps = [step for word, number in earlier for step in _steps(word, number, *WORDS[word])]
    steps += [step for word, number in now for step in _steps(word, number, WORDS[word][0])]
    with serve_script(*steps) as server:
        house = House(tmp_path / "user", server)
        # Its sessions on Telegram have no folder; those at home have the user's own.
        places = {"shop": checkout(house.folder / "shop"), "till": checkout(house.folder / "till")}
        places |= {"telegram": house.folder, "home": house.folder}
        (house.folder / "package.json").write_text('{"scripts": {"lint": "eslint ."}}\n')
        write_claude_code(house.folder, places["till"], [*[BEFORE] * 20, *[SINCE] * 6])
        found = programs(house.folder)
        scanned = run(SEASONED, "scan", **house.environment(**found))
        assert scanned.returncode == 0, scanned.stderr
        house.play(*[_talk(word, number, places[word]) for word, number in earlier], **found)
        assert wait_until_learned(str(house.ours), 60)
        house.play(*[_talk(word, number, places[word]) for word, number in now], **found)
        for word, number, sessions in (("shop", 3, 3), ("till", 0, 6)):
            begun = json.dumps(house.requests(_word(word, number))[0]["messages"])
            assert begun.count(f"- Test: `{NEW}` ({sessions} sessions)") == 1
            assert f"`{OLD}" not in begun and PIPED not in begun
        assert "[seasoned" not in json.dumps(house.requests(_word("shop", 0))[0]["messages"]), "nothing was known"
        hints = {"shop3": (NEW, "3 sessions"), "till0": (NEW, "6 sessions")}
        hints |= {"telegram1": (ON_TELEGRAM[1], "1 session"), "home1": (AT_HOME[1], "1 session")}
        for name, (command, seen) in hints.items():
            said = _result(house, f"call_{name}_0")
            assert MISSING.split(":")[0] in said and '"exit_code": 0' in said, "the pipe hides the failure"
            assert f"`{command}` works here ({seen}" in said
            assert said.count("[seasoned]") == 1
        for name in ("shop0", "telegram0", "home0"):
            assert "[seasoned]" not in _result(house, f"call_{name}_0")
        own = {word: str(places[word]) for word in ("shop", "till")}
        assert _projects(house) == {"telegram": "app:hermes", "home": "app:hermes", **own}


def _projects(house: House) -> dict[str, str]:
    """The project of the sessions in each place."""
    rows = house.rows(
        "SELECT DISTINCT project, substr(call.call_id, 6, length(call.call_id) - 8) FROM session "
        "JOIN call ON call.session_id = session.id WHERE agent = 'hermes'"
    )
    return {str(word): str(project) for project, word in rows}
