"""The real Claude Code, connected by `seasoned connect claude-code`, against a scripted model on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from tests.example.examples import example
from tests.hooks.connected import KEEPS, MODEL_PORT, REVIEW_PORT, WEEK, Connected, block_of, shown, texts
from tests.hooks.person import REASON
from tests.real_clients import claude_code
from tests.review.scripted import answer, note
from tests.scripted_server import Line

FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
WRAPPED, PLAIN = "rtk make test", "make test"
ASKED = "How many again? Fix the lint errors too."
# What a program printed, which must not become a note by itself.
COPIES = note(f"Note: {WEEK}!")


class ClaudeCode(Connected):
    agent = "claude-code"
    variables: ClassVar[dict[str, str]] = {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{MODEL_PORT}",
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }

    def ask(self, prompt: str, *options: str, folder: Path | None = None) -> list[object]:
        at = ["env", "-C", folder or self.work]
        return [*at, claude_code(), "-p", prompt, *options, "--allowedTools", "Bash,Read,Edit,Agent"]


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"tool": "Bash", "arguments": {"command": command, "description": "Report"}}]}


def edit(path: Path, old: str, new: str) -> dict[str, Any]:
    given = {"file_path": str(path), "old_string": old, "new_string": new}
    return {"calls": [{"tool": "Edit", "arguments": given}]}


def read(path: Path) -> dict[str, Any]:
    return {"calls": [{"tool": "Read", "arguments": {"file_path": str(path)}}]}


def said_after(line: Line, command: str) -> str:
    """What the model was told after its call of a command."""
    lines = texts(line)
    at = max(number for number, text in enumerate(lines) if text == command)
    return "\n".join(lines[at + 1 :])


def connected(home: Path) -> ClaudeCode:
    """A user with three sessions behind them, and a template; then Claude Code is connected."""
    found = ClaudeCode(home)
    notes = found.work / "notes.txt"
    notes.write_text("one")
    learned: list[dict[str, Any]] = []
    for old, new in (("one", "two"), ("two", "three")):
        learned += [bash(WRAPPED), bash(PLAIN), bash("make lint"), bash(WRONG), bash(RIGHT)]
        learned += [edit(notes, "no such text", new), read(notes), edit(notes, old, new), {"text": "Three were late."}]
    learned += [bash(PLAIN), {"text": "They pass."}]
    asked = [found.ask("How many parcels were late in week 9?", "--session-id", FIRST), found.ask("Once more.")]
    found.run(learned, *asked, found.ask("Do they pass?"))
    assert notes.read_text() == "three"
    found.seasoned("scan")
    found.teach(example("Bash", arguments={"command": RIGHT, "description": "Report"}))
    found.configure(model="scripted", base_url=f"http://127.0.0.1:{REVIEW_PORT}/v1", review_skill_calls=3)
    (home / ".claude" / "settings.json").write_text('{\n   "cleanupPeriodDays" : 90\n}\n')
    found.seasoned("connect", "claude-code", "--yes")
    return found


def run_all(place: ClaudeCode) -> tuple[list[Line], list[Line]]:
    """One session with all that can happen in it, taken up again, compacted, and taken up once more."""
    sub = {"description": "Count", "prompt": "Count the parcels.", "subagent_type": "general-purpose"}
    (place.work / "names.txt").write_text("one")
    _, asked, reviewed = place.run(
        [
            bash("rm -rf /srv/parcels"),
            bash(WRONG),
            {"calls": [{"tool": "Agent", "arguments": sub}]},
            {"match": "Count the parcels.", "without": ASKED, "text": "I counted three."},
            bash(WRAPPED),
            edit(place.work / "names.txt", "no such text", "two"),
            {**bash(PLAIN), "pause": 0.1},  # Claude Code writes its transcript a moment later
            {"text": "Three."},
            {"match": "Go on.", "without": "TEXT ONLY", "text": "Still three."},
            {"match": "TEXT ONLY", "text": "<summary>Parcels were counted.</summary>"},
            {"match": "And now?", "text": "Done with it."},
        ],
        place.ask(ASKED, "--session-id", SECOND),
        place.ask("Go on.", "--resume", SECOND),
        place.ask("/compact", "--resume", SECOND),
        place.ask("And now?", "--resume", SECOND),
        review=[{"text": answer(KEEPS, COPIES, said="Kept how weeks are written.")}],
    )
    return asked, reviewed


def main_thread(lines: list[Line], prompt: str) -> list[Line]:
    own = [line for line in lines if "x-claude-code-agent-id" not in line["headers"]]
    return [line for line in own if any(text.strip() == prompt for text in texts(line))]


def check_the_sheet_arrives_with_the_first_request_and_stays_the_same(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    lines = main_thread(ran[0], ASKED)
    first = block_of(lines[0])
    assert first is not None and f"- Test: `{PLAIN}` (3 sessions)" in first
    assert "- Check: `make lint` (2 sessions)" in first
    assert WRAPPED not in first and WRONG not in first, "only what worked is shown"
    assert "parcels@" not in first, "a template is shown only where it is named"
    assert {block_of(line) for line in lines} == {first}, "byte for byte the same, also after it was taken up again"


def check_after_a_compaction_the_same_guidance_is_there_again(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    (last,) = [line for line in ran[0] if "And now?" in texts(line)]
    assert ASKED not in texts(last), "the beginning is gone"
    assert block_of(last) == block_of(ran[0][0])


def check_a_sub_agent_is_shown_nothing(place: ClaudeCode, ran: tuple[list[Line], list[Line]]) -> None:
    own = [line for line in ran[0] if "x-claude-code-agent-id" in line["headers"]]
    assert own, "there was a sub-agent"
    assert [shown(line) for line in own] == [[]] * len(own)


def check_a_command_of_high_risk_is_held_and_denied_and_the_model_sees_why(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    said = said_after(ran[0][1], "rm -rf /srv/parcels")
    assert f"alice denied 'delete_data': {REASON}" in said


def check_a_call_that_is_known_to_fail_brings_what_works(place: ClaudeCode, ran: tuple[list[Line], list[Line]]) -> None:
    lines = main_thread(ran[0], ASKED)
    hint = f"[seasoned] Test: `{PLAIN}` works here (2 sessions"
    (said,) = {one for line in lines for one in shown(line) if one.startswith(hint)}
    assert said in said_after(next(line for line in lines if WRAPPED in texts(line)), WRAPPED)
    assert shown(lines[-1]).count(said) == 1


def check_an_edit_that_claude_code_refused_gets_no_late_answer(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    lines = main_thread(ran[0], ASKED)
    assert "<tool_use_error>String to replace not found in file" in lines[-1]["text"]
    assert not [one for line in lines for one in shown(line) if "names.txt" in one]


def check_the_session_is_reviewed_after_its_end_and_what_it_kept_is_among_the_skills(
    place: ClaudeCode, ran: tuple[list[Line], list[Line]]
) -> None:
    assert ran[1], "the reviewing model was asked"
    assert "rm -rf /srv/parcels" in json.dumps(ran[1][0]["body"])
    skill = place.home / ".claude" / "skills" / "parcel-reports"
    assert skill.is_symlink() and "2026-W09" in (skill / "SKILL.md").read_text()
    items = json.loads(place.seasoned("inbox", "--json"))["items"]
    (waits,) = [one for one in items if one["proposal"]["kind"] == "note"]
    assert waits["proposal"]["evidence"]["refs"] == [f"claude-code:{SECOND}"]
    assert "it repeats a result or a page. From `Bash`" in waits["evidence"] and WEEK in waits["evidence"]
    assert COPIES["text"] not in place.seasoned("memory")
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
        check_the_sheet_arrives_with_the_first_request_and_stays_the_same,
        check_after_a_compaction_the_same_guidance_is_there_again,
        check_a_sub_agent_is_shown_nothing,
        check_a_command_of_high_risk_is_held_and_denied_and_the_model_sees_why,
        check_a_call_that_is_known_to_fail_brings_what_works,
        check_an_edit_that_claude_code_refused_gets_no_late_answer,
        check_the_session_is_reviewed_after_its_end_and_what_it_kept_is_among_the_skills,
        check_no_hook_failed,
        check_undone_the_settings_are_as_they_were,
    ):
        check_one(place, ran)
