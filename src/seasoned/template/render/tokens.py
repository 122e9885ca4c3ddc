"""How many tokens a text has, estimated without a tokenizer: equal on every machine, and seldom too low.

Each model has its tokenizer, and none is part of the thin core. What they share is enough for a budget: common
words are one token, long and odd ones are several, digits go alone or in threes, signs in ones and twos, and letters
outside ASCII by their bytes. The shares were fitted to the tokenizers of several model families; how far the estimate
lies from each of them is a table in its test.
"""

from __future__ import annotations

from functools import lru_cache

from seasoned.lazy_regex import LazyRegex

# What a chat format puts around one message: role, start and end.
MESSAGE_TOKENS = 5
# What it puts around a call: the message, tags, and the words for name and arguments.
CALL_TOKENS = 16
RESULT_TOKENS = 8

_SHORT_CHARS = 1000
_TOKEN = LazyRegex(
    r" ?[A-Z][a-z]{1,6}(?![a-z])"  # a word of up to seven letters
    r"|(?: |(?<![A-Za-z]))[a-z]{1,7}(?![a-z])"
    r"| ?[A-Z]?[a-z]{1,4}"  # four letters of a longer one
    r"| ?[A-Z]{1,2}"
    r"|(?<![0-9])[0-9]|[0-9]{1,2}"  # between one digit and three a token
    r"|[!-/:-@\[-`{-~]{1,2}"
    r"|\s{2,}|[^\S ]"  # a single space belongs to what follows it
    r"|[^ -~]"
)
_WIDE = LazyRegex("[\u0800-\uffff]")
_WIDEST = LazyRegex("[\U00010000-\U0010ffff]")


def count_tokens(text: str) -> int:
    """An estimate that is the same in every process."""
    return _remembered(text) if len(text) <= _SHORT_CHARS else _count(text)


def _count(text: str) -> int:
    tokens = len(_TOKEN.compiled.findall(text))
    if text.isascii():
        return tokens
    # Letters outside ASCII are a token at most; of three bytes one and a half, of four (emoji) three.
    return tokens + -(-len(_WIDE.compiled.findall(text)) // 2) + 2 * len(_WIDEST.compiled.findall(text))


# The same examples are weighed for every session.
_remembered = lru_cache(maxsize=8192)(_count)
