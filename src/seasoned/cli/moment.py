"""Times as people write them: `yesterday`, `monday`, `3 days ago`, `last month`, `2026-11-05`, `2026-11-05 14:30`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_AGO = re.compile(r"(\d{1,5}) ?(hour|h|day|d|week|w)s?(?: ago)?")
_DAY = timedelta(days=1)
_EXAMPLES = "yesterday, monday, last week, 3 days ago, 2026-11-05"


def span_of(text: str, now: datetime) -> tuple[datetime, datetime]:
    """The beginning and the end of the time that a text names, seen from now; ValueError if it names none."""
    said = " ".join(text.lower().split())
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said in ("today", "yesterday"):
        start = today if said == "today" else today - _DAY
        return start, start + _DAY
    if said.removeprefix("last ") in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS.index(said.removeprefix("last "))) % 7
        # On a Monday, `monday` is today, and `last monday` a week ago.
        start = today - (back or (7 if said.startswith("last ") else 0)) * _DAY
        return start, start + _DAY
    if said in ("this week", "last week"):
        start = today - (today.weekday() + (7 if said == "last week" else 0)) * _DAY
        return start, start + 7 * _DAY
    if said in ("this month", "last month"):
        start = today.replace(day=1)
        return _month(start if said == "this month" else start - _DAY)
    if (ago := _AGO.fullmatch(said)) is not None:
        count, unit = int(ago[1]), ago[2][0]
        if unit == "h":
            return now - timedelta(hours=count), now
        start = today - count * (7 if unit == "w" else 1) * _DAY
        return start, start + _DAY
    if re.fullmatch(r"\d{4}-\d\d", said):
        return _month(datetime.fromisoformat(f"{said}-01"))
    start = datetime.fromisoformat(said)
    return start, start + (_DAY if len(said) == len("2026-11-05") else timedelta())


def _month(day: datetime) -> tuple[datetime, datetime]:
    """The month of a day."""
    start = day.replace(day=1)
    return start, (start + 31 * _DAY).replace(day=1)


class Moment(click.ParamType[float]):
    """A time as seconds since 1970: when what the text names begins or, with `is_end`, when it ends."""

    name = "when"

    def __init__(self, *, is_end: bool = False) -> None:
        self._is_end = is_end

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            # Without a zone: `timestamp` takes it for a time here, also across the change to summer time.
            return span_of(str(value), datetime.now())[self._is_end].timestamp()
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time. Write one like these: {_EXAMPLES}.", param, ctx)


since_option = click.option(
    "--since", type=Moment(), metavar="WHEN", help='Only since then: yesterday, "last week", "3 days ago", 2026-11-05.'
)
until_option = click.option("--until", type=Moment(is_end=True), metavar="WHEN", help="Only up to the end of then.")
