"""`seasoned connect claude-code`: settings written by hand keep every byte, twice is once, and undo goes back."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from seasoned.config import Config, load
from seasoned.connect import codex
from seasoned.connect.agent_settings import Hook, HookForm, hooks_of, with_hooks, without_hooks
from seasoned.connect.json_hooks import CLAUDE_CODE
from seasoned.connect.json_text import read_json
from seasoned.connect.plan import PARTS, guard_file
from seasoned.errors import CannotDo
from tests.cli.run import seasoned
from tests.connect.connecting import connect, connect_json
from tests.connect.test_json_text import documents, is_kept

EVENTS = [
    *["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"],
    *["Stop", "SessionEnd"],
]
BY_HAND = """{
    "model": "opus",   "permissions": {"allow": ["Bash(ls:*)"],
                                        "deny" : [ ]},

    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/guard.sh"}]}
        ]
    },
  "env": { "A": "é \\u00e9" }
}
"""
FORM = HookForm()
HOOKS = (
    Hook("PreToolUse", "/opt/bin/seasoned-hook claude-code pre-tool-use", 330, "*"),
    Hook("Stop", "/opt/bin/seasoned-hook claude-code stop", 10),
)


@pytest.fixture
def settings(home: Path) -> Path:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    return path


def test_it_shows_every_change_asks_writes_and_says_what_is_left_to_do(home: Path, settings: Path) -> None:
    settings.write_text('{\n  "model": "opus"\n}\n')
    declined = connect("claude-code", typed="n\n")
    assert "Nothing was changed" in declined.stdout
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'
    done = connect("claude-code", typed="y\n").stdout
    assert f"+++ {settings}" in done
    warning = "While Seasoned is missing or broken, Claude Code refuses all calls that may change something."
    assert done.index(warning) < done.index("To let them run: rm ") < done.index("Write these changes?")
    assert '+  "model": "opus",' in done
    assert all(f'+    "{event}": [' in done for event in EVENTS)
    assert "high-risk calls are denied" not in done, "Claude Code asks with its own question"
    written = json.loads(settings.read_text())
    assert list(written["hooks"]) == EVENTS
    command = written["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    assert Path(command.split()[0]).is_file()


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
@pytest.mark.parametrize(
    ("program", "code"),
    [("exit 0", 0), ("exit 2", 2), ("exit 1", 2), ("kill -9 $$", 2), (None, 2)],
    ids=["passes", "blocks", "fails", "is killed", "is gone"],
)
def test_a_confirmation_that_cannot_be_asked_for_ends_with_the_code_that_blocks(
    tmp_path: Path, agent: str, program: str | None, code: int
) -> None:
    file = tmp_path / "seasoned-hook"
    file.write_text(f"#!/bin/sh\n{program}\n")
    file.chmod(0o755)
    layout = {"claude-code": CLAUDE_CODE, "codex": codex.LAYOUT}[agent]
    asks = next(
        one.command for one in hooks_of(layout, Config(home=tmp_path), tmp_path, PARTS) if one.event == "PreToolUse"
    )
    if program is None:
        file.unlink()
    guard = guard_file(tmp_path, agent)
    guard.parent.mkdir(parents=True)
    guard.touch()
    ended = subprocess.run(["sh", "-c", asks], capture_output=True, text=True, check=False)
    assert (ended.returncode, f"To let calls run: rm {guard}" in ended.stderr) == (code, code == 2)
    guard.unlink()
    assert subprocess.run(["sh", "-c", asks], capture_output=True, check=False).returncode == 0


def test_settings_written_by_hand_keep_every_byte_and_come_back_exactly(settings: Path) -> None:
    settings.write_text(BY_HAND)
    settings.chmod(0o600)
    connect("claude-code", "--yes")
    after = settings.read_text()
    assert is_kept(BY_HAND, after)
    assert [line for line in BY_HAND.splitlines() if line not in after.splitlines()] == [
        '            {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/guard.sh"}]}'
    ], "the last of each list got a comma"
    guard = guard_file(load().home, "claude-code")
    guard.unlink()
    assert connect_json("claude-code", "--yes")["state"] == "unchanged"
    assert settings.read_text() == after, "twice is once"
    assert guard.exists(), "calls are checked again"
    connect("claude-code", "--undo", "--yes")
    assert settings.read_text() == BY_HAND
    assert settings.stat().st_mode & 0o777 == 0o600


def test_what_the_agent_or_the_user_changed_since_stays_when_it_is_undone(settings: Path) -> None:
    settings.write_text('{"model": "opus"}')
    connect("claude-code", "--yes")
    since = json.loads(settings.read_text())
    since["permissions"] = {"allow": ["Read"]}
    since["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "say done"}]})
    settings.write_text(json.dumps(since, indent=4))
    connect("claude-code", "--undo", "--yes")
    assert json.loads(settings.read_text()) == {
        "model": "opus",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
        "permissions": {"allow": ["Read"]},
    }


def test_an_older_hook_of_ours_is_brought_up_to_date_and_undo_still_finds_the_beginning(settings: Path) -> None:
    settings.write_text('{"model": "opus"}')
    connect("claude-code", "--yes")
    first = settings.read_text()
    settings.write_text(first.replace("--wait-seconds 300", "--wait-seconds 20"))
    assert connect_json("claude-code", "--yes")["state"] == "connected"
    assert settings.read_text() == first
    connect("claude-code", "--undo", "--yes")
    assert json.loads(settings.read_text()) == {"model": "opus"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"hooks": []}', "'hooks' is not an object"),
        (b'{"hooks": {"Stop": {}}}', "'Stop' are not a list"),
        (b'{"hooks": {"Stop": ["x"]}}', "'Stop' are not a list"),
        (b"[1]", "must hold a JSON object"),
        (b'{\n  // mine\n  "a": 1\n}', "line 2: a comment, with which the agent ignores the file"),
        (b'{"a": 1', "line 1: a comma or }"),
        (b'{"a": 1,\n"a": 2}', "line 2: 'a' occurs twice"),
        (b'\xff\xfe{"a": 1}', "not valid UTF-8"),
    ],
)
def test_settings_that_cannot_be_read_or_are_unusual_are_refused_with_the_reason(
    settings: Path, content: bytes, why: str
) -> None:
    settings.write_bytes(content)
    said = connect("claude-code", "--yes", expect=3).stderr
    assert str(settings) in said and why in said
    assert settings.read_bytes() == content


def test_a_dry_run_changes_nothing_and_json_asks_for_a_yes(settings: Path) -> None:
    answer = connect_json("claude-code", "--dry-run")
    assert answer["state"] == "previewed"
    assert [one["path"] for one in answer["changes"]] == [str(settings), str(settings.parent.parent / ".claude.json")]
    assert "+++" in answer["changes"][0]["diff"]
    assert connect("claude-code", "--json", expect=2).stdout == ""
    assert not settings.exists()
    assert "not connected" in connect("claude-code", "--undo", "--yes", expect=1).stderr


def test_another_home_of_seasoned_is_named_in_the_commands(home: Path, settings: Path) -> None:
    elsewhere = home / "else where"
    connect("claude-code", "--yes", SEASONED_HOME=str(elsewhere))
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert f"--home '{elsewhere}' claude-code stop" in command


@given(documents())
def test_any_settings_keep_every_byte_and_twice_is_once(pair: tuple[object, str]) -> None:
    value, text = pair
    path = Path("settings.json")
    if not isinstance(value, dict):
        if text.strip():
            with pytest.raises(CannotDo):
                with_hooks(text.encode(), HOOKS, path, FORM)
        return
    after = with_hooks(text.encode(), HOOKS, path, FORM)
    assert is_kept(text, after.decode())
    assert with_hooks(after, HOOKS, path, FORM) == after
    assert {**read_json(after.decode()).value, "hooks": None} == {**value, "hooks": None}
    left = without_hooks(after, path, FORM)
    assert (value == {} and left is None) or read_json((left or b"").decode()).value == value


def written_hooks(settings: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(settings.read_text())["hooks"]
    return found


@pytest.mark.parametrize(
    ("tool", "is_guarded"),
    [
        *[
            (name, True)
            for name in ("Bash", "Write", "Edit", "NotebookEdit", "Agent", "mcp__db__query", "SomethingNew")
        ],
        *[(name, True) for name in ("ReadAndDelete", "mcp__db__execute", "mcp__files__write_file")],
        *[(name, False) for name in ("Read", "Grep", "Glob", "WebFetch", "TodoWrite", "mcp__seasoned__recall")],
        *[(name, False) for name in ("mcp__github__get_issue", "mcp__files__list_directory")],
    ],
)
def test_reading_tools_run_also_where_our_program_is_gone_all_others_do_not(
    settings: Path, tool: str, is_guarded: bool
) -> None:
    connect("claude-code", "--yes")
    groups = [one for one in written_hooks(settings)["PreToolUse"] if re.search(one["matcher"], tool)]
    command = [one["hooks"][0]["command"] for one in groups]
    assert len(command) == is_guarded, "nothing can be said before a tool that only reads"
    if not is_guarded:
        return
    gone = re.sub(r"\S+/python\S*|\S+/seasoned-hook", "/nowhere/seasoned-hook", command[0])
    refused = subprocess.run(["sh", "-c", gone], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "To let calls run: rm " in refused.stderr


def test_while_a_call_waits_the_address_is_shown_where_it_is_confirmed(settings: Path) -> None:
    connect("claude-code", "--yes", SEASONED_CONFIRM_URL="http://127.0.0.1:7327")
    shown = [one["hooks"][0].get("statusMessage", "") for one in written_hooks(settings)["PreToolUse"]]
    assert shown == ["Seasoned: a call that needs a person can be confirmed at http://127.0.0.1:7327"]
    connect("claude-code", "--yes")
    assert "statusMessage" not in settings.read_text(), "without a service Claude Code asks itself"


@pytest.mark.parametrize(
    ("parts", "events", "has_server"),
    [
        ("warm", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"], False),
        ("hints", ["PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"], False),
        ("confirmations", ["PreToolUse"], False),
        ("reviews", ["Stop", "SessionEnd"], False),
        ("mcp", [], True),
        ("confirmations, mcp", ["PreToolUse"], True),
    ],
)
def test_the_user_chooses_the_parts_and_the_choice_stays(
    home: Path, settings: Path, parts: str, events: list[str], has_server: bool
) -> None:
    connect("claude-code", "--yes", "--parts", parts)
    found = written_hooks(settings) if events else {}
    assert list(found) == events
    assert (home / ".claude.json").exists() == has_server
    if parts == "confirmations":
        assert "--no-hints || {" in found["PreToolUse"][0]["hooks"][0]["command"]
    if "Stop" in found:
        learns = found["Stop"][0]["hooks"][0]["command"]
        assert learns.endswith("stop" if parts == "reviews" else "stop --no-reviews")
    if parts == "hints":
        for event, word in (("PreToolUse", "hint"), ("PostToolUse", "post-tool-use")):
            (group,) = found[event]
            assert (group["matcher"], group["hooks"][0]["command"].split()[-1]) == ("Bash", word), "shells only"
    again = connect_json("claude-code", "--yes")
    assert (again["state"], again["parts"]) == ("unchanged", [one.strip() for one in parts.split(",")])
    assert connect_json("claude-code", "--yes", "--parts", "warm,hints,confirmations,reviews,mcp")["changes"] != []
    connect("claude-code", "--undo", "--yes")
    assert not settings.exists() and not (home / ".claude.json").exists()


def test_a_part_that_does_not_exist_is_said() -> None:
    assert (
        "'teleport' is not a part of Claude Code. Parts are warm, hints"
        in connect("claude-code", "--yes", "--parts", "warm,teleport", expect=2).stderr
    )
    assert "--parts is for connecting" in connect("claude-code", "--undo", "--parts", "warm", expect=2).stderr


OWN_SERVERS = '{"numStartups": 7,\n "mcpServers": { "db" : {"command": "db-mcp"} },\n\t"projects": {}}'


def test_the_mcp_server_is_added_to_those_of_the_user_and_goes_again(home: Path, settings: Path) -> None:
    file = home / ".claude.json"
    file.write_text(OWN_SERVERS)
    connect("claude-code", "--yes")
    servers = json.loads(file.read_text())["mcpServers"]
    assert list(servers) == ["db", "seasoned"]
    assert Path(servers["seasoned"]["command"]).is_file() and servers["seasoned"]["args"] == ["mcp"]
    assert connect_json("claude-code", "--yes")["state"] == "unchanged"
    connect("claude-code", "--undo", "--yes")
    assert file.read_text() == OWN_SERVERS


def test_a_server_of_that_name_that_the_user_wrote_stays(home: Path, settings: Path) -> None:
    file = home / ".claude.json"
    own = '{"mcpServers": {"seasoned": {"command": "ssh", "args": ["host", "seasoned", "mcp"]}}}'
    file.write_text(own)
    connect("claude-code", "--yes")
    assert file.read_text() == own
    connect("claude-code", "--undo", "--yes")
    assert file.read_text() == own


def test_a_folder_that_a_variable_names_holds_the_servers_too(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    connect("claude-code", "--yes", CLAUDE_CONFIG_DIR=str(place), SEASONED_HOME=str(tmp_path / "own"))
    server = json.loads((place / ".claude.json").read_text())["mcpServers"]["seasoned"]
    assert server["env"] == {"SEASONED_HOME": str(tmp_path / "own")}
    assert not (home / ".claude.json").exists()


def test_who_reviews_and_what_a_day_of_that_costs_is_said_before_anything_is_connected(home: Path) -> None:
    said = " ".join(seasoned("connect", "claude-code", "--dry-run").stdout.split())
    assert "Claude Code looks back on finished sessions with haiku: at most 5 times and 20,000 tokens a day" in said
    assert 'To switch that off, write `review_agent = "off"`' in said
    (home / ".seasoned").mkdir(exist_ok=True)
    (home / ".seasoned" / "config.toml").write_text('review_model = "openai:gpt-5.4-mini"\n')
    assert "A model looks back on finished sessions with" in seasoned("connect", "codex", "--yes").stdout
