"""The seven actions of `warm_session` give the same answers in the real Hermes, over MCP and on the command line.

In a folder of a project, in the home folder and on a platform without a folder; and the next conversation carries what
was built, the same bytes in every turn.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from mcp import Client
from seasoned.redact.key import Secrecy, load_key
from seasoned.scan.scan import ScanTarget, scan
from tests.cli.run import SEASONED
from tests.hermes.house import House, block_of, turn
from tests.mcp.clients import talk_over_stdio
from tests.scripted_server import serve_script

TOOLSETS = ["terminal", "seasoned"]
COMMAND = "mise run test"
PLACES = ("git", "home", "telegram")
ACTIONS: tuple[dict[str, Any], ...] = (
    {"action": "build", "name": "general", "min_messages": 4},
    {"action": "build", "name": "scratch", "min_messages": 4},
    {"action": "list"},
    {"action": "load", "name": "general"},
    {"action": "profile", "session_id": "t0"},
    {"action": "compress-check", "session_id": "t0"},
    {"action": "compare", "session_id": "t0", "compare_with": "t1"},
    {"action": "delete", "name": "scratch"},
)


def keep_sessions(house: House) -> None:
    """Sessions of Hermes without a folder, as from a platform of messages, in which the tests were run."""
    logs = house.folder / "logs"
    logs.mkdir()
    for number in range(3):
        messages: list[dict[str, Any]] = []
        for step in range(2):
            call_id = f"call_t{number}_{step}"
            function = {"name": "terminal", "arguments": json.dumps({"command": COMMAND})}
            call = {"id": call_id, "type": "function", "function": function}
            messages += [
                {"role": "user", "content": f"Please run the tests once more for part {number}."},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": call_id, "content": '{"output": "3 passed", "exit_code": 0}'},
                {"role": "assistant", "content": "They pass."},
            ]
        log = {"id": f"t{number}", "application": "hermes", "created": 1_790_000_000 + number, "messages": messages}
        (logs / f"t{number}.jsonl").write_text(json.dumps(log) + "\n", "utf-8")
    scan(ScanTarget(house.config.store_path), [logs], Secrecy(load_key(house.ours)), workers=1)


def told(answers: list[dict[str, Any]]) -> list[Any]:
    """What the answers to ACTIONS say, without what differs from call to call."""
    assert all(one["success"] for one in answers), answers
    build, again, listed, load, profile, check, compare, delete = answers
    calls = [one["function"] for each in load["conversation"] for one in each.get("tool_calls", ())]
    return [
        (build["pattern_count"], again["pattern_count"]),
        sorted(one["name"] for one in listed["templates"] if one["name"] in ("general", "scratch")),
        (load["name"], load["pattern_count"], [(one["name"], json.loads(one["arguments"])) for one in calls]),
        (profile["tool_call_count"], profile["error_rate"]),
        check["has_compression"],
        (compare["warm_total"], compare["cold_total"]),
        delete["deleted_versions"],
    ]


EXPECTED = [
    (1, 1),
    ["general", "scratch"],
    ("general", 1, [("terminal", {"command": COMMAND})]),
    (2, 0.0),
    False,
    (2, 2),
    1,
]


def steps(place: str) -> list[dict[str, Any]]:
    """What the model does in one place: both builds at once, then one action after the other."""
    calls = [{"tool": "warm_session", "arguments": one, "id": f"call_{place}_{at}"} for at, one in enumerate(ACTIONS)]
    grouped = [calls[:2], *[[one] for one in calls[2:]]]
    return [turn(match=f"ACT {place}", calls=some) for some in grouped]


def in_hermes(house: House, place: str, folder: Path) -> list[Any]:
    """What the answers say; the next conversation must carry the block in every turn."""
    inside = f"import os; os.chdir({str(folder)!r}); os.environ['TERMINAL_CWD'] = {str(folder)!r}\n"
    about = {"toolsets": TOOLSETS, "platform": "telegram" if place == "telegram" else "cli"}
    house.play(
        {"turns": [f"ACT {place}"], **about},
        {"turns": [f"Run the tests: NEXT {place}.", "And again."], **about},
        code=inside,
    )
    last = house.requests(f"ACT {place}")[-1]
    results = {one["tool_call_id"]: one["content"] for one in last["messages"] if one["role"] == "tool"}
    answers = [json.loads(results[f"call_{place}_{at}"]) for at in range(len(ACTIONS))]
    following = house.requests(f"NEXT {place}")
    blocks = {block_of(body) for body in following}
    assert len(following) >= 2 and len(blocks) == 1 and COMMAND in blocks.pop(), place
    return told(answers)


def over_mcp(house: House, folder: Path) -> list[Any]:
    async def work(client: Client) -> list[dict[str, Any]]:
        return [dict((await client.call_tool("warm_session", one)).structured_content or {}) for one in ACTIONS]

    return told(talk_over_stdio(work, folder=folder, **house.environment()))


def by_command(house: House, folder: Path) -> None:
    def answer(*arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [SEASONED, *arguments, "--json"],
            cwd=folder,
            env={**os.environ, **house.environment()},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    built = [answer("template", "build", name, "--min-messages", "4") for name in ("general", "scratch")]
    assert [len(one["examples"]) for one in built] == [1, 1]
    assert {one["name"] for one in answer("template", "list")["templates"]} == {"general", "scratch"}
    shown = answer("warm", "general")
    calls = [one["function"] for each in shown["content"] for one in each.get("tool_calls", ())]
    assert [json.loads(one["arguments"]) for one in calls] == [{"command": COMMAND}]
    assert answer("profile", "t0")["tool_call_count"] == 2
    assert not answer("compress-check", "t0")["has_compression"]
    assert answer("compare", "t0", "t1")["warm_total"] == 2
    assert answer("template", "delete", "scratch", "--yes")["deleted_versions"] == 1


@pytest.mark.slow
def test_what_is_built_is_listed_loaded_and_shown_wherever_it_is_asked_for(tmp_path: Path) -> None:
    with serve_script(*[step for place in PLACES for step in steps(place)]) as server:
        house = House(tmp_path, server)
        (house.ours / "config.toml").write_text('[warm]\ntemplate = "general"\n')
        keep_sessions(house)
        work = tmp_path / "work"
        work.mkdir()
        subprocess.run(["git", "init", "-q", str(work)], check=True)
        for place in PLACES:
            assert in_hermes(house, place, work if place == "git" else house.folder) == EXPECTED, place
        for folder in (work, house.folder):
            assert over_mcp(house, folder) == EXPECTED
            by_command(house, folder)
