"""BM25: the plain sum and the library agree, and words are words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.choose.ranking import Relevance, words_of

WORD = st.sampled_from(["alpha", "beta", "gamma", "delta", "order", "user", "file", "path", "note"])
TEXTS = st.lists(st.lists(WORD, max_size=12), min_size=1, max_size=20)


def test_names_are_split_and_empty_words_left_out() -> None:
    assert words_of("Please read the searchFiles of order_items in HTTP2 notes") == [
        *("read", "search", "file", "order", "item", "http2", "note"),
    ]
    assert words_of("读取 file") == ["读", "取", "file"]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    relevance = Relevance([["order", "refund"], ["order", "user"], ["order", "note"]])
    first, second, third = relevance.scores(["order", "refund"])
    assert first > second == third > 0


def test_nothing_shared_scores_nothing() -> None:
    assert Relevance([["a1"], []]).scores(["b1"]) == [0.0, 0.0]
    assert Relevance([["a1"], []]).scores([]) == [0.0, 0.0]
    assert Relevance([]).scores(["a1"]) == []


@given(TEXTS, st.lists(WORD, min_size=1, max_size=6, unique=True))
def test_the_plain_sum_is_what_the_library_says(texts: list[list[str]], asked: list[str]) -> None:
    pytest.importorskip("bm25s")
    relevance = Relevance(texts)
    if not any(texts):
        return
    assert relevance._plain(asked) == pytest.approx(relevance._by_library(asked), abs=2e-4)


def test_many_texts_are_scored_by_the_library_to_the_same_figures() -> None:
    pytest.importorskip("bm25s")
    texts = [[f"word{number % 17}", f"word{number % 5}", "all"] for number in range(500)]
    relevance = Relevance(texts)
    assert relevance.scores(["word3", "all"]) == pytest.approx(relevance._plain(["word3", "all"]), abs=2e-4)
