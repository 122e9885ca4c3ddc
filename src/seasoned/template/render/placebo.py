"""The placebo of a block: as long, as many turns, and nothing in it that a session could use for a call.

An experiment that compares a warm start with nothing cannot say whether the knowledge helped, or merely a longer
context that begins with talk. So the placebo keeps the mark, the boundary, the number, order and length of the turns,
and replaces what they say by plain words about a landscape. It holds no calls, on purpose. A call of an invented tool
teaches a session to call what it does not have; a call of a real tool with other arguments teaches a wrong way of
writing them. Both do harm, and against a harmful placebo everything looks good. So a turn that held a call is a turn of
words, and a result is words of the other side. What a placebo cannot separate is the sight of well-formed calls as
such: for that, compare with examples of other tools that the session has.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from hashlib import blake2b

from seasoned.template.block import Block
from seasoned.template.example import digest
from seasoned.template.render.tokens import count_tokens

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
_SENTENCE_WORDS = 9


class Placebo(Block, frozen=True):
    """A block that shows the shape of another one."""

    of: Block | None = None
    count: Count = count_tokens

    @property
    def digest(self) -> str:
        """Another digest than that of the block it replaces, so that the two are never confused."""
        return digest("placebo", self.of.digest if self.of is not None else "")


def placebo(block: Block, *, count: Count = count_tokens) -> Placebo:
    """The placebo of a block, equal in length by `count`, best the tokenizer of the model.

    By the estimate alone it is up to a quarter longer for a model: calls are estimated too high, plain words are not.
    """
    version = block.template.rpartition("@")[2]
    return Placebo(template=f"placebo@{version}", examples=(), of=block, count=count)


def passages(block: Placebo, lengths: Sequence[int], spared: int = 0) -> list[str]:
    """A passage for each length; what one lacks is added to the next, so that the sum agrees."""
    words = words_apart(block.of) if block.of is not None else _WORDS
    found = []
    owed = spared
    for number, length in enumerate(lengths):
        owed += length
        found.append(passage(owed, f"{block.digest} {number}", words=words, count=block.count))
        owed -= block.count(found[-1])
    return found


def words_apart(block: Block) -> tuple[str, ...]:
    """The words of a placebo that do not occur in the block it replaces."""
    said = [text for one in block.examples for text in (one.tool, one.arguments, one.intent, one.result)]
    said += [text for note in block.notes for text in (note.tool, note.text)]
    whole = "\n".join(said).lower()
    return tuple([word for word in _WORDS if word not in whole]) or ("river",)


def passage(tokens: int, seed: str, *, words: tuple[str, ...], count: Count = count_tokens) -> str:
    """The longest text of at most so many tokens, one word at least; the same for the same seed."""
    # No piece is less than a token, so there is no need for more pieces than tokens.
    pieces = [_piece(words, seed, number) for number in range(max(tokens, 1))]
    fits = bisect_right(range(1, len(pieces) + 1), tokens, key=lambda number: count("".join(pieces[:number])))
    return "".join(pieces[: max(fits, 1)])


def _piece(words: tuple[str, ...], seed: str, number: int) -> str:
    if number % _SENTENCE_WORDS == _SENTENCE_WORDS - 1:
        return "."
    word = _word(words, seed, number)
    return f" {word}" if number else word


def _word(words: tuple[str, ...], seed: str, number: int) -> str:
    drawn = blake2b(f"{seed}\0{number}".encode("utf-8", "replace"), digest_size=4).digest()
    return words[int.from_bytes(drawn, "big") % len(words)]
