"""A block in the format of a provider, or as plain text: calls for the system prompt, turns as a transcript."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from seasoned.errors import UsageError
from seasoned.example.block import FORMATS, FORMS, Block, Form, Format, canonical
from seasoned.example.render.script import (
    ANSWER,
    MESSAGE_TOKENS,
    BlockTurn,
    Placebo,
    Script,
    opening,
    script,
    shown,
)
from seasoned.marks import BLOCK_ENDS
from seasoned.text import count_tokens


def plain_text(block: Block, form: Form) -> tuple[str, tuple[str, ...]]:
    """The text of a form and the examples it shows; an empty text when there is nothing to show."""
    if isinstance(block, Placebo):
        return _placebo_text(block, form), ()
    if form == "messages":
        found = script(block)
        return _transcript(found), found.example_ids
    return _calls(block)


def _calls(block: Block) -> tuple[str, tuple[str, ...]]:
    examples = shown(block)
    if not examples:
        return "", ()
    parts = [opening(block, "text")]
    for one in examples:
        called = f"Call: {one.tool} {one.arguments_json}"
        parts.append("\n".join([_labelled("Asked", one.intent), called, _labelled("Result", one.result)]))
    return "\n\n".join(parts) + f"\n\n{BLOCK_ENDS}", tuple([one.example_id for one in examples])


def _transcript(found: Script) -> str:
    if not found.turns:
        return ""
    first, *others = found.turns
    # The opening line must begin the text, so it is taken out of the first turn and written before its label.
    asked = BlockTurn(first.role, first.text.removeprefix(found.head))
    return found.head + "\n".join(map(_spoken, [asked, *others]))


def _spoken(turn: BlockTurn) -> str:
    if turn.example is not None and turn.role == "assistant":
        return f"Assistant calls: {turn.example.tool} {turn.example.arguments_json}"
    if turn.text.endswith(BLOCK_ENDS):
        return f"Assistant: {turn.text}"
    return _labelled("Tool" if turn.role == "tool" else "User", turn.text)


def _labelled(label: str, text: str) -> str:
    """Text of a session never begins a line, so that it cannot imitate a line of the block."""
    return f"{label}: " + text.replace("\n", "\n  | ")


def _placebo_text(block: Placebo, form: Form) -> str:
    """A text without content that has as many tokens as the real one."""
    real = plain_text(block.of, form)[0] if block.of is not None else ""
    if not real:
        return ""
    head, end = f"{opening(block, form)}\n\n", f"\n{BLOCK_ENDS}"
    return f"{head}{block.passage(block.count(real) - block.count(head + end))}{end}"


_Messages = list[dict[str, Any]]
# pydantic-ai gives every part a time; a clock would make each rendering another one.
_TIME = "1970-01-01T00:00:00Z"


class FormatWriter(NamedTuple):
    """How one format writes the turns of a block, and a text."""

    turns: Callable[[Script], _Messages]
    text: Callable[[str], _Messages]
    answer: str = ""  # what a text is answered with, where the sides must take turns


def _openai_turns(found: Script) -> _Messages:
    """Each result directly after its call, arguments as JSON in a string."""
    return list(map(_openai_message, found.turns))


def _openai_message(turn: BlockTurn) -> dict[str, Any]:
    called = turn.example
    if called is None:
        return {"role": turn.role, "content": turn.text}
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.call_id, "content": turn.text}
    function = {"name": called.tool, "arguments": called.arguments_json}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": turn.call_id, "type": "function", "function": function}],
    }


def _openai_text(text: str) -> _Messages:
    return [{"role": "system", "content": text}]


def _responses_turns(found: Script) -> _Messages:
    """Items have no id: the API would look for one among those it keeps itself."""
    return list(map(_responses_item, found.turns))


def _responses_item(turn: BlockTurn) -> dict[str, Any]:
    called = turn.example
    if called is None:
        return {"type": "message", "role": turn.role, "content": turn.text}
    if turn.role == "tool":
        return {"type": "function_call_output", "call_id": turn.call_id, "output": turn.text}
    return {
        "type": "function_call",
        "call_id": turn.call_id,
        "name": called.tool,
        "arguments": called.arguments_json,
    }


def _responses_text(text: str) -> _Messages:
    return [{"type": "message", "role": "developer", "content": text}]


def _anthropic_turns(found: Script) -> _Messages:
    """The sides take turns, so a result and what is asked next share a message."""
    messages: _Messages = []
    for turn in found.turns:
        role = "assistant" if turn.role == "assistant" else "user"
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].append(_anthropic_block(turn))
    return messages


def _anthropic_block(turn: BlockTurn) -> dict[str, Any]:
    called = turn.example
    if called is None:
        return {"type": "text", "text": turn.text}
    if turn.role == "tool":
        return {"type": "tool_result", "tool_use_id": turn.call_id, "content": turn.text}
    return {"type": "tool_use", "id": turn.call_id, "name": called.tool, "input": called.arguments}


def _anthropic_text(text: str) -> _Messages:
    """A turn of each side: older models refuse system messages in the list, and the `system` field is the caller's."""
    return [
        {"role": "user", "content": [{"type": "text", "text": text.removesuffix(BLOCK_ENDS).rstrip()}]},
        {"role": "assistant", "content": [{"type": "text", "text": f"{ANSWER}\n{BLOCK_ENDS}"}]},
    ]


