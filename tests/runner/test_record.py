"""Recording: redacted before the first write, and read back as a history."""

from __future__ import annotations

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
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.record import ConversationInfo, body_of, new_ref, record_conversation, redacted
from seasoned.store import open_store
from seasoned.store.forget import forget_sessions
from tests.conftest import examples
from tests.runner.scripted import SECRECY, record, say
from tests.scripted_model import Answer, ScriptedModel, call, serve_script

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
STEPS = [call("divide", a=1, b=0)], [call("add", a=1, b=2)], "It is 3."


def store_of(path: Path) -> Path:
    return path / "seasoned.db"


def test_a_recorded_conversation_is_read_back_as_a_session_and_judged(tmp_path: Path) -> None:
    about = record(tmp_path, say(ScriptedModel(*STEPS), "say hi"))
    assert recognise(store_of(tmp_path)) == "seasoned_db"
    (session,) = read_file(store_of(tmp_path))
    assert session.ref == about.ref
    assert (session.format, session.title, session.cwd) == ("seasoned", "say hi", str(tmp_path))
    roles = ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [message.role for message in session.messages] == roles
    assert [(found.tool, verdict.verdict) for found, verdict in judge_session(session)] == [
        ("divide", "failed"),
        ("add", "ok"),
    ]


def test_the_store_and_the_reader_say_the_same_of_a_conversation(tmp_path: Path) -> None:
    with serve_script(Answer("one", input_tokens=90, output_tokens=3)) as server:
        record(tmp_path, say(open_model(ModelChoice("m", server.base_url)), "a"))
    (answered,) = read_file(store_of(tmp_path))
    record(tmp_path, say(ScriptedModel(*STEPS), "say hi"))
    (session,) = [one for one in read_file(store_of(tmp_path)) if one.ref != answered.ref]
    with open_store(store_of(tmp_path)) as store:
        rows = {row["native_id"]: row for row in store.rows("session.tracks", {"agent": "seasoned", "project": None})}
        row, other = rows[session.ref.native_id], rows[answered.ref.native_id]
        calls = store.rows("call.of_session", {"session_id": row["id"]})
    assert (row["messages"], row["calls"], row["ok"], row["failed"]) == (session.message_count, 2, 1, 1)
    assert session.usage is not None
    assert (row["input_tokens"], row["output_tokens"]) == (session.usage.input, session.usage.output)
    assert (other["input_tokens"], other["output_tokens"], other["cost_usd"]) == (90, 3, None)
    assert [stored["intent"] for stored in calls] == ["say hi", "say hi"]
    assert [stored["message"] for stored in calls] == [found.message for found in session.calls()]


def test_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    model = ScriptedModel(call("add", a=1, b=TOKEN), call("divide", a=1, b=0), f"It is {TOKEN}.")
    turn = say(model, f"My token is {TOKEN}")
    assert TOKEN in turn.text, "the conversation itself must see it"
    record(tmp_path, turn)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
    (session,) = read_file(store_of(tmp_path))
    assert str(session).count("[redacted:") >= 3


def test_a_store_that_cannot_be_written_is_told_in_one_sentence(tmp_path: Path) -> None:
    store_of(tmp_path).mkdir()
    about = ConversationInfo(ref=new_ref(), model="scripted")
    note = record_conversation(store_of(tmp_path), SECRECY, about, say(ScriptedModel("one"), "a").messages)
    assert (note or "").startswith("This conversation was not recorded: ")


def test_a_forgotten_conversation_is_gone_and_is_not_recorded_again(tmp_path: Path) -> None:
    turn = say(ScriptedModel("The word is marmalade."), "which word?")
    about = record(tmp_path, turn)
    with open_store(store_of(tmp_path)) as store:
        forget_sessions(store, [1], now=0.0)
    record_conversation(store_of(tmp_path), SECRECY, about, turn.messages)
    assert list(read_file(store_of(tmp_path))) == []
    assert b"marmalade" not in store_of(tmp_path).read_bytes()


def test_ids_sort_as_conversations_began() -> None:
    refs = [new_ref(lambda at=at: 1_790_000_000.0 + at) for at in range(50)]
    assert sorted(refs) == refs
    assert len({ref.native_id for ref in refs}) == 50


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
    record(tmp_path, say(ScriptedModel("Two."), "a"))
    with open_store(store_of(tmp_path)) as store:
        store.connection.execute("UPDATE message SET body = '{\"parts\": [' WHERE position = 1")
    (session,) = read_file(store_of(tmp_path))
    (unreadable,) = session.unreadable
    assert unreadable.place == "message 1"
    assert [message.text for message in session.messages] == ["a"]
