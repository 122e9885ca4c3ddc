"""When a job runs: parses schedules and computes the times that follow. cronsim handles cron expressions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from seasoned.errors import UsageError
from seasoned.schedule.job import At, Cron, Every, Job, Schedule, check_job

SHOWN_TIMES = 5
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WORDS = {"second": "s", "sec": "s", "minute": "m", "min": "m", "hour": "h", "hr": "h", "day": "d", "week": "w"}
_PART = re.compile(r"(\d*)\s*([a-z]+)\s*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_EXAMPLES = "'*/5 * * * *', 'every 30m', 'in 2h' or '2030-12-24 18:00'"
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
# Ten years.
_LONGEST_SECONDS = 3660 * 86_400


def parse_schedule(text: str, *, zone: str = "UTC", now: float) -> Schedule:
    """The schedule in a text, checked: a cron expression, an interval, a span from now, or a date."""
    words = " ".join(text.split())
    lower = words.lower()
    if lower.startswith("every "):
        return _checked(Every(_parse_span(lower.removeprefix("every "), text)), zone=zone, now=now)
    if lower.startswith("in "):
        return _checked(At(math.floor(now) + _parse_span(lower.removeprefix("in "), text)), zone=zone, now=now)
    if _DATE.match(words):
        return _checked(At(_parse_date(words, zone)), zone=zone, now=now)
    expression = _ALIASES.get(lower, words)
    if len(expression.split()) != 5:
        raise UsageError(f"{text!r} is not a valid schedule. Examples: {_EXAMPLES}.")
    return _checked(Cron(expression), zone=zone, now=now)


def check_times(job: Job, *, now: float) -> Job:
    """The same job, if it is valid and will run at least once from now on; else UsageError."""
    check_job(job)
    _checked(job.schedule, zone=job.zone, now=now, created_at=job.created_at)
    return job


def next_times(job: Job, after: float, n: int = SHOWN_TIMES) -> list[float]:
    """The next times of a job, at most `n` of them, without jitter."""
    return list(islice(times(job.schedule, job.zone, job.created_at, after), n))


def times(schedule: Schedule, zone: str, created_at: float, after: float) -> Iterator[float]:
    """All times of a schedule later than `after`, each once and in order."""
    if isinstance(schedule, At):
        if schedule.time > after:
            yield float(schedule.time)
    elif isinstance(schedule, Every):
        start = math.floor(created_at)
        number = max(1, math.floor((after - start) / schedule.seconds) + 1)
        while True:
            yield float(start + number * schedule.seconds)
            number += 1
    else:
        yield from _cron_times(schedule.expression, zone, after)


def local(time: float, zone: str) -> datetime:
    """A moment as the clocks of a zone show it."""
    return datetime.fromtimestamp(time, find_zone(zone))


def in_words(schedule: Schedule, zone: str = "UTC") -> str:
    """The schedule as a person would write it; `parse_schedule` reads it again."""
    if isinstance(schedule, Cron):
        return schedule.expression
    if isinstance(schedule, At):
        return local(schedule.time, zone).isoformat(sep=" ")
    return f"every {_parts(schedule.seconds)}"


def _parts(seconds: int) -> str:
    parts = []
    for unit in ("w", "d", "h", "m", "s"):
        count, seconds = divmod(seconds, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"


@lru_cache(maxsize=256)
def find_zone(name: str) -> ZoneInfo:
    """The time zone of this name."""
    # A name is also a path for zoneinfo: nothing but known names reaches it.
    try:
        if name in _zone_names():
            return ZoneInfo(name)
    except (OSError, ValueError) as error:
        raise UsageError(f"the time zone {name!r} cannot be read ({error}): choose another one.") from error
    near = sorted(known for known in _zone_names() if name and name.lower() in known.lower())[:3]
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "write it like 'Europe/Berlin' or 'UTC'."
    raise UsageError(f"unknown time zone {name!r}: {hint}")


@lru_cache(maxsize=1)
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones()) | {"UTC"}


def _cron_times(expression: str, zone: str, after: float) -> Iterator[float]:
    simulated = _simulate(expression, datetime.fromtimestamp(math.floor(after), find_zone(zone)))
    last = after
    for moment in simulated:
        # Where clocks go back, cronsim may name an hour that has passed; where they go forward, one hour twice.
        if (time := moment.timestamp()) > last:
            last = time
            yield time


def _simulate(expression: str, start: datetime) -> Iterator[datetime]:
    try:
        return CronSim(expression, start)
    except CronSimError as error:
        raise UsageError(
            f"{expression!r} is not a valid cron expression ({error}). The five fields are minute, hour, day of month, "
            "month, day of week, as in '30 2 * * 1-5'."
        ) from error


def _checked(schedule: Schedule, *, zone: str, now: float, created_at: float | None = None) -> Schedule:
    find_zone(zone)
    if isinstance(schedule, Every) and not 1 <= schedule.seconds <= _LONGEST_SECONDS:
        raise UsageError(f"an interval must be between 1 second and 10 years, not {schedule.seconds!r} seconds.")
    if isinstance(schedule, At):
        if not math.isfinite(schedule.time) or schedule.time > now + 10 * _LONGEST_SECONDS:
            raise UsageError(f"{schedule.time!r} is not within the next hundred years. Give an earlier date.")
        if schedule.time <= now:
            past, present = (local(time, zone).isoformat(sep=" ", timespec="minutes") for time in (schedule.time, now))
            raise UsageError(f"{past!r} is in the past; it is {present!r} in {zone}. Give a future date.")
    if next(times(schedule, zone, now if created_at is None else created_at, now), None) is None:
        assert isinstance(schedule, Cron)  # the others were checked above
        raise UsageError(f"{schedule.expression!r} never matches in fifty years. Check its days and months.")
    return schedule


def _parse_span(words: str, text: str) -> int:
    seconds, end = 0, 0
    for match in _PART.finditer(words):
        unit = match[2] if match[2] in _UNITS else _WORDS.get(match[2].removesuffix("s"))
        # Longer numbers are beyond every limit, and Python refuses to convert very long ones.
        if unit is None or match.start() != end or len(match[1]) > 12:
            break
        seconds, end = seconds + int(match[1] or 1) * _UNITS[unit], match.end()
    if end != len(words) or not seconds:
        raise UsageError(f"{text!r} is not a valid duration. Write it like '30m', '2h' or '1d 12h'.")
    return seconds


def _parse_date(words: str, zone: str) -> float:
    where = find_zone(zone)
    try:
        found = datetime.fromisoformat(words)
    except ValueError as error:
        raise UsageError(f"{words!r} is not a valid date and time. Write it like '2030-12-24 18:00'.") from error
    if found.tzinfo is not None:
        return math.floor(found.timestamp())
    # `fold` is 0: a time that occurs twice means the first, and one that is left out is as much later.
    return math.floor(found.replace(tzinfo=where).timestamp())
