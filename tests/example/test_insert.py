"""Where a block goes, and that what the caller gave stays as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from seasoned.example.block import Block, Format
from seasoned.example.provision import carries_block, insert
from seasoned.example.render import render
from tests.each_case import each_case
from tests.example import blocks
from tests.example.providers import assert_anthropic, assert_openai, assert_pydantic_ai, assert_responses

SYSTEM = {"role": "system", "content": "Be brief."}
DEVELOPER = {"role": "developer", "content": "Use tools."}
USER = {"role": "user", "content": "Go."}


def _block(format: Format = "openai") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(render(blocks.SMALL, format).content)
    return found


def test_a_block_stands_after_the_system_messages_and_before_all_others() -> None:
    given = [SYSTEM, DEVELOPER, USER, SYSTEM]
    assert insert(given, render(blocks.SMALL)) == [SYSTEM, DEVELOPER, *_block(), USER, SYSTEM]
    assert insert([USER], render(blocks.SMALL)) == [*_block(), USER]
    assert insert([SYSTEM], render(blocks.SMALL)) == [SYSTEM, *_block()]
    assert insert([], render(blocks.SMALL)) == _block()


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic", "hermes", "pydantic-ai"])
@pytest.mark.parametrize("form", ["messages", "text"])
def test_a_list_gets_no_second_block(format: Format, form: Any) -> None:
    once = insert([], render(blocks.SMALL, format, form))
    assert carries_block(once)
    other = Block("other@1", blocks.SMALL.examples[:1])
    assert insert(once, render(other, format, form)) == once


def test_a_block_of_an_older_warm_start_counts() -> None:
    assert carries_block([SYSTEM, {"role": "user", "content": "[WARM SESSION: code]"}])
    assert carries_block([{"role": "assistant", "tool_calls": [{"id": "template_code_3"}]}])


@each_case(
    "message",
    [
        {"role": "tool", "tool_call_id": "c", "content": "[seasoned:warm v1 x@1 0]"},
        {"role": "assistant", "content": "[seasoned:warm v1 x@1 0]"},
        {"type": "function_call_output", "call_id": "c", "output": "[seasoned:warm v1 x@1 0]"},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "[seasoned:warm v1 x@1 0]"}],
        },
        {"kind": "request", "parts": [{"part_kind": "tool-return", "content": "[seasoned:warm v1 x@1 0]"}]},
        {"role": "user", "content": "What does [seasoned:warm v1 x@1 0] mean?"},
        {"role": "user", "content": None},
    ],
)
def test_a_tool_that_returns_a_mark_is_no_block(message: dict[str, Any]) -> None:
    assert not carries_block([message])


def test_a_text_becomes_a_system_message() -> None:
    rendered = render(blocks.SMALL, "text", "text")
    text = rendered.content.decode().strip()
    assert insert([SYSTEM, USER], rendered) == [SYSTEM, {"role": "system", "content": text}, USER]


def test_a_conversation_with_a_block_keeps_the_rules_of_every_provider() -> None:
    answer = {"role": "assistant", "content": "Done."}
    assert_openai(insert([SYSTEM, USER, answer], render(blocks.SMALL)))
    assert_responses(insert([{"type": "message", **USER}], render(blocks.SMALL, "responses")))
    asked = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    assert_anthropic(insert([asked, said], render(blocks.SMALL, "anthropic")))
    assert_anthropic(insert([asked, said], render(blocks.SMALL, "anthropic", "text")))


def test_a_request_of_pydantic_ai_is_divided_after_its_system_prompt() -> None:
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        SystemPromptPart,
        UserPromptPart,
    )

    history: list[ModelMessage] = [
        ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart("Go.")], instructions="Now.")
    ]
    given = json.loads(ModelMessagesTypeAdapter.dump_json(history))
    found = insert(given, render(blocks.SMALL, "pydantic-ai"))
    assert assert_pydantic_ai(json.dumps(found[1:]).encode())
    first, *block, last = ModelMessagesTypeAdapter.validate_python(found)
    assert [part.part_kind for part in first.parts] == ["system-prompt"]
    assert [part.part_kind for part in last.parts] == ["user-prompt"]
    assert isinstance(first, ModelRequest)
    assert isinstance(last, ModelRequest)
    assert (first.instructions, last.instructions) == (None, "Now.")
    assert len(block) == len(_block("pydantic-ai"))
    assert given == json.loads(ModelMessagesTypeAdapter.dump_json(history))
