"""Shapes: how a value is written, and stand-ins that are written the same way."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.template.anonymize.shape import (
    SeededDraw,
    is_hex,
    is_placeholder,
    like_case,
    like_digits,
    like_hex,
    like_random,
    like_uuid,
    looks_random,
    shape,
)
from tests.each_case import each_case

UUIDS = st.uuids().map(str)
HEXES = st.text("0123456789abcdef", min_size=7, max_size=64).filter(is_hex)
DRAWN = st.text(string.ascii_letters + string.digits, min_size=12, max_size=60).filter(looks_random)
SEEDS = st.text(max_size=8)


@each_case(
    ("text", "expected"),
    [
        ("#W0052025", "#A0000000"),
        ("ws/notes.txt", "a/a.a"),
        ("src/noteBook.md", "a/aAa.a"),
        ("HTTPServer", "AAa"),
        ("credit_card_8105988", "a_a_0000000"),
        ("2026-02-11T10:00Z", "0000-00-00A00:00A"),
        ("febabe6a", "h8"),
        ("0xb0060d1", "0xh7"),
        ("44c2ef6f-16fe-461e-b63e-3880d8fb7dd4", "uuid"),
        ("Müller", "Aa"),
        ("[redacted:email:0123abcd]", "a@a.a"),
        ("", ""),
    ],
)
def test_a_shape_says_how_a_value_is_written(text: str, expected: str) -> None:
    assert shape(text) == expected


@given(st.text(max_size=80))
def test_every_text_has_a_shape(text: str) -> None:
    assert shape(text) == shape(text)
    assert bool(shape(text)) == bool(text)


@given(st.text(string.digits, min_size=2, max_size=20), SEEDS)
def test_figures_stay_as_many_figures_and_change(text: str, seed: str) -> None:
    made = like_digits(text, SeededDraw(seed, text))
    assert made.isdigit() and len(made) == len(text)
    assert made != text or not text.strip("0")
    assert len(made) - len(made.lstrip("0")) == len(text) - len(text.lstrip("0"))


@given(HEXES, SEEDS)
def test_a_digest_stays_a_digest_of_its_length(text: str, seed: str) -> None:
    made = like_hex(text, SeededDraw(seed, text))
    assert shape(made) == shape(text) and made != text
    assert is_placeholder(made)


@given(UUIDS, SEEDS)
def test_a_uuid_stays_a_uuid_of_its_version(text: str, seed: str) -> None:
    made = like_uuid(text, SeededDraw(seed, text))
    assert shape(made) == "uuid" and made[14] == text[14] and made[19] == text[19]
    assert is_placeholder(made)


@given(DRAWN, SEEDS)
def test_a_drawn_word_keeps_the_class_of_every_sign(text: str, seed: str) -> None:
    made = like_random(text, SeededDraw(seed, text))
    assert made != text and is_placeholder(made)
    for mine, theirs in zip(made, text, strict=True):
        assert (mine.isdigit(), mine.islower(), mine.isupper()) == (
            theirs.isdigit(),
            theirs.islower(),
            theirs.isupper(),
        )


def test_hardly_any_foreign_word_carries_the_seal() -> None:
    draw = SeededDraw("foreign")
    words = [
        "".join(string.ascii_lowercase[draw.below(26)] + string.digits[draw.below(10)] for _ in range(12))
        for _ in range(2000)
    ]
    assert sum(map(is_placeholder, words)) <= 1


@pytest.mark.parametrize(
    "text", ["5XJAqKPKGtzrXUZ3UhthJM", "kwLOQKaWqM8AAAAEbIOonA", "9f8e7d6c5b4a3210ffee", "a1b2c3d4e5f6g7h8"]
)
def test_ids_look_drawn(text: str) -> None:
    assert looks_random(text)


@each_case(
    "text",
    [
        "TestGetGitAuthorFromRepo",
        "manualcommitattribution",
        "20260205120000",
        "HTTPSProxyURLForV2API",
        "x86",
        "aaaaaaaaaaaaaaaa",
    ],
)
def test_words_do_not_look_drawn(text: str) -> None:
    assert not looks_random(text)


def test_a_word_takes_the_case_of_another() -> None:
    assert [like_case("mira", text) for text in ("chen", "Chen", "CHEN")] == ["mira", "Mira", "MIRA"]
