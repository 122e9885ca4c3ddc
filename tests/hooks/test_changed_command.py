"""The real Claude Code and the real Codex are told that a command of the project has changed.

In time: at the start of a session, and at the call if it errs nevertheless, although the agent sees no failure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.hooks import test_real_claude_code, test_real_codex
from tests.hooks.changed_command import (
    BEFORE,
    MISSING,
    NEW,
    OLD,
    PIPED,
    SINCE,
    Session,
    checkout,
    programs,
    write_claude_code,
    write_codex,
)
from tests.hooks.connected import Connected, block_of, shown, texts
from tests.hooks.test_real_claude_code import ClaudeCode, bash
from tests.hooks.test_real_codex import SETTINGS, Codex, shell
from tests.scripted_server import Line

HISTORIES: dict[str, list[Session]] = {
    "shop": [SINCE] * 3,
    "till": [*[BEFORE] * 20, *[SINCE] * 6],
    # Too few to say anything before it fails.
    "depot": [SINCE],
}
PROMPTS = {name: f"Look at the {name}." for name in HISTORIES}
Write = Callable[[Path, Path, Sequence[Session]], None]


def sessions_of_today(place: Connected, write: Write, ask: Any, call: dict[str, Any]) -> dict[str, list[Line]]:
    """In each project one more session, which runs the old command: what its model was asked."""
    place.variables = {**place.variables, **programs(place.home)}  # type: ignore[misc]
    folders = {name: checkout(place.home / name) for name in HISTORIES}
    for name, folder in folders.items():
        write(place.home, folder, HISTORIES[name])
    place.seasoned("scan")
    place.seasoned("connect", place.agent, "--yes")
    script = [call, {"text": "It is fine."}] * len(folders)
    _, asked, _ = place.run(script, *[ask(PROMPTS[name], folder=folder) for name, folder in folders.items()])
    found = {name: [line for line in asked if prompt in texts(line)] for name, prompt in PROMPTS.items()}
    assert {name: len(lines) for name, lines in found.items()} == dict.fromkeys(HISTORIES, 2)
    assert "failed" not in place.hook_log()
    return found


def check_the_new_command_is_there_at_the_start(asked: dict[str, list[Line]]) -> None:
    for name, sessions in (("shop", 3), ("till", 6)):
        begun = block_of(asked[name][0])
        assert begun is not None and f"- Test: `{NEW}` ({sessions} sessions)" in begun
        assert f"`{OLD}" not in begun and PIPED not in begun
        assert block_of(asked[name][1]) == begun
    assert block_of(asked["depot"][0]) is None, "one session is too few"


def check_the_new_command_is_there_at_the_call(asked: dict[str, list[Line]], after_call: Callable[..., str]) -> None:
    for name, seen in (("shop", "3 sessions"), ("till", "6 sessions"), ("depot", "1 session")):
        hint = f"[seasoned] Test: `{NEW}` works here ({seen}"
        said = after_call(asked[name][1], PIPED)
        assert MISSING in said, "the old command has run"
        assert said.count(hint) == 1, "before the call or after it, and not twice"
        assert [one for one in shown(asked[name][0]) if one.startswith("[seasoned] ")] == []


def test_claude_code_is_told_the_new_command_at_its_start_and_at_the_call_behind_a_pipe(home: Path) -> None:
    place = ClaudeCode(home)
    asked = sessions_of_today(place, write_claude_code, place.ask, bash(PIPED))
    check_the_new_command_is_there_at_the_start(asked)
    check_the_new_command_is_there_at_the_call(asked, test_real_claude_code.said_after)
    for name, event in (("shop", "PreToolUse"), ("till", "PreToolUse"), ("depot", "PostToolUse")):
        said = test_real_claude_code.said_after(asked[name][1], PIPED)
        assert f"{event}:Bash hook additional context: [seasoned] Test:" in said


def test_codex_is_told_the_new_command_at_its_start_and_at_the_call_behind_a_pipe(home: Path) -> None:
    place = Codex(home)
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(SETTINGS)
    asked = sessions_of_today(place, write_codex, place.ask, shell(PIPED))
    check_the_new_command_is_there_at_the_start(asked)
    check_the_new_command_is_there_at_the_call(asked, test_real_codex.said_after)
