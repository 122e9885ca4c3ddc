"""Figures in sentences."""

from __future__ import annotations

from seasoned.text import dollars, plural


def test_a_count_and_its_noun_agree() -> None:
    assert [plural(count, "example") for count in (0, 1, 2)] == ["0 examples", "1 example", "2 examples"]
    assert plural(2, "entry", "entries") == "2 entries"
    assert plural(1, "entry", "entries") == "1 entry"
    assert plural(1_234_567, "call, judged", "calls, judged") == "1 234 567 calls, judged"
    assert plural(12_480, "call", separator="\N{NARROW NO-BREAK SPACE}") == "12\N{NARROW NO-BREAK SPACE}480 calls"


def test_small_amounts_keep_their_digits_and_unknown_ones_are_no_zero() -> None:
    assert [dollars(cost) for cost in (0.0, 0.0042, 0.1, 1234.5)] == ["$0.00", "$0.0042", "$0.10", "$1,234.50"]
    assert (dollars(None), dollars(None, unknown="unknown")) == ("–", "unknown")
