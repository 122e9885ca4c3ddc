"""A provider's usage figures, counted in one way for all APIs.

Input is without what was read from or written to a cache; output includes reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seasoned.gateway.wire.request import ApiName
from seasoned.history.coerce import as_object, count, first_of, known_usage, remaining
from seasoned.session import Usage


def read_usage(api: ApiName, raw: Mapping[str, Any] | None) -> Usage | None:
    """The provider's figures; None where it gave none."""
    if not raw:
        return None
    return _anthropic(dict(raw)) if api == "anthropic" else _openai(dict(raw))


def _openai(raw: dict[str, Any]) -> Usage | None:
    read = as_object(first_of(raw, "prompt_tokens_details", "input_tokens_details"))
    made = as_object(first_of(raw, "completion_tokens_details", "output_tokens_details"))
    whole = count(first_of(raw, "prompt_tokens", "input_tokens"))
    cached = count(first_of({**raw, **read}, "cached_tokens", "prompt_cache_hit_tokens"))
    written = count(read.get("cache_write_tokens"))
    return known_usage(
        Usage(
            # The parts exceed the whole, and it is unknown which figure is wrong.
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
