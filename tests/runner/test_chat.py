"""The command `chat`, as a user meets it: in a process of its own, at a terminal, against a server on loopback."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from seasoned.experience.storage import last_learned
from seasoned.learn_queue import wait_until_learned
from seasoned.store import open_store
from seasoned.testing import Answer, call, serve_script
from tests.cli.run import SEASONED, answer, seasoned

pty = pytest.importorskip("pty", reason="there are no terminals to play on this system")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SEASONED_MODEL", "SEASONED_BASE_URL"):
        monkeypatch.delenv(key, raising=False)


def test_one_turn_answers_and_its_session_is_seen_by_the_other_commands(tmp_path: Path) -> None:
    steps = [call("terminal", command="echo hello"), Answer("It said hello.", input_tokens=50, output_tokens=5)]
    with serve_script(*steps) as server:
        done = seasoned("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "say hello")
    assert done.stdout == "It said hello.\n"
    assert "ok      terminal echo hello" in done.stderr
    (row,) = answer("sessions", "--store")["sessions"]
    assert (row["agent"], row["message_count"], row["tool_call_count"]) == ("seasoned", 4, 1)
    shown = seasoned("show", row["session_id"]).stdout
    assert "It said hello." in shown
    assert "ok      terminal" in shown
    profile = answer("profile", row["session_id"])
    assert (profile["tool_call_count"], profile["error_rate"]) == (1, 0.0)
    home = Path.home() / ".seasoned"
    assert wait_until_learned(str(home), 60)
    with open_store(home / "seasoned.db") as store:
        assert [(one.agent, one.sessions) for one in last_learned(store)] == [("seasoned", 1)], "it was learned from"
        assert [row["has_ended"] for row in store.rows("session.tracks", {"agent": None, "project": None})] == [1]


def test_one_turn_for_programs_says_what_it_took(tmp_path: Path) -> None:
    steps = [call("terminal", command="rm -rf /"), Answer("I was not allowed to.", input_tokens=70, output_tokens=6)]
    with serve_script(*steps) as server:
        found = answer("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "destroy it all")
    assert found["schema"] == "seasoned/chat/1"
    assert found["text"] == "I was not allowed to."
    assert [(one["tool"], one["verdict"], one["fault"]) for one in found["calls"]] == [
        ("terminal", "failed", "user_declined")
    ]
    assert (found["requests"], found["cost_usd"], found["stopped"], found["notes"]) == (2, None, None, [])


def test_a_conversation_is_taken_up_again_by_its_id(tmp_path: Path) -> None:
    with serve_script("Hello Ada.", "You are Ada.") as server:
        first = answer("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "I am Ada.")
        again = answer("chat", "--resume", first["session"], "--folder", tmp_path, "--once", "Who am I?")
        sent = [message["content"] for message in server.heard[1].json["messages"]]
        before, after = (one.json["messages"][0] for one in server.heard)
    assert again["session"] == first["session"]
    assert sent[1:] == ["I am Ada.", "Hello Ada.", "Who am I?"]
    assert before == after, "the instructions are frozen"
    assert answer("sessions", "--store")["count"] == 1


def test_one_turn_is_reviewed_when_a_review_is_due_and_the_answer_comes_first(tmp_path: Path) -> None:
    home = Path(os.environ["SEASONED_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text("review_memory_turns = 2\nreview_skill_calls = 0\n")
    keep = call("memory", action="add", target="user", text="Ada prefers short answers.")
    with serve_script("Hello Ada.", "You are Ada.", keep, "Kept one entry.") as server:
        first = answer("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "I am Ada.")
        assert len(server.heard) == 1, "one turn is not enough"
        done = seasoned("chat", "--resume", first["session"], "--folder", tmp_path, "--once", "Who am I?")
    assert done.stdout == "You are Ada.\n" and "Kept: memory +1" in done.stderr
    assert "Ada prefers short answers." in (home / "memory" / "USER.md").read_text()
    (review,) = answer("review", "--ledger")["reviews"]
    assert (review["state"], review["context"]) == ("kept", "background")


def test_without_a_model_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    done = seasoned("chat", expect=3, PATH="/usr/bin:/bin")
    assert done.stderr.startswith("seasoned: No model is configured: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--model", "nonsense"], 2, "is not a model"),
        (["--base-url", "http://127.0.0.1:1/v1", "--resume", "none"], 3, "no store"),
        (["--base-url", "http://127.0.0.1:1/v1", "--json"], 2, "--once"),
        (["--base-url", "http://127.0.0.1:1/v1", "--once", "x", "--toolsets", "magic"], 2, "Unknown toolset 'magic'"),
        (["--base-url", "http://127.0.0.1:1/v1", "--once", "x", "--warm", "none-such"], 3, "no store"),
        (["--base-url", "http://127.0.0.1:1/v1", "--once", "x"], 3, "did not answer"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(arguments: list[str], code: int, said: str) -> None:
    done = seasoned("chat", *arguments, expect=code)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@contextmanager
def terminal(*arguments: object) -> Iterator[Terminal]:
    """The command at a terminal of its own."""
    pid, screen = pty.fork()
    if pid == 0:
        os.execve(SEASONED, ["seasoned", *map(str, arguments)], {**os.environ, "TERM": "dumb", "COLUMNS": "100"})
    found = Terminal(pid, screen)
    try:
        yield found
    finally:
        if found.code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(screen)


class Terminal:
    """What a person sees and types."""

    def __init__(self, pid: int, screen: int) -> None:
        self.pid, self.screen = pid, screen
        self.text = ""
        self.code: int | None = None

    def wait_for(self, words: str, seconds: float = 30.0) -> str:
        """What came until the words did; it is not looked at again."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            left = deadline - time.monotonic()
            assert left > 0, f"{words!r} did not come, but:\n{self.text}"
            if select.select([self.screen], [], [], left)[0]:
                self.text += os.read(self.screen, 65536).decode("utf-8", "replace")
        seen, _, self.text = self.text.partition(words)
        return seen

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def leave(self) -> int:
        self.type("/exit\n")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.code = os.waitstatus_to_exitcode(status)
                return self.code
            if select.select([self.screen], [], [], 0.05)[0]:
                try:
                    os.read(self.screen, 65536)
                except OSError:
                    continue
        raise AssertionError("it did not leave")


