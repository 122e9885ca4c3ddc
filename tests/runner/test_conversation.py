"""A conversation: history in and out, limits, interruption, tools that fail, and what a turn took."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from seasoned.runner.conversation import TurnLimits
from seasoned.runner.model import ModelChoice, open_model
from tests.runner.scripted import conversation_at, say
from tests.scripted_model import Answer, ScriptedModel, call, serve_script


def test_what_was_said_before_is_sent_again_with_the_next_turn(tmp_path: Path) -> None:
    model = ScriptedModel("Hello.", "Your name is Ada.")
    conversation = conversation_at(tmp_path, model)
    first, second = say(conversation, "I am Ada.", "Who am I?")
    assert (first.text, second.text) == ("Hello.", "Your name is Ada.")
    said = [part.content for message in model.requests[1] for part in message.parts]  # type: ignore[union-attr]
    assert said == ["I am Ada.", "Hello.", "Who am I?"]
    assert [message.kind for message in conversation.history] == ["request", "response"] * 2


def test_a_tool_that_raises_does_not_end_the_turn(tmp_path: Path) -> None:
    conversation = conversation_at(tmp_path, ScriptedModel(call("divide", a=1, b=0), "It cannot be done."))
    (turn,) = say(conversation, "divide")
    assert (turn.text, turn.requests, turn.stopped) == ("It cannot be done.", 2, None)
    (result,) = [p for one in conversation.history for p in one.parts if isinstance(p, ToolReturnPart)]
    assert "ZeroDivisionError" in result.model_response_str()


def test_wrong_arguments_are_told_to_the_model(tmp_path: Path) -> None:
    (turn,) = say(conversation_at(tmp_path, ScriptedModel(call("add", a="x"), call("add", a=1, b=2), "3")), "add")
    assert (turn.text, turn.requests) == ("3", 3)


@pytest.mark.parametrize(
    ("limits", "steps", "stopped"),
    [
        (TurnLimits(steps=3), [call("add", a=1, b=2)] * 9, "steps"),
        (TurnLimits(turn_seconds=0.5), [call("wait", seconds=60)], "time"),
        (TurnLimits(turn_seconds=0.5), [Answer("late", wait_seconds=30)], "time"),
        (TurnLimits(output_tokens=40), ["word " * 200], "tokens"),
        (TurnLimits(), [ConnectionError("the line is dead")], "error"),
    ],
)
def test_a_turn_that_goes_too_far_is_ended_with_a_reason(
    tmp_path: Path, limits: TurnLimits, steps: list[object], stopped: str
) -> None:
    begun = time.monotonic()
    (turn,) = say(conversation_at(tmp_path, ScriptedModel(*steps), limits=limits), "go")  # type: ignore[arg-type]
    assert turn.stopped == stopped
    assert (turn.reason or "").endswith((".", "limit.", "dead"))
    assert time.monotonic() - begun < 20


def test_an_interrupted_turn_keeps_what_was_done(tmp_path: Path) -> None:
    conversation = conversation_at(tmp_path, ScriptedModel(call("add", a=1, b=2), call("wait", seconds=60), "never"))

    async def talk() -> None:
        turn = asyncio.create_task(conversation.turn("work"))
        while len(conversation.runtime.model.requests) < 2:  # type: ignore[attr-defined]
            await asyncio.sleep(0.02)
        conversation.stop()
        assert (await turn).stopped == "interrupted"

    asyncio.run(talk())
    assert conversation.close() is None
    results = [part for one in conversation.history for part in one.parts if isinstance(part, ToolReturnPart)]
    assert results[0].content == 3


def test_tokens_are_those_that_the_provider_counted_and_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    steps = [
        Answer(calls=(call("add", a=1, b=2),), input_tokens=1000, output_tokens=20),
        Answer("done", input_tokens=1100, output_tokens=5),
    ]
    with serve_script(*steps) as server:
        model = open_model(ModelChoice("some-model", server.base_url))
        (turn,) = say(conversation_at(tmp_path, model), "go")
    assert (turn.usage.input, turn.usage.output, turn.cost_usd, turn.requests) == (2100, 25, None, 2)


def test_a_price_that_is_known_becomes_the_cost_of_the_turn(tmp_path: Path) -> None:
    with serve_script(Answer("Hi.", input_tokens=1_000_000, output_tokens=0)) as server:
        model = OpenAIChatModel("gpt-4o-mini", provider=OpenAIProvider(base_url=server.base_url, api_key="k"))
        (turn,) = say(conversation_at(tmp_path, model), "hi")
    assert turn.cost_usd == pytest.approx(0.15, rel=0.5)


BLOCK = ModelMessagesTypeAdapter.validate_python(
    [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "[seasoned:warm v1 a@1 0] Show me."}]},
        {
            "kind": "response",
            "parts": [{"part_kind": "tool-call", "tool_name": "add", "args": "{}", "tool_call_id": "warm_1"}],
        },
        {
            "kind": "request",
            "parts": [
                {"part_kind": "tool-return", "tool_name": "add", "content": "ok", "tool_call_id": "warm_1"},
                {"part_kind": "user-prompt", "content": "[seasoned:end]"},
            ],
        },
        {"kind": "response", "parts": [{"part_kind": "text", "content": "I see."}]},
    ]
)


def test_the_prefix_is_sent_with_every_request_in_the_same_bytes_and_is_no_part_of_the_history(tmp_path: Path) -> None:
    with serve_script(call("add", a=1, b=2), "one", "two") as server:
        model = open_model(ModelChoice("some-model", server.base_url))
        conversation = conversation_at(tmp_path, model, prefix=tuple(BLOCK))
        say(conversation, "go", "again")
        first, *others = [body.partition(b'"content":"go"')[0] for body in server.bodies]
    assert b"[seasoned:warm" in first
    assert len(others) == 2
    assert all(other == first for other in others)
    assert "warm_1" not in str(conversation.history)


def test_a_model_that_is_asked_in_vain_is_told_in_one_sentence(tmp_path: Path) -> None:
    with serve_script(RuntimeError("out of order")) as server:
        (turn,) = say(conversation_at(tmp_path, open_model(ModelChoice("m", server.base_url))), "hello?")
    assert turn.stopped == "error"
    assert "out of order" in (turn.reason or "")
