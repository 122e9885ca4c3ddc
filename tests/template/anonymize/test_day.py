"""Days in the place of other days, in figures and in words."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.template.anonymize.call import anonymize
from seasoned.template.anonymize.shape import date_in_digits, day_of, other_day, replace_spoken_dates, shape
from seasoned.template.anonymize.words import Vocabulary
from tests.each_case import each_case

DAYS = st.dates(date(1990, 1, 1), date(2060, 12, 31))


@given(DAYS, st.text(max_size=8))
def test_another_day_is_of_the_same_year(day: date, seed: str) -> None:
    other = other_day(day, seed)
    assert other != day and other.year == day.year


@pytest.mark.parametrize(
    ("text", "order"), [("2026-02-11", "ymd"), ("20260205", "ymd"), ("11.02.2026", "dmy"), ("2024/02/29", "ymd")]
)
def test_a_day_is_written_as_the_one_it_stands_for(text: str, order: str) -> None:
    day = day_of(text, order)
    assert day is not None
    made = date_in_digits(other_day(day, "seed"), text, order)
    assert shape(made) == shape(text) and made != text
    assert day_of(made, order) == other_day(day, "seed")


def test_what_is_no_day_is_none() -> None:
    assert day_of("2026-02-30", "ymd") is None


@each_case(
    ("said", "becomes"),
    [
        ("until 20 June 2026", "until 3 September 2026"),
        ("the 20th of June 2026", "the 3rd of September 2026"),
        ("June 20, 2026", "September 3, 2026"),
        ("on jun 20th", "on sep 3rd"),
        ("JUNE the 20th", "SEPTEMBER the 3rd"),
        ("20. June", "3. September"),
        ("21 June 2026, June 20 2025, 20 Junes", "21 June 2026, June 20 2025, 20 Junes"),
        ("you may 20 times", "you may 20 times"),
    ],
)
def test_a_day_in_words_becomes_the_same_other_day(said: str, becomes: str) -> None:
    assert replace_spoken_dates(said, {date(2026, 6, 20): date(2026, 9, 3)}) == becomes


def test_a_call_and_the_words_before_it_name_the_same_day() -> None:
    bound = anonymize({"until": "20.06.2026"}, "", "Till the 20th of June 2026.", vocabulary=Vocabulary(), seed="s")
    day = day_of(bound.arguments["until"], "dmy")
    assert day is not None and day != date(2026, 6, 20)
    assert str(day.day) in bound.intent and f"{day:%B}" in bound.intent and "20th" not in bound.intent


def test_zeros_in_front_stay_and_the_bare_number_becomes_the_same() -> None:
    bound = anonymize({"parcel": "KL-000008"}, "", "KL parcel 8, printed KL-000008", vocabulary=Vocabulary(), seed="s")
    written = bound.arguments["parcel"]
    assert written.startswith("KL-00000") and written != "KL-000008"
    assert bound.intent == f"KL parcel {int(written[3:])}, printed {written}"
