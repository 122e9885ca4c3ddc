"""The agents beside Claude Code, Codex and Hermes: what is written for each, and that it goes again to the byte."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from seasoned.config import load
from seasoned.connect.agent import AGENTS
from seasoned.connect.json_text import read_json
from tests.connect.connecting import connect, connect_json

# By agent: the file with its hooks, the file with its servers, and what the user has in both.
FILES = {
    "gemini": (".gemini/settings.json", ".gemini/settings.json", '{\r\n\t// mine\r\n\t"ui": {"theme": "x"}\r\n}'),
    "qwen": (
        ".qwen/settings.json",
        ".qwen/settings.json",
        '{"a": 1, /* mine */ "mcpServers": {"db": {"command": "d"}}}',
    ),
    "copilot": (".copilot/hooks/seasoned.json", ".copilot/mcp-config.json", '{"mcpServers": {"db": {}}}'),
    "cursor": (
        ".cursor/hooks.json",
        ".cursor/mcp.json",
        '{\n  "version": 1,\n  "hooks": {"stop": [{"command": "~/bin/mine.sh"}]}\n}\n',
    ),
}
EVENTS = {
    "gemini": ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"],
    "qwen": [
        *["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"],
        *["Stop", "SessionEnd"],
    ],
    "copilot": [
        *["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure"],
        *["agentStop", "sessionEnd"],
    ],
    "cursor": ["stop", "sessionStart", "preToolUse", "postToolUse", "sessionEnd"],
}
NEW = [*FILES, "opencode", "codex"]


def files(home: Path) -> dict[str, bytes]:
    """What is in the home, apart from our own."""
    own = home / ".seasoned"
    found = [path for path in home.rglob("*") if path.is_file() and own not in path.parents]
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


def write(home: Path, agent: str) -> None:
    for name in {one for one in FILES[agent][:2] if one != ".copilot/hooks/seasoned.json"}:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        is_servers = name.endswith("mcp.json")
        (home / name).write_bytes(b'{"mcpServers": {"db": {}}}' if is_servers else FILES[agent][2].encode())


def entries(group: dict[str, Any]) -> list[dict[str, Any]]:
    return list(group["hooks"]) if "hooks" in group else [group]


@pytest.mark.parametrize("agent", FILES)
def test_hooks_and_server_join_what_the_user_wrote_and_go_again_to_the_byte(agent: str, home: Path) -> None:
    write(home, agent)
    before = files(home)
    hooks, servers, _ = FILES[agent]
    answer = connect_json(agent, "--yes")
    assert answer["state"] == "connected" and answer["lacks"] == list(AGENTS[agent].lacks)
    assert answer["parts"] == ["warm", "hints", "confirmations", "reviews", "mcp"]
    written = read_json((home / hooks).read_text(), comments=True).value
    assert list(written["hooks"]) == EVENTS[agent]
    assert "seasoned" in read_json((home / servers).read_text(), comments=True).value["mcpServers"]
    ours = [one for groups in written["hooks"].values() for group in groups for one in entries(group)]
    commands = [str(one.get("command", one.get("bash"))) for one in ours if "mine" not in str(one)]
    assert commands and all("seasoned-hook" in command and f" {agent} " in command for command in commands)
    asks = [one for one in ours if " pre-tool-use " in str(one)]
    assert len(asks) == 1 and str(asks[0].get("command", asks[0].get("bash"))).endswith("exit 2; }; }"), "fails closed"
    limit = asks[0].get("timeout", asks[0].get("timeoutSec"))
    assert limit == (330_000 if agent == "gemini" else 330)
    assert connect_json(agent, "--yes")["state"] == "unchanged"
    # The user adds something; undoing keeps that.
    added = b'{"added": true, '
    (home / servers).write_bytes((home / servers).read_bytes().replace(b"{", added, 1))
    connect(agent, "--undo", "--yes")
    after = files(home)
    assert after.pop(servers) == before.pop(servers).replace(b"{", added, 1)
    assert after == before
    assert not (home / ".seasoned" / "connect" / agent).exists()


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("gemini", ".gemini/settings.json", '{"mcpServers": {}, "hooks": {"SessionStart": []}}'),
        ("qwen", ".qwen/settings.json", "{}"),
        ("cursor", ".cursor/hooks.json", '{"version": 1, "hooks": {}}'),
    ],
)
def test_what_a_user_left_empty_stays_when_an_edited_file_is_undone(
    agent: str, name: str, text: str, home: Path
) -> None:
    path = home / name
    path.parent.mkdir()
    path.write_text(text)
    connect(agent, "--yes")
    path.write_text(path.read_text().replace("{", '{"added": 1, ', 1))
    connect(agent, "--undo", "--yes")
    assert read_json(path.read_text(), comments=True).value == {"added": 1, **read_json(text).value}


@pytest.mark.parametrize("agent", NEW)
def test_in_an_empty_home_nothing_is_left_behind_and_parts_can_be_chosen(agent: str, home: Path) -> None:
    assert connect_json(agent, "--yes", "--parts", "confirmations")["parts"] == ["confirmations"]
    (data,) = files(home).values()
    assert b"pre-tool-use" in data and b"session-start" not in data.replace(b'ask("session-start"', b"")
    assert connect_json(agent, "--yes")["state"] == "unchanged", "the choice is kept"
    connect(agent, "--yes", "--parts", "warm,hints,confirmations,mcp")
    assert not list(home.rglob("parcel-reports")), "without reviews there are no skills"
    (home / ".seasoned" / "skills" / "parcel-reports").mkdir(parents=True)
    connect(agent, "--yes", "--parts", "warm,reviews")
    (link,) = [path for path in home.rglob("parcel-reports") if path.is_symlink()]
    assert link.parent == AGENTS[agent].folder(load()) / "skills"
    connect(agent, "--undo", "--yes")
    assert files(home) == {} and {path.name for path in home.iterdir()} <= {".seasoned"}


def test_the_plugin_of_opencode_is_valid_and_names_the_program(home: Path) -> None:
    connect("opencode", "--yes")
    plugin = home / ".config" / "opencode" / "plugin" / "seasoned.js"
    code = plugin.read_text()
    assert "SETTINGS" not in code and '"waitSeconds": 300' in code and "seasoned-hook" in code
    (home / "plugin.mjs").write_text(code)
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on the path: the plugin is not parsed")
    assert subprocess.run([node, "--check", home / "plugin.mjs"], check=False).returncode == 0
    (home / "plugin.mjs").unlink()
    plugin.write_text(code + "// edited\n")
    connect("opencode", "--undo", "--yes")
    assert not plugin.exists()


def test_without_a_name_the_agents_on_this_machine_are_listed_with_what_each_would_get(home: Path) -> None:
    empty = {"PATH": "/nonexistent"}
    assert "No agent was found on this machine" in connect(**empty).stdout
    (home / ".gemini").mkdir()
    (home / ".codex").mkdir()
    listed = connect(**empty).stdout
    assert "Gemini CLI (gemini): not connected" in listed and "Codex (codex): not connected" in listed
    assert "high-risk calls wait for a person" in listed and AGENTS["gemini"].lacks[0] in " ".join(listed.split())
    assert max(map(len, listed.splitlines())) <= 80
    assert "Cursor" not in listed and listed.endswith("Connect one with `seasoned connect AGENT`:\n  codex, gemini\n")
    assert files(home) == {}, "nothing is changed before it was asked"
    connect("--yes", **empty)
    known = {one["agent"]: one for one in connect_json(**empty)["agents"]}
    assert [name for name, one in known.items() if one["connected"]] == ["codex", "gemini"]
    assert list(known) == list(AGENTS) and not known["cursor"]["found"]
    assert "All of them are connected." in connect(**empty).stdout
    assert "Name the agent to undo" in connect("--undo", expect=2).stderr
    assert "--parts is for connecting one agent" in connect("--parts", "warm", expect=2).stderr


def test_the_page_of_agents_has_a_row_for_each() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "agents.md").read_text()
    assert [name for name, agent in AGENTS.items() if f"| {agent.title} | `{name}` |" not in page] == []
