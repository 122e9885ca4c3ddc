"""Conversations through the gateway become sessions: each message once, redacted, judged, readable like any other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.history.reader.seasoned_db import read
from seasoned.session import Session
from seasoned.store import open_store
from seasoned.store.forget import forget_everything, forget_sessions
from seasoned.store.project import list_projects
from tests.gateway.running import Running, rows, run_gateway, settings_for, taught_in, token_of, wait_until
from tests.gateway.upstream_server import Said, Upstream, chat, chat_stream, response

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
SYSTEM: Any = {"role": "system", "content": "You help."}
ASK: Any = {"role": "user", "content": f"List the files, my token is {SECRET}."}
CALL: Any = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": '{"command":"ls"}'}}
    ],
}
RESULT: Any = {"role": "tool", "tool_call_id": "call_1", "content": "ls: cannot access 'x': No such file or directory"}
TOOL: Any = {
    "type": "function",
    "function": {"name": "terminal", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
}


def _ask(gateway: Running, *messages: Any, session: str = "s1", key: str = "sk-x", **headers: str) -> None:
    named = {"x-session-id": session, **headers}
    gateway.openai(key).chat.completions.create(
        model="gpt-4o-mini", messages=[SYSTEM, *messages], tools=[TOOL], extra_headers=named
    )


def _sessions(config: Config) -> list[Session]:
    return list(read(config.store_path))


def test_each_message_is_recorded_once_although_every_request_repeats_it(config: Config, upstream: Upstream) -> None:
    upstream.script[:] = [
        chat("", calls=[("call_1", "terminal", '{"command":"ls"}')]),
        chat("It is empty."),
        chat("Bye."),
    ]
    done: Any = {"role": "assistant", "content": "It is empty."}
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, ASK)
        _ask(gateway, ASK, CALL, RESULT)
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, ASK, CALL, RESULT, done, {"role": "user", "content": "Thanks."})
        assert gateway.failed_open() == {}
    (session,) = _sessions(config)
    assert str(session.ref) == "gateway:s1"
    said = [(one.role, one.text) for one in session.messages if one.role != "tool"]
    assert [role for role, _ in said] == ["user", "assistant", "assistant", "user", "assistant"]
    assert [text for _, text in said[2:]] == ["It is empty.", "Thanks.", "Bye."]
    (call,) = session.calls()
    assert (call.tool, call.arguments) == ("terminal", {"command": "ls"})
    assert call.result is not None
    assert session.usage is not None
    assert (session.usage.input, session.usage.prompt) == (60, 360)
    with open_store(config.store_path) as store:
        row = store.connection.execute("SELECT verdict, evidence FROM call").fetchall()
    assert [tuple(one) for one in row] == [("failed", "wording")]
    found = rows(config, "gateway.requests_of", session="gateway:s1")
    assert [one["is_recorded"] for one in found] == [1, 1, 1]


def test_no_secret_is_ever_written(config: Config, upstream: Upstream) -> None:
    upstream.script[:] = [chat(f"Your token {SECRET} is fine.")]
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, ASK)
    assert SECRET.encode() in upstream.heard[0].body, "the provider is sent what the client wrote"
    assert len(_sessions(config)) == 1
    for path in config.home.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_requests_that_are_no_turns_are_accounted_and_not_recorded(config: Config, upstream: Upstream) -> None:
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        for purpose in ("title", "probe", "compaction", "review"):
            _ask(gateway, ASK, **{"x-seasoned-purpose": purpose})
    assert _sessions(config) == []
    found = rows(config, "gateway.requests_of", session="gateway:s1")
    assert [(one["purpose"], one["is_recorded"]) for one in found] == [
        (purpose, 0) for purpose in ("title", "probe", "compaction", "review")
    ]


def test_what_a_warm_start_put_there_is_not_recorded(config: Config, upstream: Upstream) -> None:
    taught_in(config.home.parent)
    function = {"name": "search_files", "parameters": {"type": "object", "properties": {"path": {}, "pattern": {}}}}
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        tools: Any = [{"type": "function", "function": function}]
        gateway.openai().chat.completions.create(model="gpt-4o-mini", messages=[SYSTEM, ASK], tools=tools)
    assert b"[seasoned:warm " in upstream.heard[0].body
    (session,) = _sessions(config)
    assert [one.role for one in session.messages] == ["user", "assistant"]
    assert list(session.calls()) == []


def test_responses_are_one_conversation_by_their_chain(config: Config, upstream: Upstream) -> None:
    upstream.script[:] = [response("One.", id="resp_a"), response("Two.", id="resp_b"), response("Three.", id="resp_c")]

    def go_on(gateway: Running, said: str, before: str | None) -> None:
        gateway.openai().responses.create(model="gpt-4o-mini", input=said, previous_response_id=before)

    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        go_on(gateway, "First", None)
        go_on(gateway, "Second", "resp_a")
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        go_on(gateway, "Third", "resp_b")
    (session,) = _sessions(config)
    assert [one.text for one in session.messages] == ["First", "One.", "Second", "Two.", "Third", "Three."]


def test_nobody_joins_the_conversation_of_another_key(config: Config, upstream: Upstream) -> None:
    mine, yours = token_of(config, "mine"), token_of(config, "yours")
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, ASK, key=mine)
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, {"role": "user", "content": "What was said here?"}, key=yours)
    first, second = _sessions(config)
    assert first.ref.native_id == "s1"
    assert second.ref.native_id.startswith("s1~")
    assert (len(first.messages), len(second.messages)) == (2, 2)
    # Without a folder, a conversation belongs to the application that its key names.
    with open_store(config.store_path) as store:
        assert [one.key for one in list_projects(store)] == ["app:yours", "app:mine"]


def test_an_answer_that_broke_off_is_not_taken_for_what_was_said(config: Config, upstream: Upstream) -> None:
    begun = chat_stream("Half an", " answer")
    upstream.script[:] = [Said(begun.chunks[:2], kind=begun.kind, breaks_off=True), chat("A whole one.")]
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        client = gateway.openai()
        asked: Any = {"model": "gpt-4o-mini", "messages": [ASK], "extra_headers": {"x-session-id": "s1"}}
        with pytest.raises(Exception, match=r"(?i)connection|closed|incomplete"):
            list(client.chat.completions.create(**asked, stream=True))
        client.chat.completions.create(**asked)
    (session,) = _sessions(config)
    assert [one.text for one in session.messages][1:] == ["A whole one."]
    assert [one["ended"] for one in rows(config, "gateway.requests_of", session="gateway:s1")] == ["broken", "complete"]


def test_without_a_store_requests_pass_all_the_same(config: Config, upstream: Upstream) -> None:
    config.home.mkdir(parents=True)
    config.store_path.write_bytes(b"this is no database, and nobody can make it one" * 100)
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, ASK)
        wait_until(lambda: {"store", "provision"} <= gateway.failed_open().keys())
    assert upstream.heard[0].json["messages"] == [SYSTEM, ASK]
    assert list((config.home / "gateway-journal").iterdir()) != [], "its tokens wait for a store that works"


def test_a_conversation_that_is_forgotten_leaves_its_tokens_and_no_name(config: Config, upstream: Upstream) -> None:
    upstream.script[:] = [response("Hi."), chat("Hi.")]
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        named = {"x-session-id": "gone"}
        gateway.openai().responses.create(model="gpt-4o-mini", input="Hello", extra_headers=named)
        _ask(gateway, ASK, session="kept")
    with open_store(config.store_path) as store:
        ids = store.connection.execute("SELECT id FROM session WHERE native_id = 'gone'").fetchall()
        forget_sessions(store, [row[0] for row in ids], now=1.0)
        for table, count in (("gateway_view", 1), ("gateway_chain", 0), ("gateway_request", 2)):
            assert store.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == count
            found = store.connection.execute(f"SELECT count(*) FROM {table} WHERE session = 'gateway:gone'").fetchone()
            assert found[0] == 0, table
        forget_everything(store)
        for table in ("gateway_view", "gateway_chain", "gateway_request"):
            assert store.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0


def test_what_was_said_and_what_is_known_of_it_are_written_together(config: Config, upstream: Upstream) -> None:
    """A store that fails in between is tried again, and nothing is there twice."""
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        _ask(gateway, ASK)
        wait_until(lambda: len(_sessions(config)) == 1)
        with open_store(config.store_path) as store, store.write():
            store.connection.execute("ALTER TABLE gateway_view RENAME TO away")
        _ask(gateway, ASK, {"role": "assistant", "content": "Hello there."}, {"role": "user", "content": "And?"})
        wait_until(lambda: sum(gateway.failed_open().values()) > 0)
        assert len(_sessions(config)[0].messages) == 2, "neither of them"
        with open_store(config.store_path) as store, store.write():
            store.connection.execute("ALTER TABLE away RENAME TO gateway_view")
        wait_until(lambda: len(_sessions(config)[0].messages) == 4)
    assert [one.text for one in _sessions(config)[0].messages][2:] == ["And?", "Hello there."]


_POST = """
import encodings.idna, http.client, os, sys
user, port, body = sys.argv[1:]
# In the program itself: another user may not be allowed to start it from where it is.
os.setuid(int(user))
client = http.client.HTTPConnection("127.0.0.1", int(port))
client.request("POST", "/v1/chat/completions", body.encode())
print(client.getresponse().status)
"""


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can run a program as another user")
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell whose a connection is")
def test_another_user_of_the_machine_writes_nothing_into_this_history_without_a_key(
    config: Config, upstream: Upstream
) -> None:
    token = token_of(config, "guest")
    with run_gateway(config, settings_for(config, upstream.url)) as gateway:
        for user in (65_534, 0):
            said = [{"role": "user", "content": f"I am user {user}."}, CALL, RESULT]
            made_up = json.dumps({"model": "gpt-4o-mini", "messages": said, "tools": [TOOL]})
            arguments = [sys.executable, "-c", _POST, str(user), gateway.url.rpartition(":")[2], made_up]
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=True)
            assert done.stdout == "200\n"
        _ask(gateway, ASK, session="s2", key=token)
        wait_until(lambda: len(_sessions(config)) == 2)
        assert sorted(one.messages[0].text[:4] for one in _sessions(config)) == ["I am", "List"]
    assert not any("65534" in one.messages[0].text for one in _sessions(config))
    assert len(upstream.heard) == 3, "every one of them was answered"
