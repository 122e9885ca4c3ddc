"""Recording: written as it happens, redacted before the first write, read back as a history, taken up again."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from seasoned.history.formats import read_file, recognise
from seasoned.outcome.judge import judge_session
from seasoned.redact import Redactor
from seasoned.runner.record import body_of, new_ref, redacted
from seasoned.store import open_store
from seasoned.store.forget import forget_sessions
from tests.conftest import examples
from tests.runner.scripted import conversation_at, say
from tests.scripted_model import Answer, ScriptedModel, call, serve_script

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
STEPS = [call("divide", a=1, b=0)], [call("add", a=1, b=2)], "It is 3."


def store_of(path: Path) -> Path:
    return path / "seasoned.db"


def test_a_recorded_conversation_is_read_back_as_a_session_and_judged(tmp_path: Path) -> None:
    conversation = conversation_at(tmp_path, ScriptedModel(*STEPS, "Bye."))
    say(conversation, "say hi", "thanks")
    assert recognise(store_of(tmp_path)) == "seasoned_db"
    (session,) = read_file(store_of(tmp_path))
    assert session.ref == conversation.ref
    assert (session.format, session.title, session.cwd) == ("seasoned", "say hi", str(tmp_path))
    assert [message.role for message in session.messages] == [
        *["user", "assistant", "tool", "assistant", "tool", "assistant"],
        *["user", "assistant"],
    ]
    assert [(found.tool, verdict.verdict) for found, verdict in judge_session(session)] == [
        ("divide", "failed"),
        ("add", "ok"),
    ]


def test_the_store_and_the_reader_say_the_same_of_a_conversation(tmp_path: Path) -> None:
    say(conversation_at(tmp_path, ScriptedModel(*STEPS)), "say hi")
    (session,) = read_file(store_of(tmp_path))
    with open_store(store_of(tmp_path)) as store:
        (row,) = store.rows("session.tracks", {"agent": "seasoned", "project": None})
        calls = store.rows("call.of_session", {"session_id": row["id"]})
    assert (row["messages"], row["calls"], row["ok"], row["failed"]) == (session.message_count, 2, 1, 1)
    assert session.usage is not None
    assert (row["input_tokens"], row["output_tokens"]) == (session.usage.input, session.usage.output)
    assert [stored["intent"] for stored in calls] == ["say hi", "say hi"]
    assert [stored["message"] for stored in calls] == [found.message for found in session.calls()]


def test_every_request_is_accounted_for_with_what_the_provider_counted(tmp_path: Path) -> None:
    steps = [Answer("one", input_tokens=90, output_tokens=3), Answer("two", input_tokens=120, output_tokens=4)]
    with serve_script(*steps) as server:
        from seasoned.runner.model import ModelChoice, open_model

        say(conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url))), "a", "b")
    with open_store(store_of(tmp_path)) as store:
        (row,) = store.rows("session.tracks", {"agent": "seasoned", "project": None})
    assert (row["input_tokens"], row["output_tokens"], row["cost_usd"]) == (210, 7, None)


def test_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    model = ScriptedModel(call("add", a=1, b=TOKEN), call("divide", a=1, b=0), f"It is {TOKEN}.")
    (turn,) = say(conversation_at(tmp_path, model), f"My token is {TOKEN}")
    assert TOKEN in turn.text, "the conversation itself must see it"
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
    (session,) = read_file(store_of(tmp_path))
    assert str(session).count("[redacted:") >= 3


def test_a_message_is_in_the_store_while_the_turn_is_still_under_way(tmp_path: Path) -> None:
    model = ScriptedModel(call("add", a=1, b=2), call("wait", seconds=60), "done")
    conversation = conversation_at(tmp_path, model)

    async def talk() -> int:
        turn = asyncio.create_task(conversation.turn("go"))
        deadline, seen = time.monotonic() + 60, 0
        while seen < 3 and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            seen = _messages(store_of(tmp_path))
        conversation.stop()
        await turn
        return seen

    assert asyncio.run(talk()) == 3
    conversation.close()


def test_a_store_that_cannot_be_written_stops_nobody_and_is_told_once(tmp_path: Path) -> None:
    store_of(tmp_path).mkdir()
    first, second = say(conversation_at(tmp_path, ScriptedModel("one", "two")), "a", "b")
    assert (first.text, second.text) == ("one", "two")
    (note,) = first.notes
    assert note.startswith("This conversation is not being recorded: ")
    assert second.notes == ()


def test_a_forgotten_conversation_is_gone_and_is_not_recorded_again(tmp_path: Path) -> None:
    conversation = conversation_at(tmp_path, ScriptedModel("The word is marmalade.", "Yes."))

    async def talk() -> None:
        await conversation.turn("which word?")
        with open_store(store_of(tmp_path)) as store:
            forget_sessions(store, [1], now=0.0)
        turn = await conversation.turn("sure?")
        assert turn.text == "Yes."

    asyncio.run(talk())
    conversation.close()
    assert list(read_file(store_of(tmp_path))) == []
    assert b"marmalade" not in store_of(tmp_path).read_bytes()


def test_ids_sort_as_conversations_began() -> None:
    refs = [new_ref(lambda at=at: 1_790_000_000.0 + at) for at in range(50)]
    assert sorted(refs) == refs
    assert len({ref.native_id for ref in refs}) == 50


def test_a_process_that_is_killed_leaves_a_whole_record(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tests.scripted_model import ScriptedModel, call
        from tests.runner.scripted import conversation_at, say
        steps = [call("add", a=n, b=n) for n in range(500)]
        say(conversation_at(Path(sys.argv[1]), ScriptedModel(*steps)), "count")
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _messages(store_of(tmp_path)) < 8:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (session,) = read_file(store_of(tmp_path))
    assert session.message_count >= 8
    with open_store(store_of(tmp_path)) as store:
        assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def _messages(path: Path) -> int:
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM message").fetchone()[0])
    except sqlite3.Error:
        return 0


texts = st.text(max_size=40)
arguments = st.dictionaries(
    st.text(min_size=1, max_size=8), st.one_of(texts, st.integers(-9, 9), st.none()), max_size=3
)


@settings(max_examples=examples(150), deadline=None)
@given(texts, arguments, st.one_of(texts, arguments), st.sampled_from(["success", "failed", "denied", "interrupted"]))
def test_a_body_holds_what_the_message_said(said: str, given_args: dict, result: object, outcome: str) -> None:  # type: ignore[type-arg]
    messages = [
        ModelRequest(parts=[UserPromptPart(said)]),
        ModelResponse(parts=[ThinkingPart("hm", signature="s"), TextPart("x"), ToolCallPart("t", given_args, "c1")]),
        ModelRequest(parts=[ToolReturnPart("t", result, "c1", outcome=outcome)]),  # type: ignore[arg-type]
    ]
    bodies = [redacted(body_of(message), Redactor(b"k" * 32, ["never to be met"])) for message in messages]
    asked, answered, returned = [body["parts"] for body in bodies]
    assert [part["part_kind"] for part in answered] == ["thinking", "text", "tool-call"]
    assert "signature" not in answered[0]
    if "[redacted:" not in str(bodies):
        assert asked[0]["content"] == said
        assert answered[2]["args"] == given_args
        assert (returned[0]["content"], returned[0]["outcome"]) == (result, outcome)


def test_a_damaged_message_is_counted_and_shown_and_the_rest_is_read(tmp_path: Path) -> None:
    say(conversation_at(tmp_path, ScriptedModel("One.", "Two.")), "a", "b")
    with open_store(store_of(tmp_path)) as store:
        store.connection.execute("UPDATE message SET body = '{\"parts\": [' WHERE position = 1")
    (session,) = read_file(store_of(tmp_path))
    (unreadable,) = session.unreadable
    assert unreadable.place == "message 1"
    assert [message.text for message in session.messages] == ["a", "b", "Two."]
