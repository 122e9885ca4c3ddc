"""Real agents beside Claude Code, Codex and Hermes, connected by our own command, against a scripted model."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from seasoned.history.discover import homes
from tests.history.claude_lines import ClaudeFile
from tests.hooks.agents import Copilot, Gemini, OpenCode, Qwen, is_title, snapshot, told
from tests.hooks.connected import LEARNED, WEEK
from tests.scripted_server import Line

WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
DANGER = "npm publish"
TITLE = {"match": "title generator", "text": "Parcels"}


def teach(place: Gemini | Qwen | Copilot | OpenCode) -> None:
    """Two sessions of Claude Code in the same folder, in which a mistake was repaired."""
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86_400)).encode()
    for at in range(2):
        file = ClaudeFile(f"0000000{at}-2222-4333-8444-555555555555").user("How many parcels were late?")
        file.calls(f"toolu_{at}a", "Bash", command=WRONG).result(f"toolu_{at}a", f"Exit code 2\n{WEEK}", is_error=True)
        file.calls(f"toolu_{at}b", "Bash", command=RIGHT).result(f"toolu_{at}b", "3 were late", is_error=False)
        for name, command in (("c", "make test"), ("d", "make lint")):
            file.calls(f"toolu_{at}{name}", "Bash", command=command).result(f"toolu_{at}{name}", "ok", is_error=False)
        dated = [line.replace(b"2026-03-01", day) for line in file.lines]
        file.lines = [line.replace(b"/home/mira/waypost", str(place.work).encode()) for line in dated]
        (place.home / ".claude" / "projects" / "w").mkdir(parents=True, exist_ok=True)
        file.write(place.home / ".claude" / "projects" / "w" / f"0000000{at}-2222-4333-8444-555555555555.jsonl")
    place.seasoned("scan")


def main_requests(asked: list[Line]) -> list[str]:
    return [told(line) for line in asked if not is_title(line)]


@pytest.mark.parametrize("kind", [Gemini, Qwen, Copilot, OpenCode])
def test_an_agent_begins_warm_gets_a_hint_and_asks_a_person_and_undoing_leaves_no_trace(
    kind: type[Gemini | Qwen | Copilot | OpenCode], home: Path
) -> None:
    place = kind(home)
    place.prepare()
    teach(place)
    before = snapshot(place.settings.parent)
    shown = place.seasoned("connect", place.agent, "--dry-run")
    assert "+++ " in shown and "seasoned-hook" in shown, "every change is shown first"
    assert snapshot(place.settings.parent) == before
    place.seasoned("connect", place.agent, "--yes")
    script = [TITLE] if kind is OpenCode else []
    script += [place.shell(WRONG), place.shell(RIGHT), place.shell(DANGER), {"text": "Three were late."}]
    _, asked, _ = place.run(script, place.ask("How many? Fix the lint errors too."), LEARNED)
    first, after, _, denied = main_requests(asked)
    assert first.count("[seasoned:warm v1 project/sheet@1 ") == 1 and "`make test`" in first, "the sheet at the start"
    assert RIGHT not in first and after.count(f"`{RIGHT}` works here (2 sessions") == 1, "right after the failure"
    assert WRONG not in after.split(RIGHT)[-1], "never what failed"
    assert denied.count(f"`{RIGHT}` works here") == 1, "once"
    assert "publish_package" in denied, "a call of high risk did not run, and the model was told why"
    sessions = json.loads(place.seasoned("sessions", "--json"))["sessions"]
    own = [one["tool_call_count"] for one in sessions if one["agent"] == place.agent]
    is_read = place.agent in dict(homes(place.config))
    assert own == ([3] if is_read else []), "learned from by itself"
    assert "failed" not in place.hook_log()
    place.seasoned("connect", place.agent, "--undo", "--yes")
    kept = snapshot(place.settings.parent)
    assert {name: kept.get(name) for name in before} == before
    assert not any(b"seasoned-hook" in data for name, data in kept.items() if "session" not in name)
