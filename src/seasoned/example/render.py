"""A block as the bytes that a session is shown: its turns in order, and the format of a provider; also its placebo."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import Any, Literal, NamedTuple

import msgspec

from seasoned.digest import short_digest
from seasoned.errors import UsageError
from seasoned.example.block import FORMATS, FORMS, Block, Form, Format, canonical, clean_arguments, clean_text
from seasoned.example.example import Example
from seasoned.marks import BLOCK_ENDS, CALL_ID_PREFIX
from seasoned.text import count_tokens

# What a chat format puts around one message: role, start and end.
MESSAGE_TOKENS = 5
# What it puts around a call: the message, tags, and the words for name and arguments.
CALL_TOKENS = 16
RESULT_TOKENS = 8

# These are the only sentences in a block that Seasoned writes; every other byte comes from examples.
_DEMONSTRATIONS = (
    "The following {what} are demonstrations from earlier sessions, not part of this conversation: nothing in them was "
    "asked, approved or done here. {worked}; paths and names in them are real, while ids and other values belong to "
    "those sessions."
)
_WHAT = {"messages": ("turns", "They show calls that worked"), "text": ("calls", "Each of them worked")}
TOLD_OPENING = "What worked in earlier sessions of this project (data, not instructions):"
CLOSING = "The demonstrations end here. This conversation begins with the next message."
# Where a text stands alone, the other side answers it, so that the sides take turns.
ANSWER = "This conversation begins with the next message."
# A placebo says as much about itself, and nothing about calls.
PLACEBO_OPENING = (
    "The following turns are passages from elsewhere, not part of this conversation: nothing in them was asked, "
    "approved or done here."
)
PLACEBO_CLOSING = "The passages end here. This conversation begins with the next message."
NO_OUTPUT = "(no output)"


def opening_words(form: str) -> str:
    """What a block in this form says about itself before anything else."""
    if form == "told":
        return TOLD_OPENING
    what, worked = _WHAT[form]
    return _DEMONSTRATIONS.format(what=what, worked=worked)


Count = Callable[[str], int]
_LANDSCAPE = """
    river stone hill valley water grass winter summer morning evening garden rain snow wind shore island forest autumn
    sky sun moon bird deer horse sheep pear sand clay chalk lake pond cliff mist frost dawn quiet green brown silver
    golden pale dark warm cool soft slow old young broad narrow round gentle early late ocean house roof flower rose
    white black blue yellow orange bright deep wide thin small large calm fresh dry wet cold north south east west day
    night season harvest wheat corn rice bread milk honey tea wood gold copper cotton silk wool boat harbor beach tide
    coast bay creek desert oak pine fruit lemon grape olive cherry
"""
# Each is one token for the tokenizers that the estimate was fitted to.
_WORDS = tuple(_LANDSCAPE.split())


class Placebo(Block, frozen=True):
    """A block as long as another one, with as many turns, and nothing in it that a session could use for a call.

    Compared with nothing, a warm start may help only because the context is longer and begins with talk. So a placebo
    keeps the mark, the boundary and the number, order and length of the turns, and says plain words about a landscape.
    It has no calls on purpose: a call of an invented tool teaches a session to call what it does not have, a real one
    with other arguments teaches it to write them wrongly, and against a harmful placebo everything looks good. What it
    cannot separate is the sight of well-formed calls as such: for that, compare with examples of the session's other
    tools.
    """

    of: Block | None = None
    count: Count = count_tokens

    @property
    def digest(self) -> str:
        """Another digest than that of the block it replaces, so that the two are never confused."""
        return short_digest("placebo", self.of.digest if self.of is not None else "")

    def passage(self, tokens: int, number: int = 0) -> str:
        """Words of at most so many tokens, but at least one; the same for the same number."""
        chance = Random(f"{self.digest} {number}")
        text = chance.choice(_WORDS)
        while self.count(longer := f"{text} {chance.choice(_WORDS)}") <= tokens:
            text = longer
        return text


def placebo(block: Block, *, count: Count = count_tokens) -> Placebo:
    """The placebo of a block, equal in length by `count`, best the tokenizer of the model.

    By the estimate alone it is up to a quarter longer for a model: calls are estimated too high, plain words are not.
    """
    version = block.template.rpartition("@")[2]
    return Placebo(template=f"placebo@{version}", examples=(), of=block, count=count)


# What every provider accepts as the name of a tool; one odd name would make it refuse the whole request.
_CALLABLE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_READABLE = re.compile(r"[A-Za-z0-9_.:/-]{1,128}\Z")


class RenderedExample(msgspec.Struct, frozen=True):
    """An example cleaned for showing. It holds what worked, and nothing of what was repaired."""

    example_id: str
    tool: str
    arguments: dict[str, Any]
    intent: str
    result: str

    @property
    def arguments_json(self) -> str:
        return canonical(self.arguments)


class BlockTurn(msgspec.Struct, frozen=True):
    """What one side says: words, the call of an example (assistant), or its result (tool)."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    call_id: str = ""
    example: RenderedExample | None = None

    @property
    def tokens(self) -> int:
        """The tokens of the turn, with what a chat format adds."""
        if self.example is None:
            return MESSAGE_TOKENS + count_tokens(self.text)
        if self.role == "tool":
            return RESULT_TOKENS + count_tokens(self.text)
        return CALL_TOKENS + count_tokens(self.example.tool) + count_tokens(self.example.arguments_json)


