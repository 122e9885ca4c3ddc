"""How much texts have to do with a task's words: BM25 in Lucene's form.

A text scores Σ idf(w) · tf / (tf + k1 · (1 − b + b · length / mean length)) over the words w that it shares with the
task, with idf(w) = ln(1 + (N − n + 0.5) / (n + 0.5)) for a word that n of N texts hold (Robertson & Zaragoza 2009;
Kamphuis et al. 2020 for the form). Many texts are scored by bm25s (Lù 2024) on numpy. For a few, importing numpy would
take longer than the answer, so they are scored in plain Python, to the same figures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex

_K1, _B = 1.5, 0.75
# Up to so many texts, plain Python is faster than importing numpy.
_FEW = 200
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
# Scores are rounded, so that the last bit of a float does not decide.
DECIMALS = 4


def words_of(text: str) -> list[str]:
    """The words of a text in order: lower case, names split at humps and underscores, without empty words."""
    found = []
    for word in _WORD.compiled.findall(_HUMP.compiled.sub(" ", text[:_READ])):
        lowered = word.casefold()
        if lowered in _EMPTY or (len(lowered) < 2 and lowered.isascii()):
            continue
        # The plural of a word is the same word.
        found.append(lowered[:-1] if len(lowered) > 3 and lowered[-1] == "s" and lowered[-2] != "s" else lowered)
    return found


class Relevance:
    """An index of texts for scoring."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        self._documents = list(documents)

    def scores(self, words: Sequence[str]) -> list[float]:
        """One score for each text, in their order; all zero where nothing is shared."""
        asked = list(dict.fromkeys(words))[:_LONGEST_TASK]
        if not asked or not self._documents:
            return [0.0] * len(self._documents)
        if len(self._documents) <= _FEW or not _has_library():
            return self._plain(asked)
        return self._by_library(asked)

    def _plain(self, asked: list[str]) -> list[float]:
        counts, mean = self._counts, self._mean
        scores = [0.0] * len(counts)
        for word in asked:
            holding = self._holding.get(word, ())
            rarity = math.log(1 + (len(counts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for at in holding:
                times = counts[at][word]
                length = len(self._documents[at]) / mean
                scores[at] += rarity * times / (times + _K1 * (1 - _B + _B * length))
        return [round(score, DECIMALS) for score in scores]

    def _by_library(self, asked: list[str]) -> list[float]:
        known = [self._numbers[word] for word in asked if word in self._numbers]
        if not known:
            return [0.0] * len(self._documents)
        found: list[float] = self._library.get_scores_from_ids(known).round(DECIMALS).tolist()
        return found

    @cached_property
    def _counts(self) -> list[Counter[str]]:
        return [Counter(words) for words in self._documents]

    @cached_property
    def _mean(self) -> float:
        return sum(map(len, self._documents)) / len(self._documents) or 1.0

    @cached_property
    def _holding(self) -> dict[str, list[int]]:
        holding: dict[str, list[int]] = {}
        for at, counts in enumerate(self._counts):
            for word in counts:
                holding.setdefault(word, []).append(at)
        return holding

    @cached_property
    def _numbers(self) -> dict[str, int]:
        # Numbered in order of appearance: the library would number them in the order of a set, which varies.
        numbers: dict[str, int] = {}
        for words in self._documents:
            for word in words:
                numbers.setdefault(word, len(numbers))
        return numbers

    @cached_property
    def _library(self) -> Any:
        import logging

        import bm25s  # type: ignore[import-untyped]  # it carries no types

        # Otherwise it writes into the log of every program that uses it.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        numbers = self._numbers
        index = bm25s.BM25(k1=_K1, b=_B, method="lucene", dtype="float64")
        documents = [[numbers[word] for word in words] for words in self._documents]
        index.index((documents, dict(numbers)), show_progress=False)
        return index


@cache
def _has_library() -> bool:
    return find_spec("bm25s") is not None
