"""The real Codex CLI, connected by `seasoned connect codex`, against a scripted model on loopback."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.example.examples import example
from tests.hooks.connected import KEEPS, MODEL_PORT, REVIEW_PORT, Connected, block_of, shown, texts
from tests.real_clients import codex
from tests.review.scripted import answer
from tests.scripted_server import Line

WRONG, RIGHT = "./wp report late --week 9", "./wp report late --week 2026-W09"
WRAPPED, PLAIN = "rtk make test", "make test"
ASKED = "How many again? Fix the lint errors too."
SETTINGS = f"""\
# my Codex, with a model of my own
model = "gpt-5.5"
model_provider = "fake"    # loopback
check_for_update_on_startup = false

[analytics]
enabled = false
[features]
plugins = false
apps = false

[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:{MODEL_PORT}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


class Codex(Connected):
    agent = "codex"
    variables = {"FAKE_KEY": "dummy"}  # noqa: RUF012

    def ask(self, *words: str, trusted: bool = True, folder: Path | None = None, tools: bool = False) -> list[object]:
        trust = ["--dangerously-bypass-hook-trust"] if trusted else []
        if not tools and (self.home / ".codex" / "hooks.json").exists():
            # It takes longer to start than all the rest together.
            trust += ["-c", "mcp_servers.seasoned.enabled=false"]
        place = ["-s", "danger-full-access", "-C", str(folder or self.work), "--skip-git-repo-check"]
        return [codex(), "exec", "--json", *place, *trust, *words]


def shell(command: str) -> dict[str, Any]:
    return {"calls": [{"tool": "exec_command", "arguments": {"cmd": command}}]}


def said_after(line: Line, command: str) -> str:
    """What the model was told after its call of a command."""
    lines = texts(line)
    at = max(number for number, text in enumerate(lines) if command in text and '"cmd"' in text)
    return "\n".join(lines[at + 1 :])


def threads(printed: str) -> list[str]:
    return re.findall(r'"thread_id":"([^"]+)"', printed)


def connected(home: Path) -> Codex:
    """A user with three sessions behind them, and a template; then Codex is connected."""
    found = Codex(home)
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(SETTINGS)
    once = [shell(WRAPPED), shell(PLAIN), shell("make lint"), shell(WRONG), shell(RIGHT), {"text": "Three."}]
    asked = [found.ask("How many were late in week 9?"), found.ask("Once more."), found.ask("Do they pass?")]
    found.run([*once * 2, shell(PLAIN), {"text": "They pass."}], *asked)
    found.seasoned("scan")
    found.teach(example("exec_command", arguments={"cmd": RIGHT}))
    found.configure(model="scripted", base_url=f"http://127.0.0.1:{REVIEW_PORT}/v1", review_skill_calls=4)
    found.seasoned("connect", "codex", "--yes")
    return found


class Ran:
    def __init__(self, place: Codex) -> None:
        commands = ("rm -rf /srv/parcels", WRONG, "echo fine", WRAPPED)
        script = [*map(shell, commands), {"text": "Three."}]
        done, self.begun, self.reviewed = place.run(
            script,
            place.ask(ASKED),
            review=[{"text": answer(KEEPS, said="Kept how weeks are written.")}],
        )
        (self.thread,) = set(threads(done.stdout))
        limit = ["-c", "model_auto_compact_token_limit=50000"]
        _, self.later, _ = place.run(
            [
                {"text": "Still three.", "usage": {"input": 90_000}},
                {"match": "CONTEXT CHECKPOINT", "text": "Parcels were counted."},
                {"text": "Done with it."},
                {"text": "Forked."},
            ],
            place.ask("resume", self.thread, "Go on."),
            place.ask(*limit, "resume", self.thread, "And now?"),
            place.ask("fork", self.thread, "Elsewhere."),
        )


def check_the_sheet_arrives_before_the_first_prompt_and_stays_the_same(place: Codex, ran: Ran) -> None:
    first = block_of(ran.begun[0])
    assert first is not None and f"- Test: `{PLAIN}` (3 sessions)" in first
    assert "- Check: `make lint` (2 sessions)" in first
    assert WRAPPED not in first and WRONG not in first, "only what worked is shown"
    assert "parcels@" not in first, "a template is shown only where it is named"
    lines = texts(ran.begun[0])
    assert next(at for at, text in enumerate(lines) if first in text) < lines.index(ASKED)
    assert {block_of(line) for line in ran.begun} == {first}
    assert block_of(ran.later[0]) == first, "also after it was taken up again"


def check_after_a_compaction_the_same_guidance_is_there_again(place: Codex, ran: Ran) -> None:
    asked = [line for line in ran.later if "And now?" in texts(line) and "Elsewhere." not in texts(line)]
    (last,) = [line for line in asked if "CONTEXT CHECKPOINT" not in line["text"]]
    assert "Three." not in texts(last), "what was said before is gone"
    assert block_of(last) == block_of(ran.begun[0])


def check_a_fork_has_the_guidance_of_its_origin_and_no_other(place: Codex, ran: Ran) -> None:
    (forked,) = [line for line in ran.later if "Elsewhere." in texts(line)]
    assert block_of(forked) == block_of(ran.begun[0])


def check_a_call_that_is_known_to_fail_brings_what_works(place: Codex, ran: Ran) -> None:
    hint = f"[seasoned] Test: `{PLAIN}` works here (2 sessions"
    said = [one for one in shown(ran.begun[-1]) if one.startswith(hint)]
    assert len(said) == 1, "before the call, and not again after it"
    assert said[0] in said_after(ran.begun[4], WRAPPED)


def check_the_session_is_reviewed_after_its_end_and_what_it_kept_is_among_the_skills(place: Codex, ran: Ran) -> None:
    assert "rm -rf /srv/parcels" in json.dumps(ran.reviewed[0]["body"])
    skill = place.home / ".codex" / "skills" / "parcel-reports"
    assert skill.is_symlink() and "2026-W09" in (skill / "SKILL.md").read_text()
    ledger = json.loads(place.seasoned("review", "--ledger", "--json"))
    assert [one["session"] for one in ledger["reviews"]] == [f"codex:{ran.thread}"]


def check_a_sub_agent_is_shown_nothing(place: Codex, ran: Ran) -> None:
    spawn = {"tool": "spawn_agent", "namespace": "multi_agent_v1", "arguments": {"message": "Count the parcels."}}
    _, asked, _ = place.run(
        [
            {"match": "Send somebody.", "calls": [spawn]},
            {"match": "Count the parcels.", "without": "Send somebody.", "text": "I counted."},
            {"calls": [{"tool": "exec_command", "arguments": {"cmd": "sleep 1"}}]},
            {"text": "Sent."},
        ],
        place.ask("-c", 'model="other-model"', "Send somebody."),
    )
    own = [line for line in asked if "x-codex-parent-thread-id" in line["headers"]]
    assert own, "there was a sub-agent"
    assert [shown(line) for line in own] == [[]] * len(own)
    assert block_of(asked[0]) is not None


def check_in_code_mode_a_command_of_high_risk_is_held_too(place: Codex, ran: Ran) -> None:
    code = "const done = await tools.exec_command({cmd: 'rm -rf /srv/parcels'}); text(JSON.stringify(done));"
    script = [{"calls": [{"tool": "exec", "is_custom": True, "arguments": code}]}, {"text": "No."}]
    _, asked, _ = place.run(script, place.ask("-c", 'model="gpt-6.1-sol"', "Tidy up."))
    assert "Command blocked by PreToolUse hook: Seasoned: delete_data" in "\n".join(texts(asked[1]))


def check_hooks_that_nobody_trusted_are_silent(place: Codex, ran: Ran) -> None:
    _, asked, _ = place.run([{"text": "Hello."}], place.ask("Without trust.", trusted=False))
    assert block_of(asked[0]) is None


def check_tools_and_all_else_that_was_sent_stay_the_same_over_the_turns(place: Codex, ran: Ran) -> None:
    """Also where our MCP server starts slowly: without a word of ours Codex would go on without it after a second."""
    settings = place.home / ".codex" / "config.toml"
    own = settings.read_text()
    slow = f'command = "/bin/sh"\nargs = ["-c", "sleep 1.1; exec {place.home}/seasoned mcp"]'
    server = re.search(r'command = "(.*/seasoned)"\nargs = \["mcp"\]', own)
    assert server is not None
    settings.write_text(own.replace(server[0], slow.replace(f"{place.home}/seasoned", server[1])))
    _, asked, _ = place.run([shell("sleep 1"), shell(WRONG), {"text": "Done."}], place.ask("Slowly.", tools=True))
    settings.write_text(own)
    assert "seasoned" in json.dumps(asked[0]["body"]["tools"]), "they are known before the first request"
    for line in (asked, ran.begun):
        bodies = [one["body"] for one in line]
        assert all(body["tools"] == bodies[0]["tools"] for body in bodies)
        for before, after in pairwise(body["input"] for body in bodies):
            assert after[: len(before)] == before, "every request goes on from the one before it"


def check_no_hook_failed(place: Codex, ran: Ran) -> None:
    assert ran.begun and "failed" not in place.hook_log()


def check_undone_nothing_of_ours_is_left(place: Codex, ran: Ran) -> None:
    place.seasoned("connect", "codex", "--undo", "--yes")
    assert "seasoned" not in (place.home / ".codex" / "config.toml").read_text()
    assert not (place.home / ".codex" / "hooks.json").exists()
    assert not (place.home / ".codex" / "skills" / "parcel-reports").is_symlink()


def test_a_connected_codex_begins_warm_asks_recalls_and_is_reviewed(home: Path) -> None:
    """All in one place, because a real client with a history takes seconds to set up."""
    place = connected(home)
    ran = Ran(place)
    for check_one in (
        check_the_sheet_arrives_before_the_first_prompt_and_stays_the_same,
        check_after_a_compaction_the_same_guidance_is_there_again,
        check_a_fork_has_the_guidance_of_its_origin_and_no_other,
        check_a_call_that_is_known_to_fail_brings_what_works,
        check_the_session_is_reviewed_after_its_end_and_what_it_kept_is_among_the_skills,
        check_a_sub_agent_is_shown_nothing,
        check_in_code_mode_a_command_of_high_risk_is_held_too,
        check_hooks_that_nobody_trusted_are_silent,
        check_tools_and_all_else_that_was_sent_stay_the_same_over_the_turns,
        check_no_hook_failed,
        check_undone_nothing_of_ours_is_left,
    ):
        check_one(place, ran)
