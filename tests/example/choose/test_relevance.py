"""BM25 over a few texts, and what counts as a word."""

from __future__ import annotations

from seasoned.example.choose.choice import relevance, words_of


def test_names_are_split_and_empty_words_left_out() -> None:
    assert words_of("Please read the searchFiles of order_items in HTTP2 notes") == (
        *("read", "search", "file", "order", "item", "http2", "note"),
    )
    assert words_of("读取 file") == ("读", "取", "file")


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    first, second, third = relevance("refund the order", ["order refund", "order user", "order note"])
    assert first > second == third > 0


def test_nothing_shared_scores_nothing() -> None:
    assert relevance("b1", ["a1", ""]) == relevance("", ["a1", ""]) == [0.0, 0.0]
    assert relevance("a1", []) == []
