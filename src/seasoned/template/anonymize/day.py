"""Days in the place of other days, written as those were: `20.06.2026`, `2026-06-20`, `the 20th of June 2026`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta

from seasoned.lazy_regex import LazyRegex
from seasoned.template.anonymize.shape import SeededDraw, like_case

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(rf"{month}|{month[:3]}" if month != "may" else "may" for month in _MONTHS)
_NUMBER = r"(?:0?[1-9]|[12]\d|3[01])"
SPOKEN = LazyRegex(
    rf"\b(?:(?P<day>{_NUMBER})(?P<nth>st|nd|rd|th)?(?P<of> of |\. | )(?P<month>{_MONTH})"
    rf"|(?P<month_first>{_MONTH})\.? (?:the )?(?P<day_after>{_NUMBER})(?P<nth_after>st|nd|rd|th)?)"
    r"(?P<year>,? (?:19|20)\d\d)?\b",
    re.IGNORECASE,
)
_SIZE = {"y": 4, "m": 2, "d": 2}


def day_of(text: str, order: str) -> date | None:
    """The day that figures name; `order` is `ymd` or `dmy`."""
    figures = "".join([c for c in text if c.isdigit()])
    at, found = 0, {}
    for part in order:
        found[part] = int(figures[at : at + _SIZE[part]])
        at += _SIZE[part]
    try:
        return date(found["y"], found["m"], found["d"])
    except ValueError:
        return None


def other_day(day: date, seed: str) -> date:
    """A day of the same year, so that a version or a deadline stays about as old as it was."""
    first = date(day.year, 1, 1)
    other = first + timedelta(days=SeededDraw(seed, day.isoformat()).below(365))
    if other == day:
        other = first + timedelta(days=(day - first).days + 1 if day.month < 12 else 0)
    return other


def in_figures(day: date, text: str, order: str) -> str:
    """The day, written as the one in the text."""
    made = iter("".join({"y": f"{day.year:04}", "m": f"{day.month:02}", "d": f"{day.day:02}"}[p] for p in order))
    return "".join([next(made) if c.isdigit() else c for c in text])


def in_words(text: str, days: Mapping[date, date]) -> str:
    """The text with other days where it names those in words; a day without a year is that of any year."""

    def spoken(found: re.Match[str]) -> str:
        number = int(found["day"] or found["day_after"])
        name = found["month"] or found["month_first"]
        month = next(at for at, full in enumerate(_MONTHS, 1) if full.startswith(name.lower()))
        year = int(found["year"][-4:]) if found["year"] else None
        for day, other in days.items():
            if (day.day, day.month) == (number, month) and year in (None, day.year):
                return _spoken(found, other, name)
        return found.group()

    return SPOKEN.compiled.sub(spoken, text) if days else text


def _spoken(found: re.Match[str], day: date, name: str) -> str:
    full = _MONTHS[day.month - 1]
    month = like_case(full if len(name) > 3 or name.lower() == "may" else full[:3], name)
    nth = found["nth"] or found["nth_after"]
    number = f"{day.day}{_nth(day.day) if nth else ''}"
    year = f"{found['year'][:-4]}{day.year}" if found["year"] else ""
    if found["day"]:
        return f"{number}{found['of']}{month}{year}"
    between = found.group()[len(name) : found.start("day_after") - found.start()]
    return f"{month}{between}{number}{year}"


def _nth(number: int) -> str:
    return "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
