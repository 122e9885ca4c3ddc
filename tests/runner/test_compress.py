"""Compression: a child session goes on with a summary, the last messages, and what was known before."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from seasoned.history.formats import read_file
from seasoned.runner.compress import OPENS, LearnedFact, learned_facts, tail_start, transcript, with_known
from seasoned.runner.conversation import TurnLimits
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.stream_events import ContextCompressed, Event
from seasoned.session import SessionRef
from seasoned.store import open_store
from seasoned.testing import Answer, ScriptedModel, call, serve_script
from tests.cli.run import answer
from tests.conftest import examples
from tests.runner.scripted import check_calls_are_answered, conversation_at, folders, say

LIMITS = TurnLimits(context_tokens=10_000)
WORK = [
    "python3 --version",
    "python3 --version",
    "cat notes.txt",
    "cat notes.txt",
    "python3 run.py",
    "python3 run.py --all",
]


def work(tokens: int = 500) -> list[Answer]:
    """Calls that teach something: what works, where things are, and a mistake with its repair."""
    return [
        Answer(calls=(call("terminal", command=command),), input_tokens=tokens, output_tokens=10) for command in WORK
    ]


def prepare(path: Path) -> None:
    _, folder = folders(path)
    (folder / "notes.txt").write_text("The port is 5433.\n")
    needs = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--all', action='store_true', required=True)\n"
    )
    (folder / "run.py").write_text(f"{needs}p.parse_args()\nprint('ran')\n")


def test_a_full_context_is_continued_in_a_child_with_summary_and_tail(tmp_path: Path) -> None:
    prepare(tmp_path)
    events: list[Event] = []
    full = Answer(calls=(call("terminal", command="echo almost full"),), input_tokens=8_500, output_tokens=10)
    steps = [
        *work(),
        Answer("All ran.", input_tokens=900),
        full,
        "## What the user wants\nA port.",
        Answer("5433.", input_tokens=700),
    ]
    with serve_script(*steps) as server:
        conversation = conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url)), limits=LIMITS)
        first = conversation.ref
        turns = say(conversation, "run it all", "which port?", on_event=events.append)
    assert [turn.text for turn in turns] == ["All ran.", "5433."]
    (compressed,) = [event for event in events if isinstance(event, ContextCompressed)]
    assert (compressed.parent, compressed.child) == (first, conversation.ref)
    opening = conversation.history[0].parts[0].content  # type: ignore[union-attr]
    assert str(opening).startswith(OPENS)
    assert "A port." in str(opening)
    check_calls_are_answered(conversation.history)
    sent = server.heard[-1].json["messages"]
    assert sent[0]["role"] == "system"
    assert sent[1]["content"] == opening
    assert sent[-1]["content"].startswith('{"output":"almost full')

    parent, child = read_file(folders(tmp_path)[0] / "seasoned.db")
    assert (parent.ref, parent.end_reason) == (first, "compression")
    assert (child.ref, child.parent, child.relation) == (conversation.ref, first, "compression")
    assert child.title == "run it all"
    assert child.messages[0].summary
    assert child.compactions == (0,)


def test_the_check_of_compressions_sees_it(tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="the check needs numpy: pip install 'seasoned[insight]'")
    prepare(tmp_path)
    full = Answer("Done.", input_tokens=9_000, output_tokens=10)
    steps = [*work(), full, "Short.", *work(), Answer("Yes.", input_tokens=700)]
    with serve_script(*steps) as server:
        conversation = conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url)), limits=LIMITS)
        say(conversation, "run it all", "once more")
    found = answer("compress-check", folders(tmp_path)[0] / "seasoned.db")
    assert found["has_compression"] is True


def test_what_the_summary_lost_of_what_was_known_is_kept_beside_it(tmp_path: Path) -> None:
    prepare(tmp_path)
    full = Answer("Done. " + "It took a while. " * 40, input_tokens=9_000, output_tokens=10)
    steps = [*work(), full, "Nothing much happened.", Answer("Yes.", input_tokens=700)]
    with serve_script(*steps) as server:
        conversation = conversation_at(
            tmp_path, open_model(ModelChoice("m", server.base_url)), limits=TurnLimits(context_tokens=10_000, tail=0.01)
        )
        say(conversation, "run it all", "sure?")
    opening = str(conversation.history[0].parts[0].content)  # type: ignore[union-attr]
    assert "Nothing much happened." in opening
    for known in ("python3", "notes.txt", "`python3 run.py` failed; `python3 run.py --all` worked"):
        assert known in opening
    asked = server.heard[7].json["messages"]
    assert "`python3 run.py` failed" in asked[1]["content"]
    assert "run it all" in asked[1]["content"]


def test_copies_count_once(tmp_path: Path) -> None:
    prepare(tmp_path)
    full = Answer("Done.", input_tokens=9_000, output_tokens=10)
    steps = [*work(), full, Answer("Short.", input_tokens=2_000, output_tokens=9), Answer("Yes.", input_tokens=700)]
    with serve_script(*steps) as server:
        conversation = conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url)), limits=LIMITS)
        say(conversation, "run it all", "sure?")
    with open_store(folders(tmp_path)[0] / "seasoned.db") as store:
        parent, child = store.rows("session.tracks", {"agent": "seasoned", "project": None})
    assert (parent["calls"], parent["failed"]) == (6, 1)
    assert (child["calls"], child["copies"] > 0, child["root_id"]) == (0, True, parent["id"])
    assert (parent["input_tokens"], child["input_tokens"]) == (6 * 500 + 9_000, 700)


def test_a_model_that_cannot_summarise_does_not_end_the_conversation(tmp_path: Path) -> None:
    full = Answer("Done.", input_tokens=9_000, output_tokens=10)
    with serve_script(full, RuntimeError("no summary today"), Answer("Going on.", input_tokens=300)) as server:
        conversation = conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url)), limits=LIMITS)
        _, turn = say(conversation, "my wish is marmalade", "go on")
    assert turn.text == "Going on."
    assert "my wish is marmalade" in str(conversation.history[0])


def test_the_limit_on_what_the_model_writes_holds_for_the_turn_and_not_for_each_part_of_it(tmp_path: Path) -> None:
    full = Answer(calls=(call("terminal", command="true"),), input_tokens=9_000, output_tokens=50)
    limits = TurnLimits(context_tokens=10_000, output_tokens=80)
    with serve_script(full, "A summary.", Answer("Done.", input_tokens=300, output_tokens=50)) as server:
        conversation = conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url)), limits=limits)
        (turn,) = say(conversation, "run it")
    assert (turn.stopped, len(server.heard)) == ("tokens", 3)


def test_what_cannot_be_made_smaller_is_not_compressed_for_ever(tmp_path: Path) -> None:
    _, folder = folders(tmp_path)
    (folder / "long.txt").write_text("words and more words\n" * 1500)
    events: list[Event] = []
    steps = [call("read_file", path="long.txt", limit=1500), "A summary.", "Read.", "Short.", "Still here."]
    conversation = conversation_at(tmp_path, ScriptedModel(*steps), limits=TurnLimits(context_tokens=4_000))
    first, *_ = say(conversation, "read it", on_event=events.append)
    assert first.stopped is None
    assert len([event for event in events if isinstance(event, ContextCompressed)]) <= 2


def test_a_conversation_whose_window_nobody_knows_is_never_compressed(tmp_path: Path) -> None:
    events: list[Event] = []
    with serve_script(Answer("One.", input_tokens=900_000), "Two.") as server:
        conversation = conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url)))
        say(conversation, "a", "b", on_event=events.append)
    assert not [event for event in events if isinstance(event, ContextCompressed)]


@st.composite
def histories(draw: st.DrawFn) -> list[ModelMessage]:
    history: list[ModelMessage] = []
    for turn in range(draw(st.integers(1, 5))):
        history.append(ModelRequest(parts=[UserPromptPart(draw(st.text(max_size=200)))]))
        for step in range(draw(st.integers(0, 4))):
            ids = [f"c{turn}.{step}.{number}" for number in range(draw(st.integers(1, 3)))]
            history.append(
                ModelResponse(parts=[ToolCallPart("t", {"a": "x" * draw(st.integers(0, 99))}, i) for i in ids])
            )
            history.append(ModelRequest(parts=[ToolReturnPart("t", "y" * draw(st.integers(0, 400)), i) for i in ids]))
        history.append(ModelResponse(parts=[TextPart(draw(st.text(max_size=80)))]))
    return history[: draw(st.integers(1, len(history)))]


@settings(max_examples=examples(200), deadline=None)
@given(histories(), st.integers(0, 2000))
def test_the_tail_never_begins_between_a_call_and_its_result(history: list[ModelMessage], budget: int) -> None:
    if isinstance(history[-1], ModelResponse) and any(isinstance(p, ToolCallPart) for p in history[-1].parts):
        history = history[:-1] or [ModelRequest(parts=[UserPromptPart("x")])]
    start = tail_start(history, budget)
    assert 0 <= start < len(history)
    called = {p.tool_call_id for m in history[start:] for p in m.parts if isinstance(p, ToolCallPart)}
    answered = {p.tool_call_id for m in history[start:] for p in m.parts if isinstance(p, ToolReturnPart)}
    assert answered <= called
    assert called <= answered


@given(histories(), st.integers(10, 500))
@settings(max_examples=examples(100), deadline=None)
def test_a_transcript_keeps_to_its_room_and_says_what_it_left_out(history: list[ModelMessage], room: int) -> None:
    text, whole = transcript(history, room), transcript(history, 10**9)
    assert "lines left out]" not in whole
    assert text == whole or "lines left out]" in text


def test_a_summary_that_kept_everything_is_left_as_it_is() -> None:
    known = [LearnedFact("command: make test", ("make test",))]
    assert with_known("Run make test.", known) == "Run make test."
    assert with_known("Run it.", known).endswith("- command: make test")


def test_of_an_empty_history_nothing_is_known() -> None:
    assert learned_facts([], SessionRef("seasoned", "x")) == []
