"""`seasoned connect codex`: four places change, all that people wrote in them stays, and undo goes back."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.connect.codex import MarkedSection, put_at_end, put_at_start
from tests.connect.connecting import connect, connect_json
from tests.connect.test_json_text import is_kept

BY_HAND = """\
# my Codex
model = "gpt-5.5"    # fast enough
approval_policy='on-request'

[mcp_servers.docs]   # the other one
command = "docs-mcp"
args    = [ "--quiet", # really
           "x" ]

[projects."/srv/a b"]
trust_level = "trusted"
"""
WORDS = "# How I work\n\nTabs, not spaces.\n"
HOOKS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'


@pytest.fixture
def codex(home: Path) -> Path:
    folder = home / ".codex"
    folder.mkdir()
    return folder


def states(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_written_by_hand_keep_every_byte_and_come_back_exactly(codex: Path) -> None:
    for name, text in (("config.toml", BY_HAND), ("AGENTS.md", WORDS), ("hooks.json", HOOKS)):
        (codex / name).write_text(text)
    before = states(codex)
    answer = connect_json("codex", "--yes")
    assert [Path(one["path"]).name for one in answer["changes"]] == ["hooks.json", "config.toml", "AGENTS.md"]
    after = states(codex)
    assert all(is_kept(before[name].decode(), after[name].decode()) for name in before)
    settings = tomllib.loads(after["config.toml"].decode())
    theirs = tomllib.loads(BY_HAND)
    assert settings["mcp_servers"].pop("seasoned")["args"] == ["mcp"]
    assert settings.pop("notify")[-2:] == ["codex", "notify"]
    assert settings == theirs
    hooks = json.loads(after["hooks.json"])["hooks"]
    assert list(hooks) == ["Stop", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"]
    # Codex warns at every start about a hook for the end of a session that may take longer.
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] <= 3
    assert hooks["Stop"][0] == json.loads(HOOKS)["hooks"]["Stop"][0]
    assert after["AGENTS.md"].decode().startswith(WORDS)
    assert connect_json("codex", "--yes")["state"] == "unchanged"
    assert states(codex) == after
    connect("codex", "--undo", "--yes")
    assert states(codex) == before


def test_it_says_how_the_hooks_are_trusted(codex: Path) -> None:
    said = connect("codex", "--yes").stdout
    assert "type `/hooks`" in said and "trust the commands" in said


def test_where_there_is_nothing_all_is_made_and_goes_again(home: Path) -> None:
    connect("codex", "--yes")
    assert sorted(states(home / ".codex")) == ["AGENTS.md", "config.toml", "hooks.json"]
    connect("codex", "--undo", "--yes")
    assert not (home / ".codex").exists()


def test_what_codex_writes_into_its_settings_since_stays(codex: Path) -> None:
    (codex / "config.toml").write_text(BY_HAND)
    connect("codex", "--yes")
    path = codex / "config.toml"
    added = '\n[projects."/srv/new"]\ntrust_level = "trusted"\n\n[hooks.state."x"]\ntrusted_hash = "sha256:1"\n'
    path.write_text(path.read_text().replace("gpt-5.5", "gpt-6.1") + added)
    (codex / "AGENTS.md").write_text("# New words\n" + (codex / "AGENTS.md").read_text())
    connect("codex", "--undo", "--yes")
    assert path.read_text() == BY_HAND.replace("gpt-5.5", "gpt-6.1") + added
    assert (codex / "AGENTS.md").read_text() == "# New words\n"


def test_a_notify_program_of_the_user_stays_theirs(codex: Path) -> None:
    (codex / "config.toml").write_text('notify = ["my-bell"]\n')
    said = connect("codex", "--yes").stdout
    assert "Your own `notify` program stays" in said
    assert tomllib.loads((codex / "config.toml").read_text())["notify"] == ["my-bell"]


def test_a_server_of_that_name_stays_as_it_is(codex: Path) -> None:
    text = '[mcp_servers.seasoned]\ncommand = "/opt/seasoned"\nargs = ["mcp"]\n'
    (codex / "config.toml").write_text(text)
    connect("codex", "--yes")
    found = tomllib.loads((codex / "config.toml").read_text())
    assert found["mcp_servers"]["seasoned"]["command"] == "/opt/seasoned"
    connect("codex", "--undo", "--yes")
    assert (codex / "config.toml").read_text() == text


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("config.toml", b"model = ", "is not valid TOML"),
        ("config.toml", b"mcp_servers = 3\n", "'mcp_servers' is not a table"),
        ("config.toml", b"mcp_servers = { a = { command = 'x' } }\n", "a server cannot be added"),
        ("config.toml", b"# seasoned: end\n", "must each be there once and in order"),
        ("config.toml", b"\xff\xfe", "not valid UTF-8"),
        ("hooks.json", b"{'hooks': {}}", "a name in double quotes"),
        ("AGENTS.md", b"<!-- seasoned: end -->\n", "must each be there once and in order"),
        ("AGENTS.md", b"\xff", "not valid UTF-8"),
    ],
)
def test_what_cannot_be_read_or_is_unusual_is_refused_and_no_other_file_touched(
    codex: Path, name: str, content: bytes, why: str
) -> None:
    (codex / name).write_bytes(content)
    said = connect("codex", "--yes", expect=3).stderr
    assert name in said and why in said
    assert states(codex) == {name: content}


def test_marks_that_somebody_damaged_are_not_guessed_at(codex: Path) -> None:
    connect("codex", "--yes")
    path = codex / "config.toml"
    path.write_text(
        "\n".join(line for line in path.read_text().splitlines() if line != "# seasoned: end") + "\nx = 1\n"
    )
    said = connect("codex", "--undo", "--yes", expect=3).stderr
    assert "edited since" in said and "Changed by connecting" in said


FENCE = MarkedSection("# ours: begin", "# ours: end")
LINES = st.lists(st.sampled_from(["", "a", "# b", "[c]", "  d"]), max_size=6)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(), LINES)
def test_our_part_goes_in_and_out_and_leaves_the_lines_of_others(
    lines: list[str], newline: str, ends: bool, at_end: bool, since: list[str]
) -> None:
    text = newline.join(lines) + (newline if ends and lines else "")
    put: Any = put_at_end if at_end else put_at_start
    after = put(text, FENCE, "x = 1\ny = 2")
    assert put(after, FENCE, "x = 1\ny = 2") == after, "twice is once"
    assert put(after, FENCE, "z") == put(text, FENCE, "z"), "another part replaces it"
    rest = FENCE.take_out(after + newline + newline.join(since)).splitlines()
    assert [line for line in rest if line] == [line for line in [*text.splitlines(), *since] if line]


@pytest.mark.parametrize(
    ("parts", "events", "files"),
    [
        ("warm", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"], ["hooks.json", "config.toml"]),
        ("hints", ["PreToolUse", "PostToolUse", "Stop", "SessionEnd"], ["hooks.json", "config.toml"]),
        ("confirmations", ["PreToolUse"], ["hooks.json"]),
        ("reviews", ["Stop", "SessionEnd"], ["hooks.json", "config.toml"]),
        ("mcp", [], ["config.toml", "AGENTS.md"]),
    ],
)
def test_the_user_chooses_the_parts(home: Path, parts: str, events: list[str], files: list[str]) -> None:
    folder = home / ".codex"
    folder.mkdir()
    answer = connect_json("codex", "--yes", "--parts", parts)
    assert [Path(one["path"]).name for one in answer["changes"]] == files
    assert sorted(one.name for one in folder.iterdir() if one.is_file()) == sorted(files)
    if events:
        hooks = json.loads((folder / "hooks.json").read_text())["hooks"]
        assert list(hooks) == events
        assert ("|| exit 2" in json.dumps(hooks)) == (parts == "confirmations"), "only confirmations can stop a call"
    if "config.toml" in files:
        settings = tomllib.loads((folder / "config.toml").read_text())
        assert list(settings) == ["mcp_servers" if parts == "mcp" else "notify"]
    assert connect_json("codex", "--yes")["state"] == "unchanged"
    connect("codex", "--yes", "--parts", "warm,hints,confirmations,reviews,mcp")
    connect("codex", "--yes", "--parts", parts)
    assert sorted(one.name for one in folder.iterdir() if one.is_file() and one.stat().st_size) == sorted(files)
    connect("codex", "--undo", "--yes")
    assert [one for one in folder.iterdir() if one.is_file()] == []
