"""A warm start: a block that never changes while the conversation lives, and that never happened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.config import Config, load
from seasoned.errors import NotFound
from seasoned.history.formats import read_file
from seasoned.runner.conversation import Conversation, TurnLimits
from seasoned.runner.model import ModelChoice
from seasoned.runner.start import ConversationOptions, start, warm_block
from seasoned.store import open_store
from seasoned.template.library.storage import save
from seasoned.testing import Answer, call, serve_script
from tests.runner.scripted import SECRECY, folders, say
from tests.template.examples import example, keep_session, template


def config_with_template(path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    home, folder = folders(path)
    monkeypatch.setenv("SEASONED_HOME", str(home))
    config = load()
    shown = [
        example("terminal", arguments={"command": "make check"}, intent="Check the work.", result="ok"),
        example("read_file", arguments={"path": "docs/x.md"}, intent="Read the notes.", result="# Notes"),
        example("not_a_tool_here", arguments={"a": 1}),
    ]
    with open_store(config.store_path) as store:
        save(store, template("code-work", *shown))
        keep_session(store, "codex:a", folder=str(folder))
    return config


def started(config: Config, path: Path, url: str, warm: str | None = "code-work") -> Conversation:
    wish = ConversationOptions(
        choice=ModelChoice("m", url), folder=folders(path)[1], toolsets=("terminal", "file"), warm=warm
    )
    return start(config, SECRECY, wish)


def before_the_first_words(body: bytes) -> bytes:
    return body.partition(b'{"role":"user","content":"check it"')[0]


def test_the_block_is_sent_with_every_request_in_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with_template(tmp_path, monkeypatch)
    with serve_script(call("terminal", command="true"), "One.", "Two.") as server:
        conversation = started(config, tmp_path, server.base_url)
        say(conversation, "check it", "and again")
        prefixes = {before_the_first_words(body) for body in server.bodies}
        roles = [message["role"] for message in server.heard[0].json["messages"]]
    (prefix,) = prefixes
    assert roles[0] == "system"
    assert prefix.count(b"[seasoned:warm v1 code-work@1") == 1
    assert b"make check" in prefix
    assert b"not_a_tool_here" not in prefix
    assert b"[seasoned:end]" in prefix
    assert conversation.warmth is not None
    assert conversation.warmth.template == "code-work@1"


def test_the_block_is_never_recorded_and_its_tokens_still_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with_template(tmp_path, monkeypatch)
    with serve_script(Answer("One.", input_tokens=777, output_tokens=2)) as server:
        conversation = started(config, tmp_path, server.base_url)
        (turn,) = say(conversation, "check it")
    assert turn.usage.input == 777
    assert [message.kind for message in conversation.history] == ["request", "response"]
    (session,) = read_file(config.store_path)
    assert [message.text for message in session.messages] == ["check it", "One."]
    assert not list(session.calls())
    with open_store(config.store_path) as store:
        bodies = store.connection.execute("SELECT group_concat(body) FROM message").fetchone()[0]
    assert "seasoned:warm" not in bodies


def test_a_conversation_that_is_compressed_keeps_its_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_with_template(tmp_path, monkeypatch)
    steps = [Answer("One.", input_tokens=9_000), "A summary.", Answer("Two.", input_tokens=500)]
    with serve_script(*steps) as server:
        conversation = started(config, tmp_path, server.base_url)
        conversation.limits = TurnLimits(context_tokens=10_000)
        say(conversation, "check it", "and again")
        first, asked, last = [json.loads(body)["messages"] for body in server.bodies]
    size = next(at for at, message in enumerate(first) if message["content"] == "check it")
    assert last[:size] == first[:size]
    assert last[size]["content"].startswith("[Summary:")
    assert "seasoned:warm" not in json.dumps(asked)


def test_auto_takes_what_fits_and_says_why_where_nothing_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_with_template(tmp_path, monkeypatch)
    with serve_script("One.", "Two.") as server:
        warm = started(config, tmp_path, server.base_url, "auto")
        say(warm, "check it")
        wish = ConversationOptions(
            choice=ModelChoice("m", server.base_url), folder=folders(tmp_path)[1], toolsets=("web",), warm="auto"
        )
        cold = start(config, SECRECY, wish)
        say(cold, "check it")
    assert warm.warmth is not None
    assert warm.warmth.template == "code-work@1"
    assert cold.warmth is not None
    assert cold.warmth.messages == ()
    assert cold.warmth.reason


def test_a_template_that_does_not_exist_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_with_template(tmp_path, monkeypatch)
    conversation = started(config, tmp_path, "http://127.0.0.1:1/v1", "no-such")
    with pytest.raises(NotFound, match="no-such"):
        say(conversation, "check it")


def test_an_example_that_does_harm_is_suspended_and_taken_back_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with_template(tmp_path, monkeypatch)
    retracted, shown = [], []
    for _ in range(8):
        fails = [call("terminal", command="make check")] * 3
        with serve_script(*fails, "It fails.", "Another way then.") as server:
            conversation = started(config, tmp_path, server.base_url)
            say(conversation, "check it", "and now?")
            last = server.heard[-1].json["messages"]
            same = before_the_first_words(server.bodies[0]) == before_the_first_words(server.bodies[-1])
        assert same, "what was shown stays as it was"
        retracted.append("[seasoned:retract]" in json.dumps(last[-3:]))
        shown.append("make check" in json.dumps(last[:6]))
    assert shown[0]
    assert any(retracted)
    assert not shown[-1], "a new conversation is not shown it any more"
    at = retracted.index(True)
    assert not any(retracted[:at])


def test_a_store_that_cannot_be_opened_makes_a_cold_start(tmp_path: Path) -> None:
    (tmp_path / "seasoned.db").mkdir()
    warmth = warm_block(Config(home=tmp_path), lineage_root="seasoned:1", task="x", tools=[])
    assert warmth.messages == ()
    assert "seasoned.db' cannot be" in warmth.reason
