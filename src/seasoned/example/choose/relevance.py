"""How much texts have to do with a task, by the words that they share with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex

_K1, _B = 1.5, 0.75
# Only the first words of a task are used: they say what it is about.
_LONGEST_TASK = 64
_READ = 4000
_WORD = LazyRegex(r"[぀-ヿ㐀-鿿가-힣]|[^\W_]+")
_HUMP = LazyRegex(r"(?<=[a-z0-9])(?=[A-Z])")
_EMPTY = names(
    "a an and are as at be but by can could do does for from has have how i if in into is it its let me my no not of on"
    " or our please should so some that the their them then there these they this those to us use using was we were"
    " what when where which who will with would you your"
)
_STEM = 6
# Scores are rounded, so that the last bit of a float does not decide.
_DECIMALS = 4


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """The stems of the words of a text in order, without stop words; names are split at capitals and underscores."""
    found = []
    for word in _WORD.compiled.findall(_HUMP.compiled.sub(" ", text[:_READ])):
        lowered = word.casefold()
        if lowered in _EMPTY or (len(lowered) < 2 and lowered.isascii()):
            continue
        # The plural of a word is the same word, and `departs` is about `departures`.
        found.append(
            (lowered[:-1] if len(lowered) > 3 and lowered[-1] == "s" and lowered[-2] != "s" else lowered)[:_STEM]
        )
    return tuple(found)


def relevance(task: str, texts: Sequence[str]) -> list[float]:
    """A score for each text, in their order; 0 where it shares no word with the task.

    BM25 in Lucene's form: Σ idf(w) · tf / (tf + k1 · (1 − b + b · length / mean length)) over the shared words w, with
    idf(w) = ln(1 + (N − n + 0.5) / (n + 0.5)) for a word in n of N texts (Robertson & Zaragoza 2009).
    """
    counts = [Counter(words_of(text)) for text in texts]
    lengths = [one.total() for one in counts]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    scores = [0.0] * len(texts)
    for word in list(dict.fromkeys(words_of(task)))[:_LONGEST_TASK]:
        holding = [at for at, one in enumerate(counts) if word in one]
        rarity = math.log(1 + (len(counts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for at in holding:
            times = counts[at][word]
            scores[at] += rarity * times / (times + _K1 * (1 - _B + _B * lengths[at] / mean))
    return [round(score, _DECIMALS) for score in scores]