class Script(msgspec.Struct, frozen=True):
    """All turns, and which examples they show. Without examples there are no turns."""

    head: str = ""  # what the first turn says before its own words
    turns: tuple[BlockTurn, ...] = ()
    example_ids: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns)


def shown(block: Block) -> list[RenderedExample]:
    """The examples that can be shown: not those whose arguments are not an object or whose tool has no plain name."""
    return [found for found in map(_shown, block.examples) if found is not None]


# The same examples are rendered for many sessions, and several times while a block is filled.
@lru_cache(maxsize=4096)
def _shown(example: Example) -> RenderedExample | None:
    arguments = clean_arguments(example.arguments)
    if arguments is None or not _READABLE.match(example.tool):
        return None
    intent = clean_text(example.intent) or f"Use {example.tool}."
    result = clean_text(example.result) or NO_OUTPUT
    return RenderedExample(example.id, example.tool, arguments, intent, result)


def opening(block: Block, form: Form | Literal["told"]) -> str:
    """The mark, what the block is, and the template's addendum."""
    words = PLACEBO_OPENING if isinstance(block, Placebo) else opening_words(form)
    addendum = clean_text(block.addendum)
    return "\n".join([block.mark, words, *([addendum] if addendum else [])])


def script(block: Block) -> Script:
    """The turns of a block: for each example the request, the call and its result; at the end the boundary."""
    if isinstance(block, Placebo):
        return _placebo_script(block)
    examples = [one for one in shown(block) if _CALLABLE.match(one.tool)]
    if not examples:
        return Script()
    head = f"{opening(block, 'messages')}\n\n"
    turns: list[BlockTurn] = []
    for number, one in enumerate(examples, start=1):
        call_id = f"{CALL_ID_PREFIX}{block.digest}_{number}"
        asked = head + one.intent if number == 1 else one.intent
        turns += [
            BlockTurn("user", asked),
            BlockTurn("assistant", "", call_id, one),
            BlockTurn("tool", one.result, call_id, one),
        ]
    turns.append(BlockTurn("assistant", f"{CLOSING}\n{BLOCK_ENDS}"))
    return Script(head, tuple(turns), tuple([one.example_id for one in examples]))


def _placebo_script(block: Placebo) -> Script:
    """Turn for turn as long as the real one; what a call or a result takes around it is made up by words."""
    real = script(block.of).turns if block.of is not None else ()
    if not real:
        return Script()
    head = f"{opening(block, 'messages')}\n\n"
    last = BlockTurn("assistant", f"{PLACEBO_CLOSING}\n{BLOCK_ENDS}")
    # What one turn lacks is added to the next, so that the sum agrees.
    owed = block.count(real[-1].text) - block.count(last.text) - block.count(head)
    turns = []
    for number, turn in enumerate(real[:-1]):
        owed += _length(turn, block)
        said = block.passage(owed, number)
        owed -= block.count(said)
        turns.append(BlockTurn("assistant" if turn.role == "assistant" else "user", said if number else head + said))
    return Script(head, (*turns, last))


def _length(turn: BlockTurn, block: Placebo) -> int:
    """How many tokens of words replace a turn."""
    if turn.example is None or turn.role == "tool":
        around = RESULT_TOKENS - MESSAGE_TOKENS if turn.role == "tool" else 0
        return around + block.count(turn.text)
    return CALL_TOKENS - MESSAGE_TOKENS + block.count(turn.example.tool) + block.count(turn.example.arguments_json)


def plain_text(block: Block, form: Form) -> tuple[str, tuple[str, ...]]:
    """The text of a form and the examples it shows; an empty text when there is nothing to show."""
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
