"""The real Claude Code asks with its own question where no service is set, and lists the MCP server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.hooks.test_real_claude_code import ClaudeCode, bash, read, said_after
from tests.real_clients import claude_code, run

SERVERS = '{"hasCompletedOnboarding": true,\n  "theme": "dark"}\n'


def test_a_person_at_the_terminal_is_asked_by_claude_code_and_nobody_else_answers_for_them(home: Path) -> None:
    """All in one place, because a real client takes seconds to start."""
    place = ClaudeCode(home)
    settings, servers = home / ".claude" / "settings.json", home / ".claude.json"
    settings.parent.mkdir()
    settings.write_text('{\n   "cleanupPeriodDays" : 90\n}\n')
    servers.write_text(SERVERS)
    place.seasoned("connect", "claude-code", "--yes", "--parts", "confirmations,mcp")
    _check_the_server_is_listed(home)
    place.seasoned("connect", "claude-code", "--undo", "--yes")
    place.seasoned("connect", "claude-code", "--yes", "--parts", "confirmations")

    made = home / "made-by-the-call"
    # Held for the folder that it names, which does not exist.
    command = f"rm -rf /srv/no-such-folder && touch {made}"
    _check_without_a_terminal_it_is_refused(place, command)
    _accept(place)
    steps = [("shift+tab to cycle", "Delete it\r"), ("delete_data: it deletes", "2"), ("No", "")]
    seen = _at_terminal(place, command, steps)
    assert "Seasoned:delete_data:itdeletes" in seen and "Doyouwanttoproceed?" in seen, seen
    assert not made.exists(), "the person said no"
    steps = [("shift+tab to cycle", "Delete it\r"), ("delete_data: it deletes", "1"), ("It is gone.", "")]
    seen = _at_terminal(place, command, steps)
    assert "NEVERSEEN" not in seen, seen
    assert made.exists(), "the person said yes"


def _accept(place: ClaudeCode) -> None:
    """What a person has answered before: the key is theirs, and they trust the folder."""
    path, state = place.home / ".claude.json", {"hasTrustDialogAccepted": True, "allowedTools": []}
    accepted = {"customApiKeyResponses": {"approved": ["dummy"], "rejected": []}, "projects": {str(place.work): state}}
    path.write_text(json.dumps({**json.loads(path.read_text()), "hasCompletedOnboarding": True, **accepted}))


def _at_terminal(place: ClaudeCode, command: str, steps: list[tuple[str, str]], *options: str) -> str:
    plan, log = place.home / "plan.json", place.home / "screen.txt"
    plan.write_text(json.dumps({"command": [str(claude_code()), *options], "steps": steps, "seconds": 90}))
    at = ["env", f"PYTHONPATH={ROOT}", "TERM=xterm-256color", sys.executable, "-m", "tests.hooks.terminal"]
    place.run([bash(command), {"text": "It is gone."}], [*at, plan, log])
    return log.read_text().replace("NEVER SEEN", "NEVERSEEN")


def _check_without_a_terminal_it_is_refused(place: ClaudeCode, command: str, *options: str) -> None:
    script = [bash(command), read(place.work / "wp"), {"text": "No."}]
    _, asked, _ = place.run(script, place.ask("Delete it.", *options))
    assert "Seasoned: delete_data: it deletes" in said_after(asked[1], command)
    assert not (place.home / "made-by-the-call").exists()


def _check_the_server_is_listed(home: Path) -> None:
    listed = run(claude_code(), "mcp", "list", HOME=str(home), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
    assert "seasoned:" in listed.stdout and "Connected" in listed.stdout, listed.stdout + listed.stderr
