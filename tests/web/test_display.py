"""Texts as a person sees them: nothing is lost, and nothing is hidden."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.web.display import line, marked, span
from tests.each_case import each_case

_MARK = re.compile(r'<mark title="[^"<>]*">U\+([0-9A-F]{4,6})</mark>')


@given(st.text())
def test_a_marked_text_is_the_text(text: str) -> None:
    back = _MARK.sub(lambda found: f"&#x{found[1]};", str(marked(text)))
    pieces = [chr(int(found[3:-1], 16)) if found.startswith("&#x") else html.unescape(found) for found in _split(back)]
    assert "".join(pieces) == text


def _split(text: str) -> list[str]:
    return re.findall(r"&#x[0-9A-F]{4,6};|&(?:amp|lt|gt|#34|#39);|.", text, re.DOTALL)


@given(st.text())
def test_nothing_of_it_is_markup_but_the_marks(text: str) -> None:
    assert not set(_MARK.sub("", str(marked(text)))) & set("<>\"'")


@each_case("char", list("\u200b\u200d\u202e\u2066\ufeff\u00a0\u3164\u2800\ufe0f\x00\x1b\t\r\u2028"))
def test_what_cannot_be_seen_is_written_out(char: str) -> None:
    assert f"U+{ord(char):04X}</mark>" in marked(f"a{char}b")


@pytest.mark.parametrize("text", ["Grüße, 東京", "line\nbreak", "e\u0301", "🙂"])
def test_what_can_be_seen_is_left_alone(text: str) -> None:
    assert marked(text) == text


def test_a_line_is_short_and_one() -> None:
    assert "\n" not in line("a\n\nb " * 900)
    assert len(line("a\n\nb " * 900)) <= 140


@pytest.mark.parametrize(
    ("seconds", "words"), [(-1, "0 s"), (59.9, "59 s"), (245, "4 min 05 s"), (12_000, "3 h 20 min"), (200_000, "2 d")]
)
def test_a_span_has_the_units_that_matter(seconds: float, words: str) -> None:
    assert span(seconds) == words
