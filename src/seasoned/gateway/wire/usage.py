"""Usage and cost: a provider's figures in one way of counting, and what they cost where a price is known.

Input is without what was read from a cache or written into one, as everywhere here; output has the reasoning in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import msgspec

from seasoned.gateway.wire.request import ApiName
from seasoned.history.coerce import as_object, count, first_of, known_usage, remaining, string
from seasoned.session import Usage

_TIERS = ("priority", "flex")


class PricedCost(msgspec.Struct, frozen=True):
    """What a request cost in US dollars, and who says so. An unknown cost is None, never this with zero."""

    usd: Decimal
    source: Literal["provider", "genai-prices"]
    """`provider`: the answer itself names the cost. `genai-prices`: an estimate by published prices."""
    version: str | None = None
    """Of the prices."""


def read_usage(api: ApiName, raw: Mapping[str, Any] | None) -> Usage | None:
    """The provider's figures; None where it gave none."""
    if not raw:
        return None
    return _anthropic(dict(raw)) if api == "anthropic" else _openai(dict(raw))


def find_cost(
    usage: Usage | None,
    raw: Mapping[str, Any] | None,
    *,
    model: str | None,
    base_url: str | None = None,
    provider: str | None = None,
    tier: str | None = None,
    now: datetime | None = None,
) -> PricedCost | None:
    """What a request cost: by the provider's own word, else by published prices; None where nobody knows.

    `provider` is a name that genai-prices knows; without it the address of the upstream says who it is, and without
    that the model's name. A model that runs here has the address of no provider, so no price is made up for it.
    """
    named = _named_cost(raw or {})
    if named is not None:
        return PricedCost(named, "provider")
    if usage is None or model is None or (usage.input is None and (usage.output is None or usage.prompt is not None)):
        return None
    return _estimate(usage, raw or {}, model, base_url=base_url, provider=provider, tier=tier, now=now)


def _openai(raw: dict[str, Any]) -> Usage | None:
    read = as_object(first_of(raw, "prompt_tokens_details", "input_tokens_details"))
    made = as_object(first_of(raw, "completion_tokens_details", "output_tokens_details"))
    whole = count(first_of(raw, "prompt_tokens", "input_tokens"))
    cached = count(first_of({**raw, **read}, "cached_tokens", "prompt_cache_hit_tokens"))
    written = count(read.get("cache_write_tokens"))
    return known_usage(
        Usage(
            # Parts that are more than the whole: nobody knows which of them is wrong.
            input=None if (cached or 0) + (written or 0) > (whole or 0) else remaining(whole, cached, written),
            output=count(first_of(raw, "completion_tokens", "output_tokens")),
            cache_read=cached,
            cache_write=written,
            reasoning=count(made.get("reasoning_tokens")),
        )
    )


def _anthropic(raw: dict[str, Any]) -> Usage | None:
    """Its own input is what no cache had a part in."""
    details = as_object(raw.get("output_tokens_details"))
    return known_usage(
        Usage(
            input=count(raw.get("input_tokens")),
            output=count(raw.get("output_tokens")),
            cache_read=count(raw.get("cache_read_input_tokens")),
            cache_write=count(raw.get("cache_creation_input_tokens")),
            reasoning=count(details.get("thinking_tokens")),
        )
    )


def _named_cost(raw: Mapping[str, Any]) -> Decimal | None:
    """The cost that the provider itself names, in US dollars."""
    cost = raw.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float | str):
        return None
    try:
        found = Decimal(str(cost))
    except InvalidOperation:
        return None
    return found if found.is_finite() and found >= 0 else None


def _estimate(
    usage: Usage,
    raw: Mapping[str, Any],
    model: str,
    *,
    base_url: str | None,
    provider: str | None,
    tier: str | None,
    now: datetime | None,
) -> PricedCost | None:
    # A long list of prices: a gateway that only passes requests on does not need it.
    import genai_prices

    figures = {
        "input_tokens": usage.prompt,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "cache_write_1h_tokens": count(as_object(raw.get("cache_creation")).get("ephemeral_1h_input_tokens")),
    }
    known = {name: figure for name, figure in figures.items() if figure is not None}
    tier = string(raw.get("service_tier")) or tier
    try:
        found = genai_prices.data_snapshot.get_snapshot().calc(
            genai_prices.Usage(**known),
            model,
            provider,
            None if provider else base_url,
            now,
            {"service_tier": tier} if tier in _TIERS else None,
        )
    except (LookupError, ValueError):
        # No such model, or figures that contradict each other.
        return None
    if found.model_price.input_mtok is None and found.model_price.output_mtok is None:
        return None
    return PricedCost(found.total_price, "genai-prices", genai_prices.__version__)
