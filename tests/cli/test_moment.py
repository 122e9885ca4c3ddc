"""Times as people write them."""

from __future__ import annotations

from datetime import datetime

import pytest

from seasoned.cli.options import span_of
from tests.cli.run import seasoned

NOW = datetime(2026, 11, 19, 14, 30)  # a Thursday


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("today", "2026-11-19", "2026-11-20"),
        ("Yesterday", "2026-11-18", "2026-11-19"),
        ("monday", "2026-11-16", "2026-11-17"),
        ("thursday", "2026-11-19", "2026-11-20"),
        ("last thursday", "2026-11-12", "2026-11-13"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last  month", "2026-10-01", "2026-11-01"),
        ("2026-02", "2026-02-01", "2026-03-01"),
        ("3 days ago", "2026-11-16", "2026-11-17"),
        ("7d", "2026-11-12", "2026-11-13"),
        ("2 weeks ago", "2026-11-05", "2026-11-06"),
        ("2 hours ago", "2026-11-19 12:30", "2026-11-19 14:30"),
        ("2026-11-05", "2026-11-05", "2026-11-06"),
        ("2026-11-05 08:15", "2026-11-05 08:15", "2026-11-05 08:15"),
    ],
)
def test_a_time_is_what_a_person_means(text: str, start: str, end: str) -> None:
    assert span_of(text, NOW) == (datetime.fromisoformat(start), datetime.fromisoformat(end))


def test_what_is_no_time_is_refused_with_examples(home: object) -> None:
    said = seasoned("search", "x", "--since", "2026-13-40", expect=2).stderr
    assert "is not a time. Write one like these: yesterday, monday, last week" in " ".join(said.split())
