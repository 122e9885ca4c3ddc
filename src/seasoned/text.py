"""Small rules about texts: figures in sentences, and how many tokens a text takes."""

from __future__ import annotations

from functools import lru_cache

from seasoned.lazy_regex import LazyRegex


def plural(count: int, singular: str, plural: str | None = None, *, separator: str = " ") -> str:
    """`1 example`, `36 examples`, `2 entries`, `12 480 calls`; pages pass a no-break space as `separator`."""
    noun = singular if count == 1 else plural or f"{singular}s"
    # Only the commas of the number: a noun may contain one too.
    return f"{count:,} {noun}".replace(",", separator, f"{count:,}".count(","))


def dollars(cost: float | None, *, unknown: str = "–") -> str:
    """`$1.23`, with more digits for small amounts."""
    if cost is None:
        return unknown
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.4f}"


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
