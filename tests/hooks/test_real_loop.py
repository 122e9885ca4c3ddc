"""Connected once in an empty home, real agents learn by themselves: what three sessions taught, a fourth is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.connected import LEARNED, Connected, block_of, shown
from tests.hooks.test_real_claude_code import ClaudeCode, bash
from tests.hooks.test_real_claude_code import said_after as said_to_claude
from tests.hooks.test_real_codex import SETTINGS, Codex, shell
from tests.hooks.test_real_codex import said_after as said_to_codex
from tests.torture import TORTURE

WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
WRAPPED, PLAIN = "rtk make test", "make test"
ASKED = "How many parcels were late?"


def check_what_was_learned(place: Connected) -> None:
    """All four sessions are in the store, and nobody gave a command after `connect`."""
    found = json.loads(place.seasoned("sessions", "--json"))["sessions"]
    assert len(found) == 4 and {one["tool_call_count"] for one in found} == {4}, "each of them once"
    doctor = json.loads(place.seasoned("doctor", "--json"))["checks"]
    (said,) = [one["finding"] for one in doctor if one["name"] == f"learned from {place.agent}"]
    assert said.startswith("4 sessions, the last one ")
    assert "failed" not in place.hook_log()


@pytest.mark.skipif(
    not TORTURE,
    reason="starts Claude Code four times; Codex does the same below: SEASONED_TORTURE=1 runs it",
)
def test_claude_code_is_told_in_its_fourth_session_what_the_first_three_taught(home: Path) -> None:
    place = ClaudeCode(home)
    place.seasoned("connect", "claude-code", "--yes")
    once = [bash(WRAPPED), bash(PLAIN), bash(WRONG), bash(RIGHT), {"text": "Three."}]
    _, asked, _ = place.run(once * 4, *[place.ask(ASKED), LEARNED] * 4)
    assert len(asked) == 4 * len(once)
    fourth = asked[-len(once) :]
    assert block_of(asked[0]) is None, "the first session knew nothing"
    sheet = block_of(fourth[0])
    assert sheet is not None and "in 3 earlier sessions of this project" in sheet and f"`{PLAIN}`" in sheet
    assert f"[seasoned] `{RIGHT}` works here (3 sessions" in said_to_claude(fourth[3], WRONG), "right after the failure"
    assert not any(WRONG in one or WRAPPED in one for one in shown(fourth[-1])), "never what failed"
    check_what_was_learned(place)


def test_codex_is_told_in_its_fourth_session_what_the_first_three_taught(home: Path) -> None:
    place = Codex(home)
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(SETTINGS)
    place.seasoned("connect", "codex", "--yes")
    once = [shell(WRAPPED), shell(PLAIN), shell(WRONG), shell(RIGHT), {"text": "Three."}]
    _, asked, _ = place.run(once * 4, *[place.ask(ASKED), LEARNED] * 4)
    assert len(asked) == 4 * len(once)
    fourth = asked[-len(once) :]
    assert block_of(asked[0]) is None, "the first session knew nothing"
    sheet = block_of(fourth[0])
    assert sheet is not None and "in 3 earlier sessions of this project" in sheet and f"`{PLAIN}`" in sheet
    assert f"[seasoned] `{RIGHT}` works here (3 sessions" in said_to_codex(fourth[3], WRONG), "right after the failure"
    check_what_was_learned(place)
