"""Real agents beside Claude Code, Codex and Hermes, connected by our own command, against a scripted model."""

from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from seasoned.command.tool import tool_of
from tests.cli.run import SEASONED
from tests.history.claude_lines import ClaudeFile
from tests.history.test_real_programs import COUNTS, check_the_session_is_read_whole, reads_what_is_missing
from tests.hooks.agents import Copilot, Gemini, OpenCode, Qwen, is_title, snapshot, told
from tests.hooks.connected import KEEPS, LEARNED, REVIEW_PORT, WEEK, Connected
from tests.hooks.person import REASON
from tests.review.scripted import answer as proposed
from tests.scripted_server import Line

WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
DANGER, AGREED = "npm publish", "gem push late.gem"
TITLE = {"match": "title generator", "text": "Parcels"}


def teach(place: Connected) -> None:
    """Three sessions of Claude Code in the same folder, in two of which mistakes were repaired."""
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400)).encode()
    edit = {"file_path": f"{place.work}/other.txt", "old_string": "one", "new_string": "two"}
    steps: list[tuple[str, dict[str, Any], str]] = [
        ("Bash", {"command": WRONG}, f"Exit code 2\n{WEEK}"),
        ("Bash", {"command": RIGHT}, ""),
        # In two of three: too little for the sheet, so it is shown where a prompt asks for it.
        ("Bash", {"command": "make lint"}, ""),
        ("Bash", {"command": "make test"}, ""),
        ("Edit", edit, "Found 2 matches of the string."),
        ("Edit", {**edit, "replace_all": True}, ""),
    ]
    folder = place.home / ".claude" / "projects" / "w"
    folder.mkdir(parents=True)
    for at, made in enumerate((steps, steps, steps[3:4])):
        file = ClaudeFile(f"0000000{at}-2222-4333-8444-555555555555").user("How many parcels were late?")
        for number, (tool, given, error) in enumerate(made):
            id = f"toolu_{at}{number}"
            file.calls(id, tool, **given).result(id, error or "ok", is_error=bool(error))
        dated = [line.replace(b"2026-03-01", day) for line in file.lines]
        file.lines = [line.replace(b"/home/mira/waypost", str(place.work).encode()) for line in dated]
        file.write(folder / f"0000000{at}-2222-4333-8444-555555555555.jsonl")
    place.seasoned("scan")


def check_what_it_tells(place: Connected, session: str) -> None:
    """What an agent tells over the Agent Client Protocol is what its own files say."""
    told = json.loads((place.home / "told").read_text())
    known = json.loads(place.seasoned("export", session, "--format", "jsonl"))
    assert told["session_id"] == session
    (found, expected) = (
        [call for one in each["messages"] for call in one.get("tool_calls", ())] for each in (told, known)
    )
    assert [call["id"] for call in found] == [call["id"] for call in expected]
    for one, other in zip((call["function"] for call in found), (call["function"] for call in expected), strict=True):
        assert tool_of(one["name"]).form == tool_of(other["name"]).form
        assert json.loads(other["arguments"]).items() <= json.loads(one["arguments"]).items()
    assert told["outcomes"] == known["outcomes"]
    words = [
        [one["content"] for one in each["messages"] if one["role"] in ("user", "assistant")] for each in (told, known)
    ]
    assert [text for text in words[0] if text] == [text for text in words[1] if text]


def main_requests(asked: list[Line]) -> list[str]:
    return [told(line) for line in asked if not is_title(line)]


