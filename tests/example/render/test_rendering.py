"""Every rendering of every block keeps the rules of its provider, and shows only what worked."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given

from seasoned.errors import UsageError
from seasoned.example.block import FORMATS, FORMS, Block, Format
from seasoned.example.example import Example
from seasoned.example.render import Rendered, render
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS
from tests.each_case import each_case
from tests.example import blocks
from tests.example.providers import CALL_ID, assert_anthropic, assert_openai, assert_pydantic_ai, assert_responses

CHATS: tuple[Format, ...] = ("openai", "responses", "anthropic", "hermes", "pydantic-ai")


def _ids(rendered: Rendered) -> list[str]:
    """The call ids of a rendering that keeps its provider's rules."""
    messages = json.loads(rendered.content)
    if rendered.format == "responses":
        return assert_responses(messages)
    if rendered.format == "anthropic":
        return assert_anthropic(messages)
    if rendered.format == "pydantic-ai":
        return assert_pydantic_ai(rendered.content)
    return assert_openai(messages, stored=rendered.format == "hermes")


def said(rendered: Rendered) -> str:
    """Everything that a rendering says, without the escapes of JSON."""

    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for key, part in value.items() for text in [key, *texts(part)]]
        if isinstance(value, list):
            return [text for part in value for text in texts(part)]
        return [value] if isinstance(value, str) else []

    if rendered.format == "text":
        return rendered.content.decode()
    return "\n".join(texts(json.loads(rendered.content)))


@given(block=blocks.blocks)
def test_a_rendering_keeps_the_rules_of_its_provider(block: Block) -> None:
    for format, form in product(CHATS, FORMS):
        rendered = render(block, format, form)
        ids = _ids(rendered)
        assert len(set(ids)) == len(ids)
        assert all(map(CALL_ID.match, ids))
        assert len(ids) == (len(rendered.example_ids) if form == "messages" else 0)


@given(block=blocks.blocks)
def test_mark_and_boundary_stand_once_whatever_a_session_said(block: Block) -> None:
    for format, form in product(FORMATS, FORMS):
        rendered = render(block, format, form)
        text = said(rendered)
        once = 0 if rendered.is_empty else 1
        assert text.count(BLOCK_OPENS) == text.count(BLOCK_ENDS) == once
        assert text.lower().count("[seasoned:") == 2 * once
        assert rendered.is_empty or text.index(BLOCK_OPENS) < text.index(BLOCK_ENDS)
        assert rendered.is_empty == (rendered.tokens == 0)


@given(block=blocks.blocks)
def test_no_text_of_a_session_begins_a_line_of_a_text(block: Block) -> None:
    block = msgspec.structs.replace(block, addendum="")
    for form, labels in (("messages", ("User: ", "Assistant calls: ", "Tool: ")), ("text", ("Asked: ", "Call: "))):
        lines = render(block, "text", form).content.decode().split("\n")[2:]
        own = [line for line in lines if line and not line.startswith(("  | ", "Result: ", "Assistant: ", BLOCK_ENDS))]
        assert all(line.startswith(labels) for line in own)
        # As many lines of each kind as there are examples: no session added one.
        shown = render(block, "text", form).example_ids
        assert len(own) == len(labels) * len(shown)


@given(block=blocks.blocks)
def test_no_rendering_holds_what_steers_a_chat_format_or_hides(block: Block) -> None:
    for format in FORMATS:
        text = said(render(block, format))
        assert "<|im_" not in text
        assert not set(text) & set("\u200b\u202e\ud800\ufeff\U000e0041")


def test_arguments_are_shown_as_they_were() -> None:
    given = {"b": [1, 2.5, {"ü": "\x1b[A"}], "a": None, "big": 10**30, "small": 1e-7}
    block = Block("t@1", (Example("press", json.dumps(given, sort_keys=True), "ok", "do", "init", "p"),))
    openai = json.loads(render(block).content)[1]["tool_calls"][0]["function"]["arguments"]
    anthropic = json.loads(render(block, "anthropic").content)[1]["content"][0]["input"]
    assert json.loads(openai) == anthropic == given
    assert openai.startswith('{"a":null,"b":[1,2.5,')


@each_case("format", FORMATS)
def test_nothing_to_show_is_an_empty_rendering(format: Format) -> None:
    unfit = Example("no such name", "{}", "r", "i", "init", "p")
    for block in (Block("t@1", ()), Block("t@1", (unfit,), addendum="Be brief.")):
        for form in FORMS:
            rendered = render(block, format, form)
            assert rendered.is_empty
            assert (rendered.tokens, rendered.example_ids) == (0, ())


def test_examples_that_no_provider_takes_are_left_out_and_the_others_shown() -> None:
    fine = Example("read", "{}", "r", "i", "init", "p")
    unfit = [
        msgspec.structs.replace(fine, tool="a.b c"),
        msgspec.structs.replace(fine, arguments="[]"),
        msgspec.structs.replace(fine, arguments='{"a":' * 90 + "1" + "}" * 90),
        msgspec.structs.replace(fine, arguments="{" * 100_000),
    ]
    assert render(Block("t@1", (*unfit, fine))).example_ids == (fine.id,)


def test_a_name_that_providers_refuse_is_read_and_not_called() -> None:
    block = Block("t@1", (Example("fs.read", "{}", "r", "i", "init", "p"),))
    assert render(block, "openai", "messages").is_empty
    assert "Call: fs.read {}" in said(render(block, "openai", "text"))


def test_an_unknown_format_or_form_is_named() -> None:
    with pytest.raises(UsageError, match=r"'yaml' is not a block format.*pydantic-ai"):
        render(blocks.SMALL, "yaml")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"'prose' is not a block form.*text"):
        render(blocks.SMALL, "openai", "prose")  # type: ignore[arg-type]
