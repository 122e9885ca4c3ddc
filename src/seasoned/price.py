"""What tokens cost: the provider's own figure, else an estimate from published prices (genai-prices, offline).

An unknown price is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from importlib.util import find_spec
from typing import Any, Literal

import msgspec

from seasoned.session import LONG_PROMPT, Usage

_TIERS = ("priority", "flex")
# Agents that talk to one provider, so that a model's name says whose price it is. For any other agent a model may run
# on this machine under a known name, and a price would be made up.
PROVIDER_OF_AGENT = {"claude-code": "anthropic", "codex": "openai", "gemini": "google"}
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


class TokenPrices(msgspec.Struct, frozen=True):
    """Dollars for one token, on a day and with a size of the prompt."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float


def token_prices(agent: str, model: str, *, day: int, is_long: bool) -> TokenPrices | None:
    """What a token cost an agent on a day (since 1970); None if that is not known.

    `is_long`: for requests whose prompt is beyond `LONG_PROMPT`, for which some models have higher prices.
    """
    provider = PROVIDER_OF_AGENT.get(agent)
    if provider is None or not model:
        return None
    at = datetime.fromtimestamp(max(day, 0) * 86_400, UTC)
    # A prompt alone costs something: a price is what a request costs more for some tokens of a kind.
    prompt = LONG_PROMPT + _SAMPLE_TOKENS if is_long else _SAMPLE_TOKENS
    whole = _price({"input_tokens": prompt}, model, provider=provider, base_url=None, tier=None, now=at)
    if whole is None:
        return None
    found = [float(whole / prompt)]
    for sample in (
        {"output_tokens": _SAMPLE_TOKENS},
        {"cache_read_tokens": _SAMPLE_TOKENS},
        {"cache_write_tokens": _SAMPLE_TOKENS},
        {"cache_write_tokens": _SAMPLE_TOKENS, "cache_write_1h_tokens": _SAMPLE_TOKENS},
    ):
        figures = {"input_tokens": prompt, **sample}
        price = _price(figures, model, provider=provider, base_url=None, tier=None, now=at)
        if price is None:
            return None
        # genai-prices counts what a cache had a part in as input too.
        rest = whole if "output_tokens" in sample else whole * (prompt - _SAMPLE_TOKENS) / prompt
        found.append(float((price - rest) / _SAMPLE_TOKENS))
    return TokenPrices(*found)


def price_list() -> str | None:
    """The list of prices that is installed, with its version; None if there is none."""
    if find_spec("genai_prices") is None:
        return None
    # Its version without the list itself, which takes a third of a second to load.
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"


def dated_price_list() -> str | None:
    """The same with the day of its newest price: `genai-prices 0.2.1 (prices of 2026-09-28)`. Loads the list."""
    named = price_list()
    if named is None:
        return None
    from genai_prices.data import providers

    today = datetime.now(UTC).date()
    starts = (
        start
        for provider in providers
        for model in provider.models
        for one in (model.prices if isinstance(model.prices, list) else ())
        # Prices that are announced do not count yet.
        if (start := getattr(one.constraint, "start_date", None)) is not None and start <= today
    )
    newest = max(starts, default=None)
    return named if newest is None else f"{named} (prices of {newest.isoformat()})"


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