@pytest.mark.parametrize("kind", [Gemini, Qwen, Copilot, OpenCode])
def test_an_agent_begins_warm_gets_a_hint_asks_a_person_and_is_reviewed_and_undoing_leaves_no_trace(
    kind: type[Gemini | Qwen | Copilot | OpenCode], home: Path
) -> None:
    place = kind(home)
    settings = place.prepare(home)
    # These have no question of their own.
    has_service = kind in (Gemini, OpenCode)
    place.configure(model="scripted", base_url=f"http://127.0.0.1:{REVIEW_PORT}/v1", review_skill_calls=3)
    if not has_service:
        own = place.config.home / "config.toml"
        own.write_text(own.read_text().replace("confirm_url", "# confirm_url"))
    else:
        publish = home / "bin" / "gem"
        publish.parent.mkdir()
        publish.write_text(f"#!/bin/sh\necho published; touch {home}/published\n")
        publish.chmod(0o755)
        place.variables = {**place.variables, "PATH": f"{publish.parent}:{os.environ['PATH']}"}  # type: ignore[misc]
    teach(place)
    # Some agents add the files that a text names with an `@`, and the mark of the sheet ends in `@1`.
    (place.work / "part-1.txt").write_text("not for the model")
    before = snapshot(settings.parent)
    shown = place.seasoned("connect", place.agent, "--dry-run")
    assert "+++ " in shown and "seasoned-hook" in shown, "every change is shown first"
    assert snapshot(settings.parent) == before
    known = place.config.home / "skills" / "parcels"
    known.mkdir(parents=True)
    (known / "SKILL.md").write_text("---\nname: parcels\ndescription: How parcels are counted.\n---\nBy hand.\n")
    place.seasoned("connect", place.agent, "--yes")
    script = [TITLE] if kind is OpenCode else []
    script += [place.shell(WRONG), place.shell(RIGHT), place.shell(DANGER)]
    script += [place.shell(AGREED)] if has_service else []
    if place.agent in COUNTS:
        script.append(reads_what_is_missing(place))
    made, prompt, answer = len(script) - script.count(TITLE), "How many? Fix the lint errors too.", "Three were late."
    script.append({"text": answer})
    review = [{"text": proposed(KEEPS, said="Kept how weeks are written.")}]
    agreed_to = "gem push" if has_service else None
    # What it tells over the protocol is read as well, where it offers that.
    ours = ["env", f"SEASONED_HOME={place.config.home}", SEASONED]
    tells = [*ours, "export", f"acp:{shlex.join(map(str, place.tells()))}", "--format", "jsonl", "-o", home / "told"]
    commands = [place.ask(prompt), LEARNED, *([tells] if place.tells() else [])]
    _, asked, reviewed = place.run(script, *commands, review=review, agreed=agreed_to)
    first, after, _, denied, *agreed = main_requests(asked)
    begun = first.replace("\\", "")
    assert begun.count("[seasoned:warm v1 project/sheet@1 ") == 1 and "`make test`" in first, "the sheet at the start"
    assert "not for the model" not in first
    assert "How parcels are counted." in first, "a skill that an earlier review kept"
    assert first.count("- Check: `make lint` (2 sessions)") == 1 and "[seasoned] In this project" not in first, "once"
    assert RIGHT not in first and after.count(f"`{RIGHT}` works here (2 sessions") == 1, "right after the failure"
    assert WRONG not in after.split(RIGHT)[-1], "never what failed"
    assert denied.count(f"`{RIGHT}` works here") == 1, "once"
    if has_service:
        assert REASON in denied and "published" in agreed[0].split(REASON)[-1], "a person denied one and agreed to one"
        assert (home / "published").exists() and json.loads((home / "at-decision.json").read_text()) is False, "held"
    else:
        assert "publish_package" in denied, "a call of high risk did not run, and the model was told why"
    sessions = json.loads(place.seasoned("sessions", "--json"))["sessions"]
    (own,) = [one for one in sessions if one["agent"] == place.agent]
    assert own["tool_call_count"] == made, "learned from by itself"
    ledger = json.loads(place.seasoned("review", "--ledger", "--json"))["reviews"]
    assert [one["session"] for one in ledger] == [f"{place.agent}:{own['session_id']}"], "reviewed by itself, once"
    assert RIGHT in told(reviewed[0])
    skill = settings.parent / "skills" / "parcel-reports"
    assert skill.is_symlink() and "2026-W09" in (skill / "SKILL.md").read_text(), "what it kept is among its skills"
    if place.agent in COUNTS:
        check_the_session_is_read_whole(place, made, prompt, answer)
    if place.tells():
        check_what_it_tells(place, own["session_id"])
    assert "failed" not in place.hook_log()
    place.seasoned("connect", place.agent, "--undo", "--yes")
    kept = snapshot(settings.parent)
    assert {name: kept.get(name) for name in before} == before
    assert not any(b"seasoned-hook" in data for name, data in kept.items() if "session" not in name)
