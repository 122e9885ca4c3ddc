"""The reviewer of a conversation: when it begins, what it sends, and that nobody has to wait for it."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from seasoned.review.background import Reviewer
from seasoned.review.due import ReviewSettings
from seasoned.review.ledger import Review
from seasoned.runner.conversation import Conversation, TurnLimits
from seasoned.runner.model import ModelChoice, open_model
from seasoned.runner.runtime import Runtime
from seasoned.runner.stream_events import TextEvent, Turn
from seasoned.testing import Answer, ScriptedModel, call, serve_script
from tests.review.scripted import (
    conversation_of,
    ledger_of,
    notes_of,
    reviewer_of,
    runtime_of,
)

WARM: tuple[ModelMessage, ...] = (
    ModelRequest(parts=[UserPromptPart("[seasoned:warm v1 builds@1 abc]\nAn example.\n[seasoned:end]")]),
    ModelResponse(parts=[TextPart("Understood.")]),
)
LONG = 20.0


def turns(conversation: Conversation, reviewer: Reviewer, *prompts: str) -> list[bool]:
    """Take turns, each followed by the reviewer, as a terminal does."""
    begun = []
    for prompt in prompts:
        turn = asyncio.run(conversation.turn(prompt))
        begun.append(reviewer.after_turn(conversation, turn))
    return begun


def test_a_review_begins_when_it_is_due_and_says_one_line(tmp_path: Path) -> None:
    told: list[Review] = []
    keep = call("memory", action="add", text="Mira counts to three.")
    model = ScriptedModel("One.", "Two.", "Three.", keep, "Kept.", "Four.")
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=3, skill_calls=0), on_review=told.append)
    assert turns(conversation, reviewer, "a", "b") == [False, False]
    assert turns(conversation, reviewer, "c") == [True]
    assert reviewer.wait(LONG)
    assert reviewer.take_lines() == ["Kept: memory +1"] and reviewer.take_lines() == []
    (review,) = ledger_of(tmp_path / "home")
    assert told == [review] and (review.topic, review.state, review.form) == ("memory", "kept", "fork")
    assert turns(conversation, reviewer, "d") == [False]
    reviewer.close()


def test_calls_of_tools_make_a_review_of_skills_due(tmp_path: Path) -> None:
    model = ScriptedModel([call("skills_list"), call("skills_list")], call("skills_list"), "Done.", "Nothing to save.")
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=10, skill_calls=3))
    assert turns(conversation, reviewer, "Which skills?") == [True]
    assert reviewer.wait(LONG)
    assert [review.topic for review in ledger_of(tmp_path / "home")] == ["skills"]
    assert reviewer.take_lines() == [], "where nothing was kept there is nothing to say"


def test_the_count_goes_on_when_a_conversation_is_taken_up_again(tmp_path: Path) -> None:
    model = ScriptedModel("One.", "Two.", "Three.", "Nothing to save.", "Four.")
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    settings = ReviewSettings(memory_turns=3, skill_calls=0)
    first = reviewer_of(conversation, settings)
    assert turns(conversation, first, "a", "b") == [False, False]
    first.close()
    second = reviewer_of(conversation, settings)
    assert turns(conversation, second, "c") == [True]
    assert second.wait(LONG)
    second.close()
    third = reviewer_of(conversation, settings)
    assert turns(conversation, third, "d") == [False]
    third.close()


@pytest.mark.parametrize("ending", [{"stopped": "interrupted", "text": "half"}, {"stopped": "error"}, {"text": " "}])
def test_a_turn_without_a_final_answer_begins_no_review_but_counts(tmp_path: Path, ending: dict[str, Any]) -> None:
    model = ScriptedModel("One.", "Nothing to save.")
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=2, skill_calls=0))
    whole = asyncio.run(conversation.turn("a"))
    assert isinstance(whole, Turn)
    broken = replace(whole, **{"text": "", **ending})
    assert [reviewer.after_turn(conversation, broken) for _ in range(3)] == [False, False, False]
    assert reviewer.after_turn(conversation, whole)
    assert reviewer.wait(LONG)
    reviewer.close()


def test_zero_switches_reviews_off(tmp_path: Path) -> None:
    model = ScriptedModel(*["Fine."] * 30)
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=0, skill_calls=0))
    assert turns(conversation, reviewer, *["x"] * 30) == [False] * 30
    reviewer.close()
    assert not (tmp_path / "home").exists()


def test_a_fork_sends_byte_for_byte_what_the_conversation_sent(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serve_script(
        [call("skills_list"), call("terminal", command="echo 'grüße'")],
        "All is well. ✓",
        call("terminal", command="echo no"),
        call("memory", action="add", text="Mira greets in German."),
        "Kept.",
    ) as server:

        def opened() -> Model:
            return open_model(ModelChoice("scripted", server.base_url))

        runtime = runtime_of(opened(), home, tmp_path / "work", prefix=WARM)
        conversation = conversation_of(runtime, is_recorded=True)
        reviewer = reviewer_of(conversation, open_model=opened)
        assert turns(conversation, reviewer, "Greet me.") == [True]
        before = ModelMessagesTypeAdapter.dump_json(conversation.history)
        assert reviewer.wait(LONG)
    assert reviewer.take_lines() == ["Kept: memory +1"]
    assert ModelMessagesTypeAdapter.dump_json(conversation.history) == before
    parent, forks = server.bodies[1], server.bodies[2:]
    assert len(forks) == 3
    sent = messages_in(parent)
    assert b"[seasoned:warm" in sent and "grüße".encode() in sent
    for fork in forks:
        assert messages_in(fork).startswith(sent), "system prompt, warm block and history are the same bytes"
        assert tools_in(fork) == tools_in(parent)
    assert next(tool["function"]["name"] for tool in json.loads(parent)["tools"]) == "terminal"
    own = [json.loads(fork)["messages"][len(json.loads(parent)["messages"]) :] for fork in forks]
    assert [[message["role"] for message in one] for one in own] == [
        ["assistant", "user"],
        ["assistant", "user", "assistant", "tool"],
        ["assistant", "user", "assistant", "tool", "assistant", "tool"],
    ]
    assert own[0][1]["content"].startswith("# Review: memory and skills")
    assert "was not run" in own[1][3]["content"]
    conversation.close()


def messages_in(body: bytes) -> bytes:
    """The bytes of the messages of a request, without the bracket that ends them."""
    return _value(body, "messages")[:-1]


def tools_in(body: bytes) -> bytes:
    return _value(body, "tools")


def _value(body: bytes, name: str) -> bytes:
    text = body.decode()
    at = text.index(f'"{name}":') + len(name) + 3
    _, end = json.JSONDecoder().raw_decode(text[at:].lstrip())
    return text[at:].lstrip()[:end].encode()


def test_a_slow_review_delays_no_word_of_the_next_turn(tmp_path: Path) -> None:
    home = tmp_path / "home"
    happened: list[str] = []
    asked, may_answer = threading.Event(), threading.Event()

    def slow(messages: list[Any]) -> str:
        happened.append("review asks")
        asked.set()
        assert may_answer.wait(LONG)
        happened.append("review is answered")
        return "Nothing to save."

    with serve_script("First answer.", slow, "Second answer, in several words.") as server:

        def opened() -> Model:
            return open_model(ModelChoice("scripted", server.base_url))

        conversation = conversation_of(runtime_of(opened(), home, tmp_path / "work"))
        reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=1, skill_calls=0), open_model=opened)

        def hear(event: object) -> None:
            if isinstance(event, TextEvent) and happened[-1] != "a word":
                happened.append("a word")

        async def go() -> None:
            first = await conversation.turn("One.")
            assert reviewer.after_turn(conversation, first)
            assert await asyncio.to_thread(asked.wait, LONG)
            second = await conversation.turn("Two.", on_event=hear)
            assert second.text == "Second answer, in several words."
            happened.append("the turn ends")
            assert not reviewer.after_turn(conversation, second), "one review at a time"

        asyncio.run(go())
        may_answer.set()
        assert reviewer.wait(LONG)
    assert happened == ["review asks", "a word", "the turn ends", "review is answered"]
    assert [review.state for review in ledger_of(home)] == ["nothing"]


def test_a_review_that_raises_does_not_disturb_the_turn_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    model = ScriptedModel("One.", RuntimeError("broken"), "Two.", RuntimeError("broken again"), "Three.")
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=1, skill_calls=0))
    with caplog.at_level(logging.WARNING, "seasoned.review"):
        for prompt in ("a", "b"):
            assert turns(conversation, reviewer, prompt) == [True]
            assert reviewer.wait(LONG)
    assert asyncio.run(conversation.turn("c")).text == "Three."
    assert reviewer.take_lines() == ["The review failed: RuntimeError: broken"]
    assert len(caplog.records) == 1
    assert [review.state for review in ledger_of(tmp_path / "home")] == ["failed", "failed"]
    assert capfd.readouterr() == ("", ""), "a review is silent"


def test_what_cannot_even_begin_is_told_once_too(tmp_path: Path) -> None:
    model = ScriptedModel("One.", "Two.")
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))

    def no_model() -> Model:
        raise OSError("no such model")

    reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=1, skill_calls=0), open_model=no_model)
    for prompt in ("a", "b"):
        assert turns(conversation, reviewer, prompt) == [True]
        assert reviewer.wait(LONG)
    assert reviewer.take_lines() == ["The review failed: OSError: no such model"]


def test_whoever_is_told_may_fail_without_harm(tmp_path: Path) -> None:
    def fail(review: Review) -> None:
        raise KeyError(review.ref)

    model = ScriptedModel("One.", call("memory", action="add", text="A fact."), "Kept.")
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    reviewer = reviewer_of(conversation, ReviewSettings(memory_turns=1, skill_calls=0), on_review=fail)
    assert turns(conversation, reviewer, "a") == [True]
    assert reviewer.wait(LONG)
    assert reviewer.take_lines() == ["Kept: memory +1"] and notes_of(tmp_path / "home") == ["A fact."]


def test_another_model_is_given_a_digest_and_only_the_tools_that_work(tmp_path: Path) -> None:
    home = tmp_path / "home"
    model = ScriptedModel(call("terminal", command="echo hello"), "It says hello.")
    other = ScriptedModel(call("memory", action="add", text="The shell works."), "Kept.", model_name="cheaper")
    conversation = conversation_of(runtime_of(model, home, tmp_path / "work", prefix=WARM))
    reviewer = reviewer_of(conversation, open_other=lambda: other)
    assert turns(conversation, reviewer, "Say hello; my password is hunter2secret!") == [True]
    assert reviewer.wait(LONG)
    (review,) = ledger_of(home)
    assert (review.form, review.model, review.state) == ("digest", "cheaper", "kept")
    (first,) = other.requests[0]
    asked = str(first.parts[-1].content)  # type: ignore[union-attr]
    assert "| It says hello." in asked and "# Review: memory and skills" in asked
    assert "seasoned:warm" not in asked and "hunter2secret" not in asked
    names = [tool.name for tool in other.infos[0].function_tools]
    assert names == ["memory", "skills_list", "skill_view", "skill_manage"]
    assert len(model.requests) == 2


def test_a_history_that_fills_the_window_is_digested(tmp_path: Path) -> None:
    model = ScriptedModel("x " * 2_000, "Nothing to save.")
    runtime: Runtime = runtime_of(model, tmp_path / "home", tmp_path / "work")
    conversation = Conversation(runtime, limits=TurnLimits(context_tokens=2_000))
    reviewer = reviewer_of(conversation)
    assert turns(conversation, reviewer, "Write much.") == [True]
    assert reviewer.wait(LONG)
    assert [review.form for review in ledger_of(tmp_path / "home")] == ["digest"]


def test_closing_interrupts_a_review_after_a_short_grace(tmp_path: Path) -> None:
    model = ScriptedModel("One.", Answer("Never.", wait_seconds=600))
    conversation = conversation_of(runtime_of(model, tmp_path / "home", tmp_path / "work"))
    reviewer = reviewer_of(conversation)
    assert turns(conversation, reviewer, "a") == [True]
    reviewer.close(grace_seconds=0.3)
    assert reviewer.wait(LONG)
    assert [review.state for review in ledger_of(tmp_path / "home")] == ["interrupted"]
    assert reviewer.take_lines() == []


def test_a_process_ends_although_a_review_does_not(tmp_path: Path) -> None:
    """Its model hangs in a call that nothing can interrupt."""
    code = textwrap.dedent(
        f"""
        import asyncio, threading
        from pathlib import Path
        from seasoned.testing import ScriptedModel
        from tests.review.scripted import conversation_of, reviewer_of, runtime_of
        hangs = threading.Event()
        def hang(messages):
            hangs.set()
            threading.Event().wait()
        home = Path({str(tmp_path / "home")!r})
        conversation = conversation_of(runtime_of(ScriptedModel("One.", hang), home, home / "work"))
        reviewer = reviewer_of(conversation)
        assert reviewer.after_turn(conversation, asyncio.run(conversation.turn("a")))
        assert hangs.wait(20)
        reviewer.close(grace_seconds=0.1)
        print("closed")
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "")
    assert [review.state for review in ledger_of(tmp_path / "home")] == ["lost"]
