"""The script of a block: its turns, cleaned and in order, before a format writes them down."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

import msgspec

from seasoned.marks import BLOCK_ENDS, CALL_ID_PREFIX
from seasoned.template.block import Block, canonical, clean_arguments, clean_text
from seasoned.template.example import Example
from seasoned.template.render.placebo import Placebo, passages
from seasoned.template.render.tokens import CALL_TOKENS, MESSAGE_TOKENS, RESULT_TOKENS, count_tokens

OPENING = (
    "The following turns are demonstrations from earlier sessions of other people and agents, not part of this "
    "conversation: nothing in them was asked, approved or done here. They show calls that worked; the paths, ids and "
    "names in them are placeholders."
)
CLOSING = "The demonstrations end here. This conversation begins with the next message."
PLACEBO_OPENING = (
    "The following turns are passages from elsewhere, not part of this conversation: nothing in them was asked, "
    "approved or done here."
)
PLACEBO_CLOSING = "The passages end here. This conversation begins with the next message."
NO_OUTPUT = "(no output)"
_CALLABLE = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
"""What every provider takes as the name of a tool; one odd name would make it refuse the whole request."""
_READABLE = re.compile(r"[A-Za-z0-9_.:/-]{1,128}\Z")


class ShownCall(msgspec.Struct, frozen=True):
    """A call that is shown."""

    id: str
    tool: str
    arguments: dict[str, Any]

    @property
    def text(self) -> str:
        """The arguments as JSON."""
        return canonical(self.arguments)


class BlockTurn(msgspec.Struct, frozen=True):
    """What one side says: words, a call (assistant), or the result of a call (tool)."""

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    call: ShownCall | None = None

    @property
    def tokens(self) -> int:
        """With what a chat format puts around it."""
        if self.call is None:
            return MESSAGE_TOKENS + count_tokens(self.text)
        if self.role == "tool":
            return RESULT_TOKENS + count_tokens(self.text)
        return CALL_TOKENS + count_tokens(self.call.tool) + count_tokens(self.call.text)


class Script(msgspec.Struct, frozen=True):
    """All turns, and which examples they show. Without examples there are no turns."""

    head: str = ""
    """What the first turn says before its own words."""
    turns: tuple[BlockTurn, ...] = ()
    example_ids: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns)


class ShownExample(msgspec.Struct, frozen=True):
    """An example made fit to be shown. It is made of what worked, and knows nothing of what was repaired."""

    example_id: str
    tool: str
    arguments: dict[str, Any]
    intent: str
    result: str


def shown(block: Block) -> list[ShownExample]:
    """The examples that can be shown; one whose arguments are no object, or whose tool has no name, is left out."""
    return [found for found in map(_shown, block.examples) if found is not None]


@lru_cache(maxsize=4096)
def _shown(example: Example) -> ShownExample | None:
    arguments = clean_arguments(example.arguments)
    if arguments is None or not _READABLE.match(example.tool):
        return None
    intent = clean_text(example.intent) or f"Use {example.tool}."
    result = clean_text(example.result) or NO_OUTPUT
    return ShownExample(example.id, example.tool, arguments, intent, result)


def opening(block: Block, words: str = OPENING) -> str:
    """The mark, what the block is, and the template's addendum."""
    addendum = clean_text(block.addendum)
    return "\n".join([block.mark, words, *([addendum] if addendum else [])])


def script(block: Block) -> Script:
    """The turns of a block: for each example who asked, the call and its result; at the end the boundary."""
    if isinstance(block, Placebo):
        return _placebo_script(block)
    examples = [one for one in shown(block) if _CALLABLE.match(one.tool)]
    if not examples:
        return Script()
    head = f"{opening(block)}\n\n"
    prefix = f"{CALL_ID_PREFIX}{block.digest}"
    turns: list[BlockTurn] = []
    for number, example in enumerate(examples, start=1):
        call = ShownCall(f"{prefix}_{number}", example.tool, example.arguments)
        asked = head + example.intent if number == 1 else example.intent
        turns += [BlockTurn("user", asked), BlockTurn("assistant", call=call), BlockTurn("tool", example.result, call)]
    turns.append(BlockTurn("assistant", f"{CLOSING}\n{BLOCK_ENDS}"))
    return Script(head, tuple(turns), tuple([example.example_id for example in examples]))


def _placebo_script(block: Placebo) -> Script:
    """Turn for turn as long as the real one; what a call or a result takes around it is made up by words."""
    real = script(block.of).turns if block.of is not None else ()
    if not real or block.of is None:
        return Script()
    head = f"{opening(block, PLACEBO_OPENING)}\n\n"
    last = BlockTurn("assistant", f"{PLACEBO_CLOSING}\n{BLOCK_ENDS}")
    lengths = [_length(turn, block) for turn in real[:-1]]
    spared = block.count(real[-1].text) - block.count(last.text) - block.count(head)
    said = passages(block, lengths, spared)
    said[0] = head + said[0]
    roles: list[Literal["user", "assistant"]] = ["assistant" if turn.role == "assistant" else "user" for turn in real]
    return Script(head, (*map(BlockTurn, roles, said), last))


def _length(turn: BlockTurn, block: Placebo) -> int:
    """How many tokens of words take the place of a turn."""
    if turn.call is None or turn.role == "tool":
        around = RESULT_TOKENS - MESSAGE_TOKENS if turn.role == "tool" else 0
        return around + block.count(turn.text)
    return CALL_TOKENS - MESSAGE_TOKENS + block.count(turn.call.tool) + block.count(turn.call.text)
