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

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from seasoned.errors import NotFound
from seasoned.history.formats import read_file, recognise
from seasoned.outcome.judge import judge_session
from seasoned.redact import Redactor
from seasoned.runner.conversation import Conversation
from seasoned.runner.record import (
    BackgroundRecorder,
    ConversationInfo,
    body_of,
    load_recorded,
    messages_of,
    new_ref,
    redacted,
)
from seasoned.session import SessionRef
from seasoned.store import open_store
from seasoned.store.forget import forget_sessions
from seasoned.testing import Answer, ScriptedModel, call, serve_script
from tests.conftest import examples
from tests.runner.scripted import SECRECY, check_calls_are_answered, conversation_at, folders, runtime_at, say

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
STEPS = [call("terminal", command="exit 3")], [call("terminal", command="echo hi")], "It said hi."


def store_of(path: Path) -> Path:
    return folders(path)[0] / "seasoned.db"


def test_a_recorded_conversation_is_read_back_as_a_session_and_judged(tmp_path: Path) -> None:
    conversation = conversation_at(tmp_path, ScriptedModel(*STEPS, "Bye."))
    say(conversation, "say hi", "thanks")
    assert recognise(store_of(tmp_path)) == "seasoned_db"
    (session,) = read_file(store_of(tmp_path))
    assert session.ref == conversation.ref
    assert (session.format, session.title, session.cwd) == ("seasoned", "say hi", str(folders(tmp_path)[1]))
    assert [message.role for message in session.messages] == [
        *["user", "assistant", "tool", "assistant", "tool", "assistant"],
        *["user", "assistant"],
    ]
    assert [(found.tool, verdict.verdict, verdict.evidence) for found, verdict in judge_session(session)] == [
        ("terminal", "failed", "exit_code"),
        ("terminal", "ok", "exit_code"),
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
    home, folder = folders(tmp_path)
    (folder / "env.txt").write_text(f"GITHUB_TOKEN={TOKEN}\n")
    model = ScriptedModel(
        call("terminal", command=f"echo {TOKEN}"), call("read_file", path="env.txt"), f"It is {TOKEN}."
    )
    events: list[object] = []
    say(conversation_at(tmp_path, model), f"My token is {TOKEN}", on_event=events.append)
    assert TOKEN in str(events), "the conversation itself must see it"
    for file in home.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
    (session,) = read_file(store_of(tmp_path))
    assert str(session).count("[redacted:") >= 5


def test_a_message_is_in_the_store_while_the_turn_is_still_under_way(tmp_path: Path) -> None:
    _, folder = folders(tmp_path)
    conversation = conversation_at(
        tmp_path,
        ScriptedModel(
            call("terminal", command="echo 1"),
            call("terminal", command="while [ ! -e go ]; do sleep 0.05; done"),
            "done",
        ),
    )

    async def talk() -> int:
        turn = asyncio.create_task(conversation.turn("go"))
        deadline = time.monotonic() + 60
        seen = 0
        while seen < 3 and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            if store_of(tmp_path).exists():
                with open_store(store_of(tmp_path)) as store:
                    seen = store.connection.execute("SELECT count(*) FROM message").fetchone()[0]
        (folder / "go").touch()
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


def test_a_conversation_is_taken_up_again_where_it_ended(tmp_path: Path) -> None:
    conversation = conversation_at(tmp_path, ScriptedModel(*STEPS))
    say(conversation, "say hi")
    with open_store(store_of(tmp_path)) as store:
        recorded = load_recorded(store, conversation.ref.native_id[:13])
    assert recorded.about.ref == conversation.ref
    assert recorded.about.instructions == conversation.runtime.instructions
    model = ScriptedModel(call("terminal", command="true"), "Again.")
    again = Conversation(
        runtime_at(tmp_path, model),
        ref=recorded.about.ref,
        history=messages_of(recorded.bodies),
        recorder=BackgroundRecorder(store_of(tmp_path), SECRECY, recorded.about, recorded=recorded),
    )
    say(again, "once more")
    check_calls_are_answered(model.requests[0])
    assert [m.kind for m in model.requests[0]] == ["request", "response"] * 3 + ["request"]
    (session,) = read_file(store_of(tmp_path))
    assert [m.text for m in session.messages if m.role == "user"] == ["say hi", "once more"]
    assert [found.index for found in session.calls()] == [0, 1, 2]
    with open_store(store_of(tmp_path)) as store:
        (row,) = store.rows("session.tracks", {"agent": "seasoned", "project": None})
        assert (row["calls"], row["messages"], row["title"]) == (3, session.message_count, "say hi")


def test_only_what_seasoned_recorded_can_be_taken_up(tmp_path: Path) -> None:
    with open_store(store_of(tmp_path)) as store:
        store.connection.execute("INSERT INTO session (agent, native_id) VALUES ('codex', 'abc')")
        with pytest.raises(NotFound, match="not recorded by Seasoned"):
            load_recorded(store, "abc")


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
        from seasoned.testing import ScriptedModel, call
        from tests.runner.scripted import conversation_at, say
        steps = [call("terminal", command=f"echo {n}") for n in range(500)]
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
        recorded = load_recorded(store, session.ref.native_id)
    again = Conversation(
        runtime_at(tmp_path, ScriptedModel("Here I am.")),
        ref=recorded.about.ref,
        history=messages_of(recorded.bodies),
        recorder=BackgroundRecorder(store_of(tmp_path), SECRECY, recorded.about, recorded=recorded),
    )
    (turn,) = say(again, "still there?")
    assert turn.text == "Here I am."
    check_calls_are_answered(again.history[:-2])


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
def test_a_body_comes_back_as_the_message_that_it_was(
    said: str, given_args: dict, result: object, outcome: str
) -> None:  # type: ignore[type-arg]
    messages = [
        ModelRequest(parts=[UserPromptPart(said)]),
        ModelResponse(parts=[ThinkingPart("hm", signature="s"), TextPart("x"), ToolCallPart("t", given_args, "c1")]),
        ModelRequest(parts=[ToolReturnPart("t", result, "c1", outcome=outcome)]),  # type: ignore[arg-type]
    ]
    bodies = [redacted(body_of(message), Redactor(b"k" * 32, ["never to be met"])) for message in messages]
    again = messages_of(bodies)
    assert [part.part_kind for part in again[1].parts] == ["text", "tool-call"]
    wanted = ModelMessagesTypeAdapter.dump_python(messages, mode="json")
    found = ModelMessagesTypeAdapter.dump_python(again, mode="json")
    if "[redacted:" not in str(bodies):
        assert found[0]["parts"] == wanted[0]["parts"]
        assert found[1]["parts"] == wanted[1]["parts"][1:]
        assert found[2]["parts"] == wanted[2]["parts"]


def test_a_damaged_message_is_counted_and_shown_and_the_rest_is_read(tmp_path: Path) -> None:
    say(conversation_at(tmp_path, ScriptedModel("One.", "Two.")), "a", "b")
    with open_store(store_of(tmp_path)) as store:
        store.connection.execute("UPDATE message SET body = '{\"parts\": [' WHERE position = 1")
    (session,) = read_file(store_of(tmp_path))
    (unreadable,) = session.unreadable
    assert unreadable.place == "message 1"
    assert [message.text for message in session.messages] == ["a", "b", "Two."]


def test_what_is_recorded_names_its_session_and_lineage() -> None:
    ref = SessionRef("seasoned", "1")
    assert ConversationInfo(ref=ref, model="m", instructions="").lineage_root == "seasoned:1"
    child = ConversationInfo(ref=SessionRef("seasoned", "2"), model="m", instructions="", parent=ref, root=ref)
    assert child.lineage_root == "seasoned:1"
