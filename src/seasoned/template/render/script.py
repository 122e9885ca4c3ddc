"""The script of a block: its turns, cleaned and in order, before a format writes them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

import msgspec

from seasoned.marks import BLOCK_ENDS, CALL_ID_PREFIX
from seasoned.template.block import Block, Form, canonical, clean_arguments, clean_text
from seasoned.template.example import Example
from seasoned.template.render.placebo import Placebo, passages
from seasoned.template.render.tokens import CALL_TOKENS, MESSAGE_TOKENS, RESULT_TOKENS, count_tokens
from seasoned.template.render.wording import CLOSING, NO_OUTPUT, PLACEBO_CLOSING, PLACEBO_OPENING, opening_words

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
    words = PLACEBO_OPENING if isinstance(block, Placebo) else opening_words(form, block.names)
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
    if not real or block.of is None:
        return Script()
    head = f"{opening(block, 'messages')}\n\n"
    last = BlockTurn("assistant", f"{PLACEBO_CLOSING}\n{BLOCK_ENDS}")
    lengths = [_length(turn, block) for turn in real[:-1]]
    spared = block.count(real[-1].text) - block.count(last.text) - block.count(head)
    said = passages(block, lengths, spared)
    said[0] = head + said[0]
    roles: list[Literal["user", "assistant"]] = ["assistant" if turn.role == "assistant" else "user" for turn in real]
    return Script(head, (*map(BlockTurn, roles, said), last))


def _length(turn: BlockTurn, block: Placebo) -> int:
    """How many tokens of words replace a turn."""
    if turn.example is None or turn.role == "tool":
        around = RESULT_TOKENS - MESSAGE_TOKENS if turn.role == "tool" else 0
        return around + block.count(turn.text)
    return CALL_TOKENS - MESSAGE_TOKENS + block.count(turn.example.tool) + block.count(turn.example.arguments_json)
