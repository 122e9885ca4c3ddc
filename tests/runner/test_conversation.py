"""A turn of a model: limits, interruption, tools that fail, and what it took."""

from __future__ import annotations

import time
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from seasoned.runner.model import ModelChoice, open_model
from tests.runner.scripted import say
from tests.scripted_model import Answer, ScriptedModel, call, serve_script


def test_a_tool_that_fails_does_not_end_the_turn() -> None:
    turn = say(ScriptedModel(call("divide", a=1, b=0), "It cannot be done."), "divide")
    assert (turn.text, len(turn.messages) // 2, turn.stopped_by) == ("It cannot be done.", 2, None)
    (result,) = [part for one in turn.messages for part in one.parts if isinstance(part, ToolReturnPart)]
    assert "ZeroDivisionError" in result.model_response_str()


def test_wrong_arguments_are_told_to_the_model() -> None:
    turn = say(ScriptedModel(call("add", a="x"), call("add", a=1, b=2), "3"), "add")
    assert (turn.text, len(turn.messages) // 2) == ("3", 3)


@pytest.mark.parametrize(
    ("limits", "steps", "stopped"),
    [
        ({"steps": 3}, [call("add", a=1, b=2)] * 9, "budget"),
        ({"seconds": 0.5}, [call("wait", seconds=60)], "time"),
        ({"seconds": 0.5}, [Answer("late", wait_seconds=30)], "time"),
        ({"output_tokens": 40}, ["word " * 200], "budget"),
        ({}, [ConnectionError("the line is dead")], "failed"),
    ],
)
def test_a_turn_that_goes_too_far_is_ended_with_a_reason(
    limits: dict[str, float], steps: list[Any], stopped: str
) -> None:
    begun = time.monotonic()
    turn = say(ScriptedModel(*steps), "go", **limits)
    assert turn.stopped_by == stopped
    assert turn.reason.endswith((".", "limit.", "dead"))
    assert time.monotonic() - begun < 20


def test_an_interrupted_turn_keeps_what_was_done() -> None:
    model = ScriptedModel(call("add", a=1, b=2), call("wait", seconds=60), "never")
    turn = say(model, "work", stop=lambda: len(model.requests) >= 2)
    assert turn.stopped_by == "interrupted"
    results = [part for one in turn.messages for part in one.parts if isinstance(part, ToolReturnPart)]
    assert results[0].content == 3


def test_tokens_are_those_that_the_provider_counted_and_an_unknown_price_stays_unknown() -> None:
    steps = [
        Answer(calls=(call("add", a=1, b=2),), input_tokens=1000, output_tokens=20),
        Answer("done", input_tokens=1100, output_tokens=5),
    ]
    with serve_script(*steps) as server:
        turn = say(open_model(ModelChoice("some-model", server.base_url)), "go")
    assert (turn.usage.input, turn.usage.output, turn.cost_usd, len(turn.messages) // 2) == (2100, 25, None, 2)


def test_a_price_that_is_known_becomes_the_cost_of_the_turn() -> None:
    with serve_script(Answer("Hi.", input_tokens=1_000_000, output_tokens=0)) as server:
        model = OpenAIChatModel("gpt-4o-mini", provider=OpenAIProvider(base_url=server.base_url, api_key="k"))
        turn = say(model, "hi")
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


def test_the_prefix_is_sent_with_every_request_in_the_same_bytes_and_is_no_part_of_the_messages() -> None:
    with serve_script(call("add", a=1, b=2), "one") as server:
        turn = say(open_model(ModelChoice("some-model", server.base_url)), "go", prefix=tuple(BLOCK))
        first, second = [body.partition(b'"content":"go"')[0] for body in server.bodies]
    assert b"[seasoned:warm" in first
    assert second == first
    assert "warm_1" not in str(turn.messages)


def test_a_model_that_is_asked_in_vain_is_told_in_one_sentence() -> None:
    with serve_script(RuntimeError("out of order")) as server:
        turn = say(open_model(ModelChoice("m", server.base_url)), "hello?")
    assert turn.stopped_by == "failed"
    assert "out of order" in turn.reason
