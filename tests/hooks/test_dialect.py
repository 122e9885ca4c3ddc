"""Events of agents in their own form, and answers in it. Those of Cursor are written after its documentation."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from seasoned.config import Config
from tests.hooks.test_events import ERROR, FOLDER, HOOK, RIGHT, SHEET, WRONG

ID = "11111111-1111-4111-8111-111111111111"
OUTPUT = f"<untrusted_context>\nOutput: {ERROR}\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>"
CURSOR = {"conversation_id": ID, "generation_id": "g", "workspace_roots": [FOLDER], "transcript_path": None}


def hook(agent: str, event: str, *options: str, **fields: Any) -> dict[str, Any] | None:
    """What the real hook command says to an event; None for nothing."""
    done = subprocess.run(
        [HOOK, agent, event, *options],
        input=json.dumps(fields),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout) if done.stdout else None


def test_the_sheet_the_prompt_and_a_hint_reach_each_agent_in_its_own_form(known_project: Path) -> None:
    base = {"session_id": ID, "cwd": FOLDER, "transcript_path": str(known_project / "s.jsonl")}
    start = hook("gemini", "session-start", **base, hook_event_name="SessionStart", source="startup")
    assert start is not None and SHEET in start["hookSpecificOutput"]["additionalContext"]
    assert start["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    # What was shown at the start stands before the prompt, and asks for nothing.
    shown = f"<hook_context>{start['hookSpecificOutput']['additionalContext']}</hook_context>\n\nHello"
    assert hook("gemini", "user-prompt-submit", **base, prompt=shown) is None
    call = {"tool_name": "run_shell_command", "tool_input": {"command": WRONG}}
    after = hook("gemini", "post-tool-use", **base, **call, tool_response={"llmContent": OUTPUT, "returnDisplay": ""})
    assert after is not None and after["hookSpecificOutput"]["hookEventName"] == "AfterTool"
    assert f"`{RIGHT}` works here" in after["hookSpecificOutput"]["additionalContext"]
    failed = {"llmContent": ERROR, "error": {"message": ERROR}}
    assert hook("gemini", "post-tool-use", **{**base, "session_id": "2"}, **call, tool_response=failed) is None

    piped = {"tool_name": "run_shell_command", "tool_input": {"command": f"{WRONG} 2>&1 | tail -5"}}
    output = f"Command: {WRONG} 2>&1 | tail -5\nDirectory: (root)\nOutput: {ERROR}\nError: (none)\nExit Code: 0\n"
    printed = {"llmContent": output, "returnDisplay": ERROR}
    after = hook("qwen", "post-tool-use", **base, **piped, tool_response=printed)
    assert after is not None and after["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    assert f"`{RIGHT}` works here" in after["hookSpecificOutput"]["additionalContext"]

    own = {"sessionId": ID, "cwd": FOLDER}
    told = hook("copilot", "session-start", **own, source="new")
    assert told is not None and list(told) == ["additionalContext"] and SHEET in told["additionalContext"]
    # It runs both hooks at once, so the prompt cannot know what the start has noted.
    asks = {**own, "sessionId": "22222222-1111-4111-8111-111111111111", "prompt": "Run the tests."}
    assert hook("copilot", "user-prompt-submit", **asks) is None
    settings = known_project / ".seasoned" / "config.toml"
    settings.write_text('[warm]\nsilent = ["start"]\n')
    said = hook("copilot", "user-prompt-submit", **asks)
    settings.unlink()
    assert said is not None and "In this project: Test: `make test`" in said["additionalContext"]
    given = {"toolName": "bash", "toolArgs": json.dumps({"command": WRONG})}
    result = {"resultType": "success", "textResultForLlm": f"{ERROR}\n<shellId: 0 completed with exit code 2>"}
    told = hook("copilot", "post-tool-use", **own, **given, toolResult=result)
    assert told is not None and f"`{RIGHT}` works here" in told["additionalContext"]

    told = hook("cursor", "session-start", **CURSOR, hook_event_name="sessionStart")
    assert told is not None and SHEET in told["additional_context"]
    output = json.dumps({"output": ERROR, "exitCode": 2})
    shell = {"tool_name": "Shell", "tool_input": {"command": WRONG}, "tool_output": output}
    told = hook("cursor", "post-tool-use", **CURSOR, **shell)
    assert told is not None and f"`{RIGHT}` works here" in told["additional_context"]


def test_a_call_of_high_risk_is_denied_or_asked_about_in_each_form_and_others_pass(home: Path) -> None:
    danger, fine = {"command": "npm publish"}, {"command": "ls"}
    base: dict[str, Any] = {"session_id": ID, "cwd": FOLDER, "tool_name": "run_shell_command"}
    said = hook("gemini", "pre-tool-use", **base, tool_input=danger)
    assert said is not None and said["decision"] == "deny" and "publish_package" in said["reason"]
    asked = hook("qwen", "pre-tool-use", **base, tool_input=danger)
    assert asked is not None and asked["hookSpecificOutput"]["permissionDecision"] == "ask"
    own = {"sessionId": ID, "cwd": FOLDER, "toolName": "bash"}
    asked = hook("copilot", "pre-tool-use", **own, toolArgs=json.dumps(danger))
    assert asked is not None and asked["permissionDecision"] == "ask"
    said = hook("cursor", "pre-tool-use", **CURSOR, tool_name="Shell", tool_input=danger)
    assert said is not None and said["permission"] == "deny" and "publish_package" in said["agent_message"]
    denied = hook("opencode", "pre-tool-use", **{**base, "tool_name": "bash"}, tool_input=danger)
    assert denied is not None and denied["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert hook("gemini", "pre-tool-use", "--no-hints", **base, tool_input=fine) is None
    assert hook("cursor", "pre-tool-use", "--no-hints", **CURSOR, tool_name="Shell", tool_input=fine) is None


def test_the_end_of_a_turn_is_written_down_also_where_the_agent_does_not_say_the_file(home: Path) -> None:
    folder = Config(home=home / ".seasoned").home / "learn"
    (folder).mkdir(parents=True)
    # Held, so that no process takes what is written down.
    import fcntl

    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        hook("opencode", "stop", "--no-reviews", session_id="ses_1", cwd=FOLDER)
        hook("copilot", "stop", sessionId=ID, transcriptPath="/x/events.jsonl", cwd=FOLDER)
        hook("cursor", "session-end", **CURSOR)
        notes = [json.loads(path.read_text()) for path in sorted(folder.glob("*.end"))]
    assert [(one["kind"], one["agent"], one["session"], one.get("path")) for one in notes] == [
        ("turn", "opencode", "ses_1", None),
        ("turn", "copilot", ID, "/x/events.jsonl"),
        ("session", "cursor", ID, None),
    ]
