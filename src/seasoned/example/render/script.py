"""The script of a block: its turns, cleaned and in order, before a format writes them; and its placebo."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Any, Literal

import msgspec

from seasoned.digest import short_digest
from seasoned.example.block import Block, Form, canonical, clean_arguments, clean_text
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