def _hermes_turns(found: Script) -> _Messages:
    """The fields that Hermes' database keeps; give it to Hermes as history, not to a provider."""
    return list(map(_hermes_message, found.turns))


def _hermes_message(turn: BlockTurn) -> dict[str, Any]:
    message = _openai_message(turn)
    if turn.role == "tool":
        if turn.example is not None:
            message["tool_name"] = turn.example.tool
    elif turn.role == "assistant":
        message["finish_reason"] = "stop" if turn.example is None else "tool_calls"
        message["content"] = turn.text
        for call in message.get("tool_calls", []):
            call["call_id"] = call["id"]
    return message


def _pydantic_turns(found: Script) -> _Messages:
    """As pydantic-ai's `ModelMessagesTypeAdapter` reads them; a result and what is asked next share a request."""
    messages: _Messages = []
    for turn in found.turns:
        kind = "response" if turn.role == "assistant" else "request"
        if not messages or messages[-1]["kind"] != kind:
            messages.append({"kind": kind, "parts": [], "timestamp": _TIME})
        messages[-1]["parts"].append(_pydantic_part(turn))
    return messages


def _pydantic_part(turn: BlockTurn) -> dict[str, Any]:
    called = turn.example
    if called is None:
        if turn.role == "assistant":
            return {"part_kind": "text", "content": turn.text}
        return {"part_kind": "user-prompt", "content": turn.text, "timestamp": _TIME}
    named = {"tool_name": called.tool, "tool_call_id": turn.call_id}
    if turn.role == "tool":
        return {"part_kind": "tool-return", "content": turn.text, "timestamp": _TIME, **named}
    return {"part_kind": "tool-call", "args": called.arguments_json, **named}


def _pydantic_text(text: str) -> _Messages:
    part = {"part_kind": "system-prompt", "content": text, "timestamp": _TIME}
    return [{"kind": "request", "parts": [part], "timestamp": _TIME}]


# "text" is not a list of messages.
WRITERS: dict[Format, FormatWriter] = {
    "openai": FormatWriter(_openai_turns, _openai_text),
    "responses": FormatWriter(_responses_turns, _responses_text),
    "anthropic": FormatWriter(_anthropic_turns, _anthropic_text, ANSWER),
    "hermes": FormatWriter(_hermes_turns, _openai_text),
    "pydantic-ai": FormatWriter(_pydantic_turns, _pydantic_text),
}


class Rendered(msgspec.Struct, frozen=True):
    """What a session is shown. `content` is a JSON list of messages or items, or the text itself; empty: nothing."""

    format: Format
    form: Form
    content: bytes
    tokens: int  # an estimate of what the model reads, with what a chat format puts around it
    example_ids: tuple[str, ...]  # of the examples that are shown
    digest: str

    @property
    def is_empty(self) -> bool:
        return self.content in (b"", b"[]")


def render(block: Block, format: Format = "openai", form: Form = "messages") -> Rendered:
    """A block in one format and one form. Nothing to show gives an empty rendering, never an error."""
    if format not in FORMATS:
        raise UsageError(f"{format!r} is not a block format. Use one of: {', '.join(FORMATS)}.")
    if form not in FORMS:
        raise UsageError(f"{form!r} is not a block form. Use one of: {', '.join(FORMS)}.")
    writer = WRITERS.get(format)
    if writer is not None and form == "messages":
        found = script(block)
        return _rendered(format, form, canonical(writer.turns(found)), found.tokens, found.example_ids)
    return _text_rendered(format, form, *plain_text(block, form))


def render_told(block: Block, format: Format) -> Rendered:
    """A block without examples: what its opening says, as a text in this format."""
    return _text_rendered(format, "text", "\n".join([opening(block, "told"), BLOCK_ENDS]), ())


def _text_rendered(format: Format, form: Form, said: str, example_ids: tuple[str, ...]) -> Rendered:
    writer = WRITERS.get(format)
    if writer is None:
        return _rendered(format, form, f"{said}\n" if said else "", count_tokens(said), example_ids)
    messages = writer.text(said) if said else []
    tokens = MESSAGE_TOKENS * len(messages) + count_tokens(said + writer.answer) if said else 0
    return _rendered(format, form, canonical(messages), tokens, example_ids)


def _rendered(format: Format, form: Form, content: str, tokens: int, example_ids: tuple[str, ...]) -> Rendered:
    data = content.encode()
    return Rendered(format, form, data, tokens, example_ids, blake2b(data, digest_size=8).hexdigest())
