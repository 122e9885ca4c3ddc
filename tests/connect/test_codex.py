"""`seasoned connect codex`: four places change, all that people wrote in them stays, and undo goes back."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.connect.codex import with_server, without_server
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
HOOKS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'


@pytest.fixture
def codex(home: Path) -> Path:
    folder = home / ".codex"
    folder.mkdir()
    return folder


def states(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_files_written_by_hand_keep_every_byte_and_come_back_exactly(codex: Path) -> None:
    for name, text in (("config.toml", BY_HAND), ("hooks.json", HOOKS)):
        (codex / name).write_text(text)
    before = states(codex)
    answer = connect_json("codex", "--yes")
    assert [Path(one["path"]).name for one in answer["changes"]] == ["hooks.json", "config.toml"]
    after = states(codex)
    assert all(is_kept(before[name].decode(), after[name].decode()) for name in before)
    settings = tomllib.loads(after["config.toml"].decode())
    theirs = tomllib.loads(BY_HAND)
    assert settings["mcp_servers"].pop("seasoned")["args"] == ["mcp"]
    assert settings.pop("mcp_optional_startup_grace_ms") == 5000
    assert settings == theirs
    hooks = json.loads(after["hooks.json"])["hooks"]
    assert list(hooks) == ["Stop", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"]
    # Codex warns at every start about a hook for the end of a session that may take longer.
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] <= 3
    assert hooks["Stop"][0] == json.loads(HOOKS)["hooks"]["Stop"][0]
    assert connect_json("codex", "--yes")["state"] == "unchanged"
    assert states(codex) == after
    connect("codex", "--undo", "--yes")
    assert states(codex) == before


def test_it_says_how_the_hooks_are_trusted(codex: Path) -> None:
    said = connect("codex", "--yes").stdout
    assert "type `/hooks`" in said and "trust the commands" in said and "scan" not in said


CODEX_WROTE = """
[projects."/srv/new"]
trust_level = "trusted"

[hooks.state."x"]
trusted_hash = "sha256:1"
"""


@pytest.mark.parametrize("by_hand", [BY_HAND, "", "\ufeffmodel = 'x'\r\n"])
def test_what_codex_writes_into_its_settings_since_stays(codex: Path, by_hand: str) -> None:
    path = codex / "config.toml"
    path.write_text(by_hand, newline="")
    connect("codex", "--yes")
    connected = path.read_bytes().decode()
    # As `codex mcp add` writes it again: numbers and the variables in another form, comments gone.
    rewritten = connected.replace("= 20", "= 20.0").replace("gpt-5.5", "gpt-6.1")
    rewritten = re.sub(r"env = \{ (.*) \}", r"\n[mcp_servers.seasoned.env]\n\1", rewritten).replace("docs-mcp", "d")
    path.write_text(rewritten + CODEX_WROTE, newline="")
    assert connect_json("codex", "--yes")["state"] == "unchanged", "our entry is known wherever it is"
    said = connect("codex", "--undo", "--yes").stdout
    assert path.read_bytes().decode() == by_hand.replace("gpt-5.5", "gpt-6.1").replace("docs-mcp", "d") + CODEX_WROTE
    assert "lines written since stay there" in said and "as it was before, but for what was written since" in said


@pytest.mark.parametrize(("command", "is_ours"), [("/opt/seasoned", True), ("/opt/mine", False)])
def test_a_server_of_that_name_is_ours_only_if_it_runs_ours(codex: Path, command: str, is_ours: bool) -> None:
    text = f'mcp_optional_startup_grace_ms = 9\n[mcp_servers.seasoned]\ncommand = "{command}"\nargs = ["mcp"]\n'
    (codex / "config.toml").write_text(text)
    connect("codex", "--yes")
    found = tomllib.loads((codex / "config.toml").read_text())
    assert found["mcp_optional_startup_grace_ms"] == 9
    assert (found["mcp_servers"]["seasoned"]["command"] != command) == is_ours, "a moved installation is followed"
    connect("codex", "--undo", "--yes")
    assert (codex / "config.toml").read_text() == text


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("config.toml", b"model = ", "is not valid TOML"),
        ("config.toml", b"mcp_servers = 3\n", "'mcp_servers' is not a table"),
        ("config.toml", b"mcp_servers = { a = { command = 'x' } }\n", "a server cannot be added"),
        ("config.toml", b"\xff\xfe", "not valid UTF-8"),
        ("hooks.json", b"{'hooks': {}}", "a name in double quotes"),
    ],
)
def test_what_cannot_be_read_or_is_unusual_is_refused_and_no_other_file_touched(
    codex: Path, name: str, content: bytes, why: str
) -> None:
    (codex / name).write_bytes(content)
    said = connect("codex", "--yes", expect=3).stderr
    assert name in said and why in said
    assert states(codex) == {name: content}


LINES = st.lists(st.sampled_from(["", "a = 1", "# b", "[c]", "[mcp_servers.x]"]), max_size=6, unique=True)
SERVER = {"command": "/opt/bin/seasoned", "args": ["mcp"], "env": {"SEASONED_HOME": "/q"}}


@given(
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.lists(st.sampled_from(["", "# d", "[e]"]), max_size=3, unique=True),
)
def test_our_server_goes_in_and_out_and_leaves_the_lines_of_others(
    lines: list[str], newline: str, ends: bool, since: list[str]
) -> None:
    path, text = Path("config.toml"), newline.join(lines) + (newline if ends and lines else "")
    after = with_server(text, SERVER, path)
    assert tomllib.loads(after)["mcp_servers"]["seasoned"] == SERVER
    assert with_server(after, SERVER, path) == after, "twice is once"
    moved = {**SERVER, "command": "/new/seasoned"}
    assert with_server(after, moved, path) == with_server(text, moved, path), "another entry replaces it"
    rest = without_server(after + newline + newline.join(since), path).splitlines()
    assert [line for line in rest if line] == [line for line in [*text.splitlines(), *since] if line]
