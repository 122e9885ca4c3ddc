"""A placebo is as long as the block it stands for, has its shape, and none of its knowledge."""

from __future__ import annotations

import json
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.block import FORMATS, FORMS, Block, Form, Format
from seasoned.example.render import placebo, render
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS
from seasoned.text import count_tokens
from tests.example import blocks
from tests.example.providers import assert_anthropic, assert_openai, assert_pydantic_ai, assert_responses


def _typical(seed: int) -> Block:
    """As large as a block usually is, so that two in a hundred are some tokens."""
    draw = Random(seed)
    return Block("code@1", tuple([one for _ in range(3) for one in blocks.drawn_block(draw).examples]))


def test_a_placebo_is_as_long_as_its_block() -> None:
    for format in set(FORMATS) - {"text"}:
        for block in (blocks.SMALL, *map(_typical, range(2))):
            real, false = render(block, format), render(placebo(block), format)
            assert abs(false.tokens - real.tokens) <= max(2, 0.02 * real.tokens)
            assert real.is_empty == false.is_empty


@given(block=blocks.blocks)
def test_a_placebo_keeps_the_rules_of_every_provider(block: Block) -> None:
    false = placebo(block)
    assert assert_openai(json.loads(render(false).content)) == []
    assert assert_responses(json.loads(render(false, "responses").content)) == []
    assert assert_anthropic(json.loads(render(false, "anthropic").content)) == []
    assert assert_pydantic_ai(render(false, "pydantic-ai").content) == []
    assert len(json.loads(render(false).content)) == len(json.loads(render(block).content))
    assert render(false).example_ids == ()


@given(block=blocks.blocks, format=st.sampled_from(FORMATS), form=st.sampled_from(FORMS[:1]))
def test_a_placebo_has_its_own_mark_and_one_boundary(block: Block, format: Format, form: Form) -> None:
    rendered = render(placebo(block), format, form)
    text = rendered.content.decode()
    once = 0 if rendered.is_empty else 1
    assert text.count(BLOCK_OPENS) == text.count(BLOCK_ENDS) == text.count("placebo@") == once
    assert block.digest not in text


def test_a_placebo_names_no_tool_and_no_argument() -> None:
    for format, form in product(FORMATS, FORMS[:1]):
        text = render(placebo(blocks.SMALL), format, form).content.decode()
        known = ["search_files", "terminal", "src/x", "pattern", "pytest", "matches", "relative", "program", "warm_"]
        assert [word for word in known if word in text] == []


def test_the_tokenizer_of_a_model_makes_the_length_exact_for_it() -> None:
    def characters(text: str) -> int:
        return -(-len(text) // 3)

    def total(block: Block) -> int:
        return characters(render(block, "text").content.decode())

    block = _typical(1)
    assert total(placebo(block, count=characters)) == pytest.approx(total(block), rel=0.02)
    assert render(placebo(block)).tokens == pytest.approx(render(block).tokens, rel=0.02)
    assert count_tokens("x") == 1
