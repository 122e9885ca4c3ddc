"""How large a context is: what the provider counted last, and an estimate of what has come since."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelResponse

from seasoned.template.render.tokens import CALL_TOKENS, MESSAGE_TOKENS, count_tokens


def context_tokens(messages: Sequence[ModelMessage]) -> int:
    """Tokens that the next request would send. The last answer's own count covers instructions and tools too."""
    size = 0
    for message in reversed(messages):
        if isinstance(message, ModelResponse) and message.usage.input_tokens:
            return size + message.usage.input_tokens + message.usage.output_tokens
        size += estimate_tokens(message)
    return size


def estimate_tokens(message: ModelMessage) -> int:
    """Tokens of one message, estimated."""
    total = MESSAGE_TOKENS
    for part in message.parts:
        if part.part_kind == "tool-call":
            total += CALL_TOKENS + count_tokens(part.args_as_json_str())
        elif part.part_kind == "tool-return":
            total += MESSAGE_TOKENS + count_tokens(part.model_response_str())
        else:
            content = getattr(part, "content", "")
            total += count_tokens(content if isinstance(content, str) else str(content))
    return total
