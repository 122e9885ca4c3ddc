"""When a session is reviewed: after so many turns or calls, in a process of its own, one at a time, only if wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from seasoned.config import Config, load
from seasoned.file_lock import locked
from seasoned.hooks.learner import learn_all
from seasoned.hooks.reviewer import DueSession, review_all, review_folder
from seasoned.learn_queue import note, wait_until_learned
from tests.history.claude_lines import ClaudeFile
from tests.history.hermes_rows import HermesDb
from tests.history.more_agents import QWEN, cursor_database, qwen_call, qwen_line
from tests.history.small_formats import lines
from tests.hooks.test_events import HOOK, hook
from tests.review.scripted import answer
from tests.scripted_server import serve_script

SESSION = "11111111-2222-4333-8444-555555555555"


def transcript(folder: Path, calls: int, session: str = SESSION) -> Path:
    """A session of so many calls."""
    file = ClaudeFile(session).user("How many parcels were late?")
    for at in range(calls):
        file.calls(f"toolu_{session[:4]}{at}", "Bash", command="ls").result(
            f"toolu_{session[:4]}{at}", "x", is_error=False
        )
    file.says("Three.")
    path = folder / f"{session}.jsonl"
    file.write(path)
    return path


def configure(url: str | None, **settings: object) -> Config:
    home = Path.home() / ".seasoned"
    home.mkdir(exist_ok=True)
    values = {**settings, **({} if url is None else {"model": "scripted", "base_url": f"{url}/v1"})}
    (home / "config.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    return load()


def log_of(config: Config) -> str:
    path = config.log_folder / "hooks.log"
    return path.read_text() if path.exists() else ""


def wait_for(config: Config, times: int = 1) -> str:
    until = time.monotonic() + 60
    while log_of(config).count("review of") < times and time.monotonic() < until:
        time.sleep(0.05)
    return log_of(config)


def settle(config: Config) -> None:
    """Wait until the background process has taken what the hooks wrote down."""
    assert wait_until_learned(str(config.home), 60)


def counted(config: Config, agent: str = "claude-code") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((review_folder(config) / f"{agent}.json").read_text())
    return found


def test_a_review_begins_by_itself_when_it_is_due_and_the_hook_does_not_wait(tmp_path: Path) -> None:
    slow = {"text": answer(said="Nothing to save."), "pause": 0.4}
    with serve_script(slow) as server:
        config = configure(server.url, review_skill_calls=3)
        begun = time.monotonic()
        assert hook("claude-code", "Stop", session_id=SESSION, transcript_path=str(transcript(tmp_path, 3))) is None
        answered = time.monotonic() - begun
        said = wait_for(config)
        assert f"review of claude-code:{SESSION}: Nothing" in said
        assert answered < time.monotonic() - begun - 0.3, "the review went on after the hook had ended"
        assert server.requests, "the model was asked"
    assert counted(config)["count"] == {"turns": 0, "calls": 0}


def test_when_reviews_are_off_nothing_happens_though_there_is_a_key(tmp_path: Path) -> None:
    config = configure(None, review_skill_calls=1, review_agent="off")
    env = {"ANTHROPIC_API_KEY": "sk-ant-dummy", "OPENAI_API_KEY": "sk-dummy"}
    path = str(transcript(tmp_path, 5))
    assert hook("claude-code", "Stop", session_id=SESSION, transcript_path=path, env=env) is None
    assert hook("claude-code", "SessionEnd", session_id=SESSION, transcript_path=path, env=env) is None
    settle(config)
    assert not review_folder(config).exists() and log_of(config) == ""


def test_an_agent_that_reviews_has_no_hooks(tmp_path: Path) -> None:
    config = configure(None)
    path = str(transcript(tmp_path, 5))
    for event in ("Stop", "SessionEnd"):
        assert hook("claude-code", event, session_id=SESSION, transcript_path=path, env={"SEASONED_APART": "1"}) is None
    assert not (config.home / "learn").exists()


def test_turns_and_calls_are_counted_once_however_often_they_are_told(tmp_path: Path) -> None:
    config = configure("http://127.0.0.1:1", review_skill_calls=100, review_memory_turns=100)
    path = transcript(tmp_path, 4)
    whole = path.read_bytes()
    written = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(written[:7]) + written[7][:40])
    for event in ("stop", "stop", "session-end"):
        tell(config, "claude-code", event, session_id=SESSION, transcript_path=str(path))
    assert counted(config)["count"] == {"turns": 1, "calls": 3}, "half a line counts when it is whole"
    path.write_bytes(whole)
    tell(config, "claude-code", "stop", session_id=SESSION, transcript_path=str(path))
    assert counted(config)["count"] == {"turns": 1, "calls": 4}


def test_sub_agents_of_hermes_and_sessions_that_are_gone_are_not_counted() -> None:
    config = configure("http://127.0.0.1:1", review_skill_calls=100, review_memory_turns=100)
    config.hermes_home.mkdir()
    made = HermesDb(config.hermes_home / "state.db")
    made.session("s1", cwd="/home/mira/w")
    made.session("child", parent_session_id="s1", source="subagent")
    for session in ("s1", "child"):
        made.says(session, "user", "How many parcels were late?")
        calls = [{"id": f"{session}{at}", "function": {"name": "terminal", "arguments": "{}"}} for at in range(3)]
        made.says(session, "assistant", "", tool_calls=json.dumps(calls))
        made.result(session, f"{session}0", "x")
    for session in ("s1", "child", "gone"):
        note(str(config.home), "turn", agent="hermes", session=session, path=str(made.path))
    learn_all(config)
    assert counted(config, "hermes")["count"] == {"turns": 1, "calls": 3}


def tell(config: Config, agent: str, event: str, **fields: object) -> None:
    told = json.dumps(fields)
    done = subprocess.run([HOOK, agent, event], input=told, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    settle(config)


def test_agents_that_do_not_say_where_a_session_is_are_counted_after_it_was_learned_from(home: Path) -> None:
    config = configure("http://127.0.0.1:1", review_skill_calls=100, review_memory_turns=100)
    path = home / ".qwen" / "projects" / "w" / "chats" / "q1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(lines(*QWEN))
    for event, session in (("stop", "q1"), ("session-end", "q1"), ("stop", "unknown")):
        tell(config, "qwen", event, session_id=session)
    assert counted(config, "qwen")["count"] == {"turns": 1, "calls": 4}
    more = [qwen_line("user", message={"role": "user", "parts": [{"text": "And now?"}]})]
    more.append(qwen_line("assistant", message={"role": "model", "parts": [qwen_call("c9", "read_file", path="b")]}))
    path.write_bytes(lines(*QWEN, *more))
    tell(config, "qwen", "stop", session_id="q1")
    assert counted(config, "qwen")["count"] == {"turns": 2, "calls": 5}
    place = home / ".config" / "Cursor" / "User" / "globalStorage"
    place.mkdir(parents=True)
    cursor_database(place)
    tell(config, "cursor", "session-end", conversation_id="k1", workspace_roots=[str(home)])
    assert counted(config, "cursor")["count"] == {"turns": 1, "calls": 5}


def test_sub_agents_and_sessions_without_a_file_are_not_counted(tmp_path: Path) -> None:
    config = configure("http://127.0.0.1:1", review_skill_calls=1)
    hook("claude-code", "Stop", session_id=SESSION, transcript_path=str(transcript(tmp_path, 3)), agent_id="a1")
    hook("claude-code", "Stop", session_id=SESSION, transcript_path=None)
    hook("claude-code", "Stop", session_id="gone", transcript_path=str(tmp_path / "gone.jsonl"))
    settle(config)
    assert not list(review_folder(config).glob("*.due"))


def write_due(config: Config, *sessions: str) -> None:
    review_folder(config).mkdir(parents=True)
    for session in sessions:
        due = DueSession("claude-code", session)
        (review_folder(config) / f"{session}.due").write_bytes(msgspec.json.encode(due))


def test_reviews_wait_for_each_other_and_none_is_lost() -> None:
    with serve_script() as server:
        config = configure(server.url)
        names = ("aaaaaaaa-2222-4333-8444-555555555555", "bbbbbbbb-2222-4333-8444-555555555555")
        write_due(config, *names)
        with locked(review_folder(config) / ".reviewing.lock"):
            others = [start(config) for _ in range(3)]
            assert [one.wait(30) for one in others] == [0, 0, 0], "who finds another at work leaves"
        assert server.requests == []
        assert start(config).wait(90) == 0
        assert log_of(config).count("review of") == 2
        assert list(review_folder(config).glob("*.due")) == []


def start(config: Config) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "seasoned.hooks.reviewer", str(config.home)], env=dict(os.environ))


def test_a_model_that_does_not_answer_and_a_file_that_is_damaged_end_in_a_line_of_the_log() -> None:
    config = configure("http://127.0.0.1:1")
    write_due(config, SESSION)
    (review_folder(config) / "bad.due").write_bytes(b"{")
    assert review_all(config) == 1
    assert f"review of claude-code:{SESSION}: " in log_of(config)
    assert "cannot be read" in log_of(config)
