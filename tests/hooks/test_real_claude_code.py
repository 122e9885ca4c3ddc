"""The real Claude Code, connected by `seasoned connect claude-code`, against a scripted model on loopback."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.hooks.connected import KEEPS, MODEL_PORT, REVIEW_PORT, WEEK, Connected, block_of, texts
from tests.hooks.person import REASON
from tests.real_clients import claude_code
from tests.scripted_server import Line
from tests.template.examples import example

FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"


class ClaudeCode(Connected):
    agent = "claude-code"
    variables: ClassVar[dict[str, str]] = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{MODEL_PORT}",
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    def ask(self, prompt: str, *options: str) -> list[object]:
        return [claude_code(), "-p", prompt, *options, "--allowedTools", "Bash,Read,Agent"]


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"tool": "Bash", "arguments": {"command": command, "description": "Report"}}]}


def said_after(line: Line, command: str) -> str:
    """What the model was told after its call of a command."""
    lines = texts(line)
    at = max(number for number, text in enumerate(lines) if text == command)
    return "\n".join(lines[at + 1 :])


def connected(home: Path) -> ClaudeCode:
    """A user with one session behind them, from which a template was learned; then Claude Code is connected."""
    found = ClaudeCode(home)
    learn = [bash(WRONG), bash(RIGHT), {"text": "Three were late."}]
    found.run(learn, found.ask("How many parcels were late in week 9?", "--session-id", FIRST))
    found.seasoned("scan")
    found.teach(example("Bash", arguments={"command": RIGHT, "description": "Report"}))
    found.configure(model="scripted", base_url=f"http://127.0.0.1:{REVIEW_PORT}/v1", review_skill_calls=3)
    (home / ".claude" / "settings.json").write_text('{\n   "cleanupPeriodDays" : 90\n}\n')
    found.seasoned("connect", "claude-code", "--yes")
    return found


def run_all(place: ClaudeCode) -> tuple[list[Line], list[Line]]:
    """One session with all that can happen in it, taken up again, compacted, and taken up once more."""
    sub = {"description": "Count", "prompt": "Count the parcels.", "subagent_type": "general-purpose"}
    _, asked, reviewed = place.run(
        [
            bash("rm -rf /srv/parcels"),
            bash(WRONG),
            {"calls": [{"tool": "Agent", "arguments": sub}]},
            {"match": "Count the parcels.", "without": "How many again?", "text": "I counted three."},
            {"text": "Three."},
            {"match": "Go on.", "without": "TEXT ONLY", "text": "Still three."},
            {"match": "TEXT ONLY", "text": "<summary>Parcels were counted.</summary>"},
            {"match": "And now?", "text": "Done with it."},
        ],
        place.ask("How many again?", "--session-id", SECOND),
        place.ask("Go on.", "--resume", SECOND),
        place.ask("/compact", "--resume", SECOND),
        place.ask("And now?", "--resume", SECOND),
        review=[{"calls": [KEEPS]}, {"text": "Kept how weeks are written."}],
    )
    return asked, reviewed


def main_thread(lines: list[Line], prompt: str) -> list[Line]:
    own = [line for line in lines if "x-claude-code-agent-id" not in line["headers"]]
    return [line for line in own if any(text.strip() == prompt for text in texts(line))]


def check_the_guidance_arrives_with_the_first_request_and_stays_the_same(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    lines = main_thread(ran[0], "How many again?")
    first = block_of(lines[0])
    assert first is not None and RIGHT.split()[0] in first
    assert WRONG not in first, "only what worked is shown"
    blocks = [block_of(line) for line in lines]
    assert set(blocks) == {first}, "byte for byte the same, also after it was taken up again"


def check_after_a_compaction_the_same_guidance_is_there_again(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    (last,) = [line for line in ran[0] if "And now?" in texts(line)]
    assert "How many again?" not in texts(last), "the beginning is gone"
    assert block_of(last) == block_of(ran[0][0])


def check_a_sub_agent_is_shown_nothing(place: ClaudeCode, ran: tuple[list[Line], list[Line]]) -> None:
    own = [line for line in ran[0] if "x-claude-code-agent-id" in line["headers"]]
    assert own, "there was a sub-agent"
    assert {block_of(line) for line in own} == {None}


def check_a_command_of_high_risk_is_held_and_denied_and_the_model_sees_why(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    said = said_after(ran[0][1], "rm -rf /srv/parcels")
    assert f"alice denied 'delete_data': {REASON}" in said


def check_a_failure_that_is_known_brings_its_repair(place: ClaudeCode, ran: tuple[list[Line], list[Line]]) -> None:
    said = said_after(ran[0][2], WRONG)
    assert WEEK in said
    assert "[seasoned:recall]" in said and RIGHT in said


def check_the_session_is_reviewed_after_its_end_and_what_it_kept_is_among_the_skills(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    assert ran[1], "the reviewing model was asked"
    assert "rm -rf /srv/parcels" in json.dumps(ran[1][0]["body"])
    skill = place.home / ".claude" / "skills" / "parcel-reports"
    assert skill.is_symlink() and "2026-W09" in (skill / "SKILL.md").read_text()
    ledger = json.loads(place.seasoned("review", "--ledger", "--json"))
    assert [one["session"] for one in ledger["reviews"]] == [f"claude-code:{SECOND}"]


def check_no_hook_failed(place: ClaudeCode, ran: tuple[list[Line], list[Line]]) -> None:
    assert ran and "failed" not in place.hook_log()


def check_undone_the_settings_are_as_they_were(place: ClaudeCode, ran: tuple[list[Line], list[Line]]) -> None:
    place.seasoned("connect", "claude-code", "--undo", "--yes")
    assert (place.home / ".claude" / "settings.json").read_text() == '{\n   "cleanupPeriodDays" : 90\n}\n'
    assert not (place.home / ".claude" / "skills" / "parcel-reports").is_symlink()


def test_a_connected_claude_code_begins_warm_asks_recalls_and_is_reviewed(home: Path) -> None:
    """All in one place, because a real client with a history takes seconds to set up."""
    place = connected(home)
    ran = run_all(place)
    for check_one in (
        check_the_guidance_arrives_with_the_first_request_and_stays_the_same,
        check_after_a_compaction_the_same_guidance_is_there_again,
        check_a_sub_agent_is_shown_nothing,
        check_a_command_of_high_risk_is_held_and_denied_and_the_model_sees_why,
        check_a_failure_that_is_known_brings_its_repair,
        check_the_session_is_reviewed_after_its_end_and_what_it_kept_is_among_the_skills,
        check_no_hook_failed,
        check_undone_the_settings_are_as_they_were,
    ):
        check_one(place, ran)


@pytest.mark.skipif(not os.environ.get("SEASONED_TORTURE"), reason="long; recorded events show the same")
def test_with_a_broken_store_claude_code_works_as_before(tmp_path: Path) -> None:
    place = ClaudeCode(tmp_path)
    place.seasoned("connect", "claude-code", "--yes")
    place.config.home.mkdir(exist_ok=True)
    place.config.store_path.write_bytes(b"this is no database" * 100)
    ran, asked, _ = place.run([bash(WRONG), bash("echo fine"), {"text": "All done."}], place.ask("Try it."))
    assert "All done." in ran.stdout
    assert len(asked) == 3
    assert "session-start failed" in place.hook_log()


@pytest.mark.skipif(not os.environ.get("SEASONED_TORTURE"), reason="long; the command itself has tests of its own")
def test_where_the_program_that_asks_is_gone_claude_code_runs_no_call(tmp_path: Path) -> None:
    place = ClaudeCode(tmp_path)
    place.seasoned("connect", "claude-code", "--yes")
    settings = tmp_path / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("/seasoned-hook", "/gone/seasoned-hook"))
    ran, asked, _ = place.run([bash("touch made-by-the-call"), {"text": "Not done."}], place.ask("Try it."))
    assert "Not done." in ran.stdout
    assert "seasoned-hook" in said_after(asked[1], "touch made-by-the-call"), "the model sees why"
    assert not (place.work / "made-by-the-call").exists()