def test_the_prompt_comes_at_once() -> None:
    taken = []
    while not taken or (min(taken) >= 1.5 and len(taken) < 5):
        begun = time.monotonic()
        with terminal("chat", "--base-url", "http://127.0.0.1:1/v1") as screen:
            screen.wait_for("> ")
            taken.append(time.monotonic() - begun - waited_for_processor(screen.pid))
            assert screen.leave() == 0
    assert min(taken) < 1.5


def waited_for_processor(pid: int) -> float:
    """Seconds for which a process could have run, but others did. Where the system does not say: none."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def test_a_person_talks_is_asked_and_interrupts(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    steps = [
        call("terminal", command="rm -rf build"),
        "Removed.",
        call("terminal", command="sleep 60"),
        "I was stopped.",
        "A fresh start.",
    ]
    with serve_script(*steps) as server:
        with terminal("chat", "--base-url", server.base_url, "--folder", tmp_path) as screen:
            screen.wait_for("> ")
            screen.type("clean up\n")
            assert "It deletes folders" in screen.wait_for("Allow it? [y/N] ")
            screen.type("y\n")
            screen.wait_for("Removed.")
            assert not (tmp_path / "build").exists()
            screen.wait_for("> ")
            screen.type("wait\n")
            while len(server.heard) < 3:
                time.sleep(0.05)
            time.sleep(1.0)
            screen.type("\x03")
            screen.wait_for("The turn was interrupted.")
            screen.wait_for("> ")
            screen.type("and?\n")
            screen.wait_for("I was stopped.")
            screen.wait_for("> ")
            time.sleep(0.5)
            screen.type("\x03")
            screen.wait_for("/exit leaves")
            screen.wait_for("> ")
            screen.type("/help\n")
            screen.wait_for("start a new conversation")
            screen.wait_for("> ")
            screen.type("/new\n")
            screen.wait_for("New conversation.")
            screen.wait_for("> ")
            screen.type("hello\n")
            screen.wait_for("A fresh start.")
            assert screen.leave() == 0
        last = [message["content"] for message in server.heard[-1].json["messages"]]
    assert last[1:] == ["hello"]
    rows = answer("sessions", "--store")["sessions"]
    assert [row["message_count"] for row in rows] == [2, 9]


def test_the_models_words_cannot_steer_the_terminal(tmp_path: Path) -> None:
    with serve_script("\x1b]0;stolen\x07\x1b[2J[red]plain[/red]") as server:
        done = seasoned("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "hi")
    assert "\x1b" not in done.stdout
    assert "[red]plain[/red]" in done.stdout


def test_settings_of_a_conversation_come_from_the_configuration(tmp_path: Path, home: Path) -> None:
    (home / ".seasoned").mkdir(mode=0o700, exist_ok=True)
    (home / ".seasoned" / "config.toml").write_text('toolsets = ["file"]\nturn_steps = 2\n')
    with serve_script(*[call("read_file", path="x")] * 5) as server:
        done = seasoned("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "hi", expect=3)
        names = {tool["function"]["name"] for tool in server.heard[0].json["tools"]}
        assert len(server.heard) == 2
    assert "after 2 steps" in done.stderr
    assert names == {"read_file", "write_file", "patch", "search_files"}


def test_json_has_the_fields_that_are_promised(tmp_path: Path) -> None:
    with serve_script("Hi.") as server:
        done = seasoned("chat", "--base-url", server.base_url, "--folder", tmp_path, "--once", "hi", "--json")
    fields = (
        "schema session model text requests calls usage cost_usd seconds first_token_seconds stopped reason warm notes"
    )
    assert list(json.loads(done.stdout)) == fields.split()
