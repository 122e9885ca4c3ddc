"""Usage and cost: the provider's own figures, each once, and no price where nobody knows one."""

from __future__ import annotations

from decimal import Decimal
from importlib.metadata import version
from typing import Any

import msgspec
import pytest

from seasoned.gateway.wire import anthropic, chat, responses
from seasoned.gateway.wire.request import ApiResponse
from seasoned.history.coerce import anthropic_usage, openai_usage
from seasoned.price import Cost, find_cost, price_list, token_prices
from seasoned.session import Usage
from tests.each_case import each_case
from tests.gateway.test_anthropic import TURN as ANTHROPIC_TURN
from tests.gateway.test_chat import ONLY_USAGE, TURN, USAGE, chunk
from tests.gateway.test_responses import TURN as RESPONSES_TURN
from tests.gateway.written import passed, sse

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"


def _streamed(module: Any, *events: dict[str, Any] | str) -> ApiResponse:
    reader = module.open_stream()
    passed(reader, [sse(*events)])
    answer: ApiResponse = reader.answer()
    return answer


def _cost(answer: ApiResponse, **where: str) -> Cost | None:
    return find_cost(answer.usage, answer.raw_usage, model=answer.model, **where)


def test_known_bug_streamed_spend_recorded_as_0() -> None:
    """A stream costs what the same answer costs whole, in each API."""
    for module, events, where in (
        (chat, [*TURN, ONLY_USAGE], OPENAI_URL),
        (responses, RESPONSES_TURN, OPENAI_URL),
        (anthropic, ANTHROPIC_TURN, ANTHROPIC_URL),
    ):
        answer = _streamed(module, *events)
        cost = _cost(answer, base_url=where)
        assert answer.usage is not None and answer.usage.output
        assert cost is not None and cost.usd > 0


def test_known_bug_cache_reads_billed_in_full_when_streaming() -> None:
    """900 of 1,000 tokens came from the cache, 80 went into it: each part has its own price."""
    cost = _cost(_streamed(anthropic, *ANTHROPIC_TURN), base_url=ANTHROPIC_URL)
    price = {"fresh": 20 * 3, "read": 900 * Decimal("0.3"), "written": 80 * Decimal("3.75"), "output": 42 * 15}
    assert cost is not None
    assert cost.usd == sum(map(Decimal, price.values())) / 1_000_000


def test_known_bug_usage_lost_when_the_last_chunk_has_choices() -> None:
    """Some report the usage beside the last words, some inside the choice; it counts, and stays where it is."""
    beside = chunk({}, finish="stop", usage=USAGE)
    inside = chunk({}, finish="stop")
    inside["choices"][0]["usage"] = USAGE
    for last in (beside, inside):
        reader = chat.open_stream()
        reader.takes_usage_out = True
        data = sse(TURN[1], last, "[DONE]")
        assert passed(reader, [data]) == data
        assert reader.answer().usage == Usage(input=12, output=5, cache_read=8)


@each_case(
    ("model", "base_url"),
    [("a-model-of-our-own", None), ("gpt-5", "http://127.0.0.1:8080/v1"), ("", OPENAI_URL), (None, OPENAI_URL)],
)
def test_known_bug_an_unknown_model_priced_at_0(model: str | None, base_url: str | None) -> None:
    """An unknown price is unknown, also for a model that runs here under a known name."""
    assert find_cost(Usage(input=1000, output=10), {}, model=model, base_url=base_url) is None


def test_the_providers_own_cost_outranks_an_estimate() -> None:
    raw = {**USAGE, "cost": 0.0123}
    assert find_cost(openai_usage(raw), raw, model="gpt-5") == Cost(Decimal("0.0123"), "provider")
    free = find_cost(None, {"cost": 0}, model="anything")
    assert free == Cost(Decimal(0), "provider")


@each_case("cost", [True, "much", float("nan"), -1, None, {}, "Infinity"])
def test_a_cost_that_is_no_amount_is_none(cost: object) -> None:
    assert find_cost(None, {"cost": cost}, model="gpt-5") is None


def test_the_tier_and_the_life_of_the_cache_have_their_own_prices() -> None:
    usage = Usage(input=1000, output=10)
    dear = find_cost(usage, {"service_tier": "priority"}, model="gpt-5", base_url=OPENAI_URL)
    told = find_cost(usage, {}, model="gpt-5", base_url=OPENAI_URL, tier="priority")
    plain = find_cost(usage, {}, model="gpt-5", base_url=OPENAI_URL)
    assert dear is not None and plain is not None
    assert dear == told and dear.usd == 2 * plain.usd
    written = Usage(cache_write=1000, input=0)
    long = {"cache_creation": {"ephemeral_1h_input_tokens": 1000}}
    costs = [find_cost(written, raw, model="claude-sonnet-4-5", base_url=ANTHROPIC_URL) for raw in (long, {})]
    assert [cost and cost.usd for cost in costs] == [Decimal("0.006"), Decimal("0.00375")]


def test_input_is_what_no_cache_had_a_part_in_in_each_api() -> None:
    """As the readers of histories count it: one session has one figure, whoever tells of it."""
    told = {"input_tokens": 20, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 80}
    assert anthropic_usage(told) == Usage(input=20, cache_read=900, cache_write=80)
    assert openai_usage({"prompt_tokens": 1000, "prompt_cache_hit_tokens": 900}) == Usage(input=100, cache_read=900)
    thought = {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}}
    assert anthropic_usage(thought) == Usage(output=50, reasoning=30)


def test_a_token_of_a_history_costs_what_the_list_says_by_kind_and_size_of_the_prompt() -> None:
    day = 1_760_000_000 // 86_400
    for agent, model, is_long, millionths in (
        ("claude-code", "claude-sonnet-4-5-20250929", False, (3, 15, 0.3, 3.75, 6)),
        # Beyond 200,000 tokens a request costs more.
        ("claude-code", "claude-sonnet-4-5-20250929", True, (6, 22.5, 0.6, 7.5, 12)),
        ("codex", "gpt-5-codex", False, (1.25, 10, 0.125, 1.25, 1.25)),
    ):
        found = token_prices(agent, model, day=day, is_long=is_long)
        assert found is not None
        assert [1e6 * one for one in msgspec.structs.astuple(found)] == pytest.approx(millionths), (model, is_long)
    assert price_list() == f"genai-prices {version('genai-prices')}"


def test_what_cannot_be_priced_is_unknown_and_not_zero() -> None:
    for agent, model in (
        ("claude-code", "<synthetic>"),
        ("claude-code", "qwen3-coder"),
        ("claude-code", ""),
        # A model of any other agent may run on this machine.
        ("hermes", "gpt-5"),
    ):
        assert token_prices(agent, model, day=20_000, is_long=False) is None
