"""What the models of seven real agents saw, in their requests' own words, and that nothing of it ever moves.

Each agent is connected, works once in a project whose convention has changed, and is disconnected. With
SEASONED_AGENTS_TABLE each adds its line to that file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import SEASONED
from tests.hermes.house import House, terminal, turn
from tests.hooks import test_real_claude_code, test_real_codex
from tests.hooks.agents import Copilot, Gemini, OpenCode, Qwen, snapshot
from tests.hooks.changed_command import BEFORE, FAILED, NEW, OLD, PIPED, SINCE, programs, write_claude_code
from tests.hooks.connected import PROGRAM, WEEK, Connected, new_folder
from tests.real_clients import run
from tests.scripted_server import serve_script

WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
LOST, FOUND, PORT = "./ship send now --port rotterdam", "./ship send now --port NLRTM", "error: a port is like NLRTM"
MISTAKE = [(WRONG, f"{FAILED}2\n{WEEK}"), (RIGHT, "3 late"), (LOST, f"{FAILED}2\n{PORT}"), (FOUND, "3 sent")]
LINT = [("make lint", "3 passed")]
# Twenty sessions with the former command, then six with the new one. Lint ran in too few of the newest for the sheet.
HISTORY = [*[BEFORE] * 20, *[SINCE] * 3, SINCE + MISTAKE, SINCE + MISTAKE + LINT, SINCE + MISTAKE + LINT]
PROMPT = "How many parcels were late? Fix the lint errors too."
PLACES = ("at the start", "for the first prompt", "after a failure", "behind a pipe", "at a call that fails here")
CALLS = (WRONG, f"{LOST} 2>&1 | tail -5", PIPED)
Body = dict[str, Any]


class ClaudeCode(test_real_claude_code.ClaudeCode):
    shell = staticmethod(test_real_claude_code.bash)

    @staticmethod
    def prepare(home: Path) -> Path:
        settings = home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{\n    "includeCoAuthoredBy": false\n}\n')
        return settings


class Codex(test_real_codex.Codex):
    shell = staticmethod(test_real_codex.shell)

    @staticmethod
    def prepare(home: Path) -> Path:
        settings = home / ".codex" / "config.toml"
        settings.parent.mkdir()
        settings.write_text(test_real_codex.SETTINGS)
        return settings


@pytest.mark.parametrize("kind", [ClaudeCode, Codex, Gemini, Qwen, Copilot, OpenCode])
def test_an_agent_sees_what_its_project_knows_in_time(kind: Any, home: Path) -> None:
    place: Connected = kind(home)
    settings: Path = kind.prepare(home)
    place.variables = {**place.variables, **programs(home)}  # type: ignore[misc]
    _write_history(home, place.work)
    place.seasoned("scan")
    before = settings.read_bytes()
    place.seasoned("connect", place.agent, "--yes")
    calls = [*map(kind.shell, CALLS), {"text": "Three were late."}]
    ran, asked, _ = place.run(
        [{"match": "title generator", "text": "Parcels"}, *calls] if kind is OpenCode else calls,
        place.ask(PROMPT),  # type: ignore[attr-defined]
    )
    _check(place.agent, [line["body"] for line in asked], ran.stdout + ran.stderr)
    assert "failed" not in place.hook_log()
    place.seasoned("connect", place.agent, "--undo", "--yes")
    left = snapshot(settings.parent)
    assert left[settings.name] == before or place.agent == "codex", "Codex has noted in it that the folder is trusted"
    ours = [
        name
        for name, data in left.items()
        if b"seasoned-hook" in data and not name.startswith(("sessions", "projects"))
    ]
    assert ours == []


@pytest.mark.slow
def test_hermes_sees_what_its_project_knows_in_time(tmp_path: Path) -> None:
    calls = [turn(calls=[terminal(command, f"call_{at}")]) for at, command in enumerate(CALLS)]
    with serve_script(*calls, turn(text="Three were late.")) as server:
        house = House(tmp_path / "user", server)
        work = new_folder(house.folder, "work")
        found = programs(house.folder)
        _write_history(house.folder, work)
        scanned = run(SEASONED, "scan", **house.environment(**found))
        assert scanned.returncode == 0, scanned.stderr
        moved = f"import os; os.chdir({str(work)!r}); os.environ['TERMINAL_CWD'] = {str(work)!r}"
        house.play({"turns": [PROMPT], "toolsets": ["terminal"], "before": moved}, **found)
        _check("hermes", house.requests(), "")


def _write_history(home: Path, work: Path) -> None:
    (work / "ship").write_text(PROGRAM.replace("2026-W*", "NL*").replace(WEEK, PORT))
    (work / "ship").chmod(0o755)
    (work / "package.json").write_text('{"scripts": {"test": "vitest run"}}\n')
    write_claude_code(home, work, HISTORY)


def _check(agent: str, bodies: list[Body], printed: str) -> None:
    turns = [body for body in bodies if PROMPT in json.dumps(body) and body.get("tools")]
    assert len(turns) == 4, [json.dumps(body)[:200] for body in bodies]
    for earlier, later in pairwise(map(_prefix, turns)):
        assert later[: len(earlier)] == earlier, "what a model has read stays as it was"
    first, second, third, last = ([line for text in _texts(body) for line in text.splitlines()] for body in turns)
    ours = "\n".join(first).split("[seasoned:warm v1", 1)[-1].split("[seasoned:end]", 1)[0]
    assert OLD not in ours.replace(NEW, "") and WRONG not in ours, "nothing of the former convention"
    row = {
        PLACES[0]: _only(first, f"- Test: `{NEW}` (6 sessions"),
        PLACES[1]: _only(first, "make lint"),
        PLACES[2]: _only([line for line in second if "[seasoned]" in line and line not in first], RIGHT),
        PLACES[3]: _only([line for line in third if "[seasoned]" in line and line not in second], FOUND),
        PLACES[4]: _only([line for line in last if "[seasoned]" in line and line not in third], NEW),
        "the person": next((line for line in printed.splitlines() if "seasoned" in line.lower()), ""),
    }
    assert all(row[place] for place in PLACES), row
    if table := os.environ.get("SEASONED_AGENTS_TABLE"):
        with Path(table).open("a") as file:
            file.write("\t".join([agent, *(text.strip() for text in row.values())]) + "\n")


def _only(lines: list[str], words: str) -> str:
    found = [line for line in lines if words in line]
    assert len(found) <= 1, found
    return found[0] if found else ""


def _prefix(body: Body) -> list[str]:
    """What a model reads, in its order, without the marks of what a provider keeps."""
    messages = body.get("messages") or body.get("input") or body.get("contents") or []
    fixed = [body.get(key) for key in ("tools", "system", "instructions", "systemInstruction")]
    # What a provider is asked to keep moves on with each request; a text alone may stand in a list of parts or not.
    return [text for one in (*fixed, *messages) for text in _texts(one) if text not in ("text", "ephemeral")]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
