"""Claude Code's PreToolUse hook, run as the agent runs it: a process, JSON on stdin, an answer on stdout, in time."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.confirm.serving import Serving, serving
from tests.each_case import each_case
from tests.hooks.test_events import MOST_STARTS, starts

COMMAND = [sys.executable, "-c", "from seasoned.hooks.main import main; main()", "claude-code", "pre-tool-use"]
HARMLESS = {"command": "pytest -q tests && git status"}
RISKY = {"command": "rm -rf /srv/data"}


def event(tool_input: Any, tool_name: str = "Bash") -> str:
    """The event as the agent writes it."""
    common = {"session_id": "s-1", "transcript_path": "/t.jsonl", "cwd": "/srv/app", "permission_mode": "default"}
    call = {"hook_event_name": "PreToolUse", "tool_name": tool_name, "tool_input": tool_input, "tool_use_id": "t-1"}
    return json.dumps({**common, **call})


def hook(
    text: str, *options: str, expect: int = 0, agent: str = "claude-code", **environment: str
) -> dict[str, str] | None:
    """What the hook decided; None where it said nothing."""
    done = subprocess.run(
        [*COMMAND[:3], agent, COMMAND[-1], *options],
        input=text.encode("utf-8", "surrogateescape"),
        env={**os.environ, **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == expect, done.stderr.decode()
    if not done.stdout:
        return None
    (said,) = json.loads(done.stdout).values()
    assert said.pop("hookEventName") == "PreToolUse"
    found: dict[str, str] = said
    return found


def why_denied(text: str, *options: str, agent: str = "claude-code", **environment: str) -> str:
    """The reason that the model is given for a call that is blocked."""
    said = hook(text, *options, agent=agent, **environment)
    assert said is not None and said["permissionDecision"] == "deny"
    return said["permissionDecisionReason"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture
def configured(service: Serving, monkeypatch: pytest.MonkeyPatch) -> Serving:
    """The service, named in the environment as a user would."""
    monkeypatch.setenv("SEASONED_CONFIRM_URL", service.url)
    monkeypatch.setenv("SEASONED_CONFIRM_TOKEN", service.tokens["agent"])
    return service


def decide_next(service: Serving, verb: str, **body: Any) -> list[dict[str, Any]]:
    """Decide about the next request from another thread; it is in the list when it is decided."""
    seen: list[dict[str, Any]] = []

    def watch() -> None:
        deadline = time.monotonic() + 30
        with service.client("alice") as client:
            while not seen and time.monotonic() < deadline:
                for one in client.get("/confirm", params={"status": "pending"}).json()["requests"]:
                    service.decide(one["id"], verb, **body)
                    seen.append(one)
                time.sleep(0.02)

    threading.Thread(target=watch, daemon=True).start()
    return seen


def test_a_call_that_needs_nobody_passes_without_a_word_whether_or_not_there_is_a_service() -> None:
    assert hook(event(HARMLESS)) is None
    assert hook(event({"file_path": "/srv/app/x.py"}, "Read")) is None
    assert hook(event(HARMLESS), SEASONED_CONFIRM_URL="http://127.0.0.1:1", SEASONED_CONFIRM_TOKEN="x") is None


def test_a_call_that_needs_nobody_costs_little_more_than_its_imports() -> None:
    assert starts(lambda: hook(event(HARMLESS))) <= MOST_STARTS


def test_a_high_risk_call_runs_after_a_person_agreed_to_exactly_it(configured: Serving) -> None:
    seen = decide_next(configured, "approve")
    said = hook(event(RISKY))
    assert said is not None
    assert said["permissionDecision"] == "allow"
    (asked,) = seen
    assert asked["action"] == "delete_data"
    assert asked["details"]["arguments"] == RISKY
    assert asked["details"]["folder"] == "/srv/app"
    assert (asked["requester"], asked["label"], asked["session_key"]) == ("agent", "claude-code", "claude-code:s-1")
    assert configured.look(asked["id"])["redeemed_at"] is not None, "the approval is used up"


def test_a_denied_call_is_blocked_and_the_model_is_told_why(configured: Serving) -> None:
    decide_next(configured, "deny", reason="use the archive instead")
    assert "alice denied 'delete_data': use the archive instead" in why_denied(event(RISKY))


def test_when_nobody_answers_in_time_the_call_is_blocked_before_the_agent_gives_the_hook_up(
    configured: Serving,
) -> None:
    begun = time.monotonic()
    assert "not decided in the time" in why_denied(event(RISKY), "--wait-seconds", "1")
    assert time.monotonic() - begun < 10


def test_a_service_that_takes_the_connection_and_says_nothing_is_a_no_in_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        given = {"SEASONED_CONFIRM_URL": url, "SEASONED_CONFIRM_TOKEN": "ssn_agent_x"}
        assert "no answer came in time" in why_denied(event(RISKY), "--wait-seconds", "1", **given)


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({"SEASONED_CONFIRM_URL": "http://127.0.0.1:1"}, "confirm_token is not set"),
        ({"SEASONED_CONFIRM_URL": "http://127.0.0.1:1", "SEASONED_CONFIRM_TOKEN": "x"}, "did not answer"),
        ({"SEASONED_CONFIRM_URL": "nonsense", "SEASONED_CONFIRM_TOKEN": "x"}, "not the address of a server"),
        ({"SEASONED_WORKERS": "many"}, "workers is not valid"),
    ],
)
def test_whatever_fails_blocks_a_high_risk_call_with_its_reason(environment: dict[str, str], why: str) -> None:
    assert why in why_denied(event(RISKY), **environment)


def test_without_a_service_claude_code_asks_with_its_own_question_and_our_reason() -> None:
    said = hook(event(RISKY))
    why = "it deletes '/srv/data', which is not inside the working folder"
    more = "To allow it from now on, at a terminal: seasoned confirm allow delete_data"
    assert said is not None and said["permissionDecision"] == "ask"
    assert said["permissionDecisionReason"].startswith(f"Seasoned: delete_data: {why}. {more}")


def test_codex_has_no_such_question_so_without_a_service_the_call_is_blocked() -> None:
    assert "seasoned confirm token make YOUR_NAME --role admin --alone" in why_denied(event(RISKY), agent="codex")


def test_what_a_session_may_delete_is_its_project_wherever_its_shell_is(tmp_path: Path) -> None:
    """The folder of the event follows `cd`; that of the project does not."""
    project, other = tmp_path / "project", tmp_path / "other"
    for folder in (project / ".git", project / "src", other):
        folder.mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")

    def decided(command: str, cwd: Path, **environment: str) -> str | None:
        text = json.dumps({"tool_name": "Bash", "tool_input": {"command": command}, "cwd": str(cwd)})
        said = hook(text, **environment)
        return None if said is None else said["permissionDecision"]

    here = {"CLAUDE_PROJECT_DIR": str(project)}
    assert decided("rm -rf src", project, **here) is None
    assert decided("cd .. && rm -rf src", project / "src", **here) is None
    (project / "link").symlink_to("/srv")
    assert decided("rm -rf link/data", project, **here) == decided("rm -rf link/", project, **here) == "ask"
    assert decided("rm link", project, **here) is None, "only the link itself"
    assert decided("rm -rf ./data", Path("/srv"), **here) == "ask", "the shell has left the project"
    assert decided("rm -rf ./data", Path("/"), CLAUDE_PROJECT_DIR="/") == "ask", "the root folder is nobody's project"
    assert decided("rm -rf mira", Path("/home"), CLAUDE_PROJECT_DIR="/home") == "ask"
    assert decided("rm -rf ./notes", Path("/home/mira"), CLAUDE_PROJECT_DIR="/home/mira") == "ask", "all of a home"


def test_a_settings_file_that_cannot_be_read_blocks_a_high_risk_call_and_no_other(home: Path) -> None:
    (home / ".seasoned").mkdir()
    (home / ".seasoned" / "config.toml").write_text("confirm_url = [")
    assert hook(event(HARMLESS)) is None
    assert why_denied(event(RISKY))


@each_case(
    ("text", "is_blocked"),
    [
        ('{"tool_name": "Bash", "tool_input": {"command": "rm -rf /srv/data"', True),
        ('{"tool_name": 5, "tool_input": {"command": "kubectl delete namespace production"}}', True),
        ('{"tool_name": "Bash", "tool_input": "terraform destroy -auto-approve"}', True),
        ("\udcff\udcfe rm -rf /srv/data", True),
        ('{"tool_name": "Bash", "tool_input": {"command": "ls"', False),
        ("", False),
        ("null", False),
        ("[" * 100_000, True),  # longer than can be looked through
        ('{"tool_name": "Read"', False),
    ],
)
def test_what_cannot_be_read_is_blocked_only_where_it_looks_like_high_risk(text: str, is_blocked: bool) -> None:
    assert bool(why_denied(text) if is_blocked else hook(text)) == is_blocked


@pytest.mark.parametrize("value", ["soon", "nan", "-5", "1e9"])
def test_a_slip_in_the_options_does_not_open_the_gate(value: str) -> None:
    service = {"SEASONED_CONFIRM_URL": "http://127.0.0.1:1", "SEASONED_CONFIRM_TOKEN": "x"}
    assert why_denied(event(RISKY), "--wait-seconds", value, **service)


def test_an_event_that_is_not_known_is_said_and_not_passed_over() -> None:
    done = subprocess.run([*COMMAND[:3], "claude-code", "sometime"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: seasoned-hook" in done.stderr


@pytest.mark.parametrize("missing", ["msgspec", "seasoned.hooks.confirmation", "seasoned.config"])
def test_a_part_that_cannot_be_imported_ends_with_the_code_that_blocks(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from seasoned.hooks.main import main; main()"
    command = [sys.executable, "-c", code, "--home", "/nowhere"]
    codes = {}
    for name in ("pre-tool-use", "session-start"):
        done = subprocess.run([*command, "claude-code", name], input=event(HARMLESS), capture_output=True, text=True)
        codes[name] = done.returncode
        assert ("must not run" in done.stderr) == (name == "pre-tool-use")
    assert codes == {"pre-tool-use": 2, "session-start": 0}


def test_a_call_that_is_longer_than_is_read_is_blocked_for_its_end_was_not_seen() -> None:
    assert "too long" in why_denied(event({"note": "x" * 20_000_000, **RISKY}))


def test_one_answer_is_printed_also_when_the_last_word_comes_at_the_same_moment() -> None:
    """The person's no and the last word for the same call, as near to each other as can be made."""
    code = (
        "import seasoned.hooks.confirmation as hook, seasoned.hooks.main as main, time\n"
        "hook._LAST_WORD_SECONDS = -0.5\n"
        "say = hook.say\n"
        "hook.say = lambda *given, **fields: (say(*given, **fields), time.sleep(0.5))\n"
        "def confirmed(*given): time.sleep(0.6); raise hook.SeasonedError('no')\n"
        "hook._ask_service = confirmed\n"
        "hook._has_service = lambda: True\n"
        "main.main()"
    )
    command = [sys.executable, "-c", code, *COMMAND[3:], "--wait-seconds", "1"]
    done = subprocess.run(command, input=event(RISKY), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_the_hook_and_the_client_it_asks_with_need_only_msgspec_and_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import seasoned.hooks.confirmation, seasoned.confirm.client\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(tops - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"msgspec", "seasoned", "typing_extensions"}
