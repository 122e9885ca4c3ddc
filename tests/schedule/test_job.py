"""A job is checked when it is made: every wrong field is refused with one clear sentence."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.schedule.job import At, Cron, Every, Schedule, Slot, check_job
from seasoned.schedule.times import in_words, parse_schedule, times
from tests.each_case import each_case
from tests.schedule.made import START, at, job, shown


def test_a_right_job_is_left_as_it_is() -> None:
    one = job(script="gate.sh", skills=("a",), delivery=("stdout", "file:/tmp/x", "telegram"))
    assert check_job(one) is one


@each_case(
    ("fields", "words"),
    [
        ({"name": ""}, "a job name has"),
        ({"name": "a\nb"}, "a job name has"),
        ({"name": "x" * 81}, "a job name has"),
        ({"id": "../up"}, "a job id may contain"),
        ({"prompt": " "}, "nothing to do"),
        ({"prompt": "a\0b"}, "cannot be stored"),
        ({"prompt": "half \ud800"}, "cannot be stored"),
        ({"delivery": ("carrier-pigeon",)}, "is not a valid delivery"),
        ({"delivery": ("stdout:x",)}, "Write 'stdout' only"),
        ({"delivery": ("file",)}, "needs an address"),
        ({"repeat": 0}, "repeat of the job 'one' must be between 1"),
        ({"timeout_seconds": 0}, "timeout_seconds of the job"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds of the job"),
    ],
)
def test_a_wrong_field_is_refused_with_a_sentence_that_names_it(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_job(job(**fields))
    assert words in str(refused.value)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


def test_the_session_of_a_run_is_named_by_job_and_time() -> None:
    assert Slot("ab", 1_800_000_000.0).session_id == "cron_ab_1800000000"
    assert Slot("ab", 1_800_000_000.25).session_id == "cron_ab_1800000000_250"


DAYS = [
    # zone, the day before the change, what half past two is on the day
    ("Europe/Berlin", "2026-03-28", "2026-03-29 03:00+02:00"),
    ("Europe/Berlin", "2026-10-24", "2026-10-25 02:30+02:00"),
    ("Australia/Lord_Howe", "2026-10-03", "2026-10-04 02:30+11:00"),
]


def next_five(expression: str, after: str, zone: str = "UTC") -> list[str]:
    return shown(zone, list(islice(times(Cron(expression), zone, START, at(zone, after)), 5)))


@each_case(("zone", "before", "expected"), DAYS)
def test_a_daily_job_at_half_past_two_runs_once_on_the_day_the_clocks_change(
    zone: str, before: str, expected: str
) -> None:
    found = next_five("30 2 * * *", f"{before} 12:00", zone)
    assert found[0] == expected
    assert len({one[:10] for one in found}) == 5, "once a day"
    assert [one[11:16] for one in found[1:]] == ["02:30"] * 4


@each_case(("zone", "before", "expected"), DAYS)
def test_a_scheduler_that_starts_at_any_minute_of_that_day_finds_the_slot_once(
    zone: str, before: str, expected: str
) -> None:
    """Whoever asks from minute to minute must neither miss it nor be told it a second time."""
    start = at(zone, f"{before} 23:00")
    found = set()
    for minute in range(27 * 60):
        slot = next(times(Cron("30 2 * * *"), zone, START, start + 60 * minute))
        assert slot > start + 60 * minute
        found.add(slot)
    on_the_day = [one for one in shown(zone, sorted(found)) if one.startswith(expected[:10])]
    assert on_the_day == [expected]


@each_case(
    ("zone", "after", "expression", "expected"),
    [
        # An hour that comes twice: a job of a fixed hour runs in the first one, an hourly one in both.
        ("Europe/Berlin", "2026-10-25 01:30", "15 * * * *", ["02:15+02:00", "02:15+01:00", "03:15+01:00"]),
        ("Europe/Berlin", "2026-10-25 01:30", "15 1-3 * * *", ["02:15+02:00", "03:15+01:00"]),
        # An hour that is missing: its fixed times move to the first minute that exists, together, and once.
        ("Europe/Berlin", "2026-03-29 01:45", "0,30 2,3 * * *", ["03:00+02:00", "03:30+02:00"]),
        ("Europe/Berlin", "2026-03-29 00:30", "15 * * * *", ["01:15+01:00", "03:15+02:00"]),
    ],
)
def test_hours_that_come_twice_or_not_at_all(zone: str, after: str, expression: str, expected: list[str]) -> None:
    found = [one[11:] for one in next_five(expression, after, zone) if one[:10] == after[:10]]
    assert found[: len(expected)] == expected
    assert len(set(found)) == len(found)


_PART = st.sampled_from(["*", "*/2", "*/7", "1", "5", "1-5", "2-6/2", "0,3"])
_DAY = st.sampled_from(["*", "1", "15", "31", "L", "LW", "1-7", "*/10"])
_WEEKDAY = st.sampled_from(["*", "0", "7", "1-5", "MON", "5L", "2#3"])
_ZONE = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])


@given(_PART, _PART, _DAY, st.sampled_from(["*", "1", "2", "*/3"]), _WEEKDAY, _ZONE, st.integers(0, 4 * 365 * 1440))
def test_times_are_those_of_cronsim_in_order_and_each_once(
    minute: str, hour: str, day: str, month: str, weekday: str, zone: str, offset: int
) -> None:
    if (day, month) == ("31", "2") and weekday == "*":
        return
    expression, after = f"{minute} {hour} {day} {month} {weekday}", START + 60 * offset
    found = list(islice(times(Cron(expression), zone, START, after), 4))
    simulated = (one.timestamp() for one in CronSim(expression, datetime.fromtimestamp(after, ZoneInfo(zone))))
    expected = sorted({one for one in islice(simulated, 9) if one > after})[:4]
    assert found == expected


@each_case(
    ("text", "expected"),
    [
        ("*/5 * * * *", Cron("*/5 * * * *")),
        ("@daily", Cron("0 0 * * *")),
        ("every 30m", Every(1800)),
        ("Every 1h 30m", Every(5400)),
        ("every 2 hours", Every(7200)),
        ("every day", Every(86_400)),
        ("in 45 minutes", At(START + 2700)),
        ("2027-12-24 18:00", At(at("Europe/Berlin", "2027-12-24 18:00"))),
        # The clocks go forward then: half past two is left out.
        ("2027-03-28 02:30", At(at("Europe/Berlin", "2027-03-28 03:30"))),
        ("2027-12-24T18:00:00+00:00", At(at("UTC", "2027-12-24 18:00"))),
    ],
)
def test_words_become_a_schedule(text: str, expected: Schedule) -> None:
    assert parse_schedule(text, zone="Europe/Berlin", now=START) == expected


@each_case(
    ("text", "words"),
    [
        ("0 0 30 2 *", "is not a valid cron expression (Bad day-of-month)"),
        ("0 0 32 * *", "is not a valid cron expression (Bad day-of-month)"),
        ("61 * * * *", "is not a valid cron expression (Bad minute)"),
        ("* * * * * *", "is not a valid schedule"),
        ("tomorrow", "is not a valid schedule"),
        ("every 0m", "is not a valid duration"),
        ("every 5 fortnights", "is not a valid duration"),
        ("every 99999999999d", "an interval must be between 1 second and 10 years"),
        ("in 999999999999d", "within the next hundred years"),
        ("2020-02-30 10:00", "is not a valid date and time"),
        ("2026-12-24 18:00", "is in the past"),
    ],
)
def test_what_cannot_be_is_refused_with_one_clear_sentence(text: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_schedule(text, zone="Europe/Berlin", now=START)
    assert words in str(refused.value)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)


@each_case("zone", ["Mars/Olympus", "", "../../etc/passwd", "/etc/localtime"])
def test_a_zone_that_does_not_exist_is_refused(zone: str) -> None:
    with pytest.raises(UsageError, match="unknown time zone"):
        parse_schedule("0 9 * * *", zone=zone, now=START)


@given(st.integers(1, 10**6), st.floats(0, 1e7), st.floats(-1e6, 1e7))
def test_an_interval_counts_from_when_the_job_was_made(seconds: int, made: float, ago: float) -> None:
    created, after = START + made, START + made + ago
    first, second = islice(times(Every(seconds), "UTC", created, after), 2)
    assert first > after and first > created - 1 and second - first == seconds
    assert (first - int(created)) % seconds == 0
    assert first - seconds <= max(after, created)


@given(st.integers(1, 10**8))
def test_a_schedule_reads_again_as_it_is_written(seconds: int) -> None:
    assert parse_schedule(in_words(Every(seconds)), now=START) == Every(seconds)
    one = At(START + seconds)
    assert parse_schedule(in_words(one, "Asia/Kathmandu"), zone="UTC", now=START) == one


def test_moments_between_seconds_are_not_lost() -> None:
    after = datetime(2027, 1, 1, 8, 59, 59, 900_000, tzinfo=UTC).timestamp()
    assert next(times(Cron("0 9 * * *"), "UTC", START, after)) == datetime(2027, 1, 1, 9, tzinfo=UTC).timestamp()
