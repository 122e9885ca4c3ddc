"""What tokens cost: the provider's own figure, else an estimate from published prices (genai-prices, offline).

An unknown price is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal

import msgspec

from seasoned.session import Usage

_TIERS = ("priority", "flex")
# Agents that talk to one provider, so that a model's name says whose price it is. For any other agent a model may run
# on this machine under a known name, and a price would be made up.
_PROVIDER_OF_AGENT = {"claude-code": "anthropic", "codex": "openai"}
_SAMPLE_TOKENS = 1_000


class Cost(msgspec.Struct, frozen=True):
    """What something cost in US dollars, and where the figure comes from."""

    usd: Decimal
    # `provider`: the answer itself names the cost. `genai-prices`: an estimate from published prices.
    source: Literal["provider", "genai-prices"]
    # Of the published prices.
    version: str | None = None

    @property
    def full_source(self) -> str:
        """The source with its version: `genai-prices 0.2.1`."""
        return self.source if self.version is None else f"{self.source} {self.version}"


def find_cost(
    usage: Usage | None,
    raw: Mapping[str, Any] | None,
    *,
    model: str | None,
    base_url: str | None = None,
    provider: str | None = None,
    tier: str | None = None,
    now: datetime | None = None,
) -> Cost | None:
    """What one request cost; None if no price is known.

    `raw` is the usage as the provider reported it. `provider` is a name that genai-prices knows; without it the
    upstream's address decides, so that a model served from this machine under a known name gets no price.
    """
    raw = raw or {}
    named = _named_cost(raw)
    if named is not None:
        return Cost(named, "provider")
    if usage is None or model is None or (usage.input is None and (usage.output is None or usage.prompt is not None)):
        return None
    creation = raw.get("cache_creation")
    figures = {
        "input_tokens": usage.prompt,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "cache_write_1h_tokens": creation.get("ephemeral_1h_input_tokens") if isinstance(creation, dict) else None,
    }
    known = {name: count for name, figure in figures.items() if (count := _count(figure)) is not None}
    named_tier = raw.get("service_tier")
    found = _price(
        known,
        model,
        provider=provider,
        base_url=None if provider else base_url,
        tier=named_tier if isinstance(named_tier, str) and named_tier else tier,
        now=now,
    )
    return None if found is None else Cost(found, "genai-prices", _version())


def estimate_session(agent: str, model: str | None, usage: Usage, *, at: float | None) -> Cost | None:
    """What a session read from a history cost, by its sums; None if no price is known.

    The prices are those for short requests: a session's sums do not say which of its requests were long enough for
    the higher prices that some models have.
    """
    provider = _PROVIDER_OF_AGENT.get(agent)
    if provider is None or not model or usage.input is None or usage.output is None:
        return None
    day = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
    rates = _rates(provider, model, day.strftime("%Y-%m-%d"))
    if rates is None:
        return None
    counts = (usage.input, usage.output, usage.cache_read or 0, usage.cache_write or 0)
    usd = sum((rate * count for rate, count in zip(rates, counts, strict=True)), Decimal())
    return Cost(usd, "genai-prices", _version())


@lru_cache(maxsize=4096)
def _rates(provider: str, model: str, day: str) -> tuple[Decimal, ...] | None:
    """Dollars for one token of input, output, cache read and cache write on a day; None if one has no price."""
    # A lookup takes a quarter of a millisecond; a store may have 100,000 sessions of a few models.
    now = datetime.fromisoformat(day).replace(tzinfo=UTC)
    found = []
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        sample = {name: _SAMPLE_TOKENS}
        if name.startswith("cache"):
            # genai-prices counts what a cache had a part in as input too.
            sample["input_tokens"] = _SAMPLE_TOKENS
        price = _price(sample, model, provider=provider, base_url=None, tier=None, now=now)
        if price is None:
            return None
        found.append(price / _SAMPLE_TOKENS)
    return tuple(found)


def _price(
    figures: Mapping[str, int],
    model: str,
    *,
    provider: str | None,
    base_url: str | None,
    tier: str | None,
    now: datetime | None,
) -> Decimal | None:
    if find_spec("genai_prices") is None:
        # It comes with the extras `server` and `agent`; reading histories needs none of them.
        return None
    # Imported here: the list of prices is large, and most commands need none.
    import genai_prices

    try:
        found = genai_prices.data_snapshot.get_snapshot().calc(
            genai_prices.Usage(**figures),
            model,
            provider,
            base_url,
            now,
            {"service_tier": tier} if tier in _TIERS else None,
        )
    except (LookupError, ValueError):
        # No such model, or figures that contradict each other.
        return None
    if found.model_price.input_mtok is None and found.model_price.output_mtok is None:
        return None
    return found.total_price


def _count(value: object) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1 << 53 else None  # type: ignore[operator, return-value]


def _version() -> str:
    import genai_prices

    return genai_prices.__version__


def _named_cost(raw: Mapping[str, Any]) -> Decimal | None:
    """The cost in US dollars that the provider itself names."""
    cost = raw.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float | str):
        return None
    try:
        found = Decimal(str(cost))
    except InvalidOperation:
        return None
    return found if found.is_finite() and found >= 0 else None
