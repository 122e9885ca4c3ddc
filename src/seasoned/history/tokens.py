"""Tokens as the providers count them, in one way of counting: input never includes what came from a cache."""

from __future__ import annotations

from seasoned.history.shape import first_of, integer, record
from seasoned.session import Usage

NOTHING = Usage()


def openai_usage(value: object) -> Usage | None:
    """OpenAI counts cached tokens among the prompt's."""
    usage = record(value)
    prompt = count(first_of(usage, "prompt_tokens", "input_tokens"))
    details = record(first_of(usage, "prompt_tokens_details", "input_tokens_details"))
    cached = count(details.get("cached_tokens"))
    made = record(first_of(usage, "completion_tokens_details", "output_tokens_details"))
    return told(
        Usage(
            input=without(prompt, cached),
            output=count(first_of(usage, "completion_tokens", "output_tokens")),
            cache_read=cached,
            reasoning=count(made.get("reasoning_tokens")),
        )
    )


def anthropic_usage(value: object) -> Usage | None:
    """Anthropic counts what came from and went into the cache beside the input."""
    usage = record(value)
    return told(
        Usage(
            input=count(usage.get("input_tokens")),
            output=count(usage.get("output_tokens")),
            cache_read=count(usage.get("cache_read_input_tokens")),
            cache_write=count(usage.get("cache_creation_input_tokens")),
        )
    )


def count(value: object) -> int | None:
    """A number of tokens: whole, not negative, and of a size that can be."""
    tokens = integer(value)
    return tokens if tokens is not None and 0 <= tokens < 1 << 53 else None


def without(whole: int | None, *parts: int | None) -> int | None:
    """What remains of a count when its parts are counted elsewhere."""
    return None if whole is None else max(0, whole - sum([part or 0 for part in parts]))


def told(usage: Usage) -> Usage | None:
    """None where nobody said anything."""
    return None if usage == NOTHING else usage
