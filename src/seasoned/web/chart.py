"""Charts that the server draws: positions in percent across and in pixels down, so that words keep their size."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import msgspec

from seasoned.report.page.rows import rate_between
from seasoned.report.trials import rate_of_sums, share
from seasoned.store import DatabaseRow, Store
from seasoned.text import dollars, plural
from seasoned.web.display import distinct_names, sessions_link

WEEKS = 26
_DAY_SECONDS = 86_400
_HEIGHT = 140
# More parts than colours: the others are drawn as one.
_TONES = ("one", "two", "three", "four", "five")
_MOST_LABELS = 6


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One mark: a bar from its upper left corner, a line down from there, or a dot at it."""

    kind: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    tone: str = "one"
    tip: str = ""
    href: str | None = None


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A chart; without shapes there is nothing to draw, and `empty` says why."""

    name: str
    title: str
    # What it shows, for those who cannot see it.
    said: str = ""
    note: str = ""
    empty: str = ""
    shapes: Sequence[Shape] = ()
    # Positions across in percent and down in pixels, each with its label.
    across: Sequence[tuple[float, str]] = ()
    down: Sequence[tuple[float, str]] = ()
    key: Sequence[tuple[str, str]] = ()
    height: int = _HEIGHT


def spending_chart(
    store: Store, *, now: float, days: int | None, project: str | None = None, without: Collection[str] = ()
) -> Chart:
    """Cost by project, or by model of one project: by day for up to a month, else by week."""
    is_daily = days is not None and days <= 31
    # Monday is the first day of a week; the first hour of all was on a Thursday.
    hours, shift, step = (24, 0, 1) if is_daily else (168, 72, 7)
    last = (int(now // 3600) + shift) // hours
    first = last - (days or 371) // step + (1 if is_daily else 0)
    given = {"hours": hours, "shift": shift, "first_hour": first * hours - shift, "project": project}
    given["without"] = msgspec.json.encode(sorted(without)).decode()
    spent: dict[str, dict[int, float]] = {}
    for row in store.rows("page.spending", given):
        spent.setdefault(row["name"] or "unknown", {})[row["period"]] = row["usd"]
    unit, part = "day" if is_daily else "week", "project" if project is None else "model"
    begin = date(1970, 1, 1) - timedelta(hours=shift)
    names = {at: begin + timedelta(days=step * at) for at in range(first, last + 1)}
    return _stacked(
        Chart(
            name="spending",
            title=f"Cost by {part} and {unit}",
            note=("Days are in UTC. " if is_daily else "Weeks begin on Monday. ")
            + ("Only the last year is drawn. " if days is None else "")
            + "Usage without a known price is not drawn.",
            empty="No cost is known in this time: agents recorded none, and no published price fits.",
        ),
        names,
        spent,
        is_daily=is_daily,
    )


def _stacked(chart: Chart, names: Mapping[int, date], spent: dict[str, dict[int, float]], *, is_daily: bool) -> Chart:
    """A bar for each period, its largest part at the bottom."""
    totals = {at: sum(by.get(at, 0.0) for by in spent.values()) for at in names}
    if not any(totals.values()):
        return chart
    order = sorted(spent, key=lambda name: -sum(spent[name].values()))
    most = len(_TONES) if len(order) <= len(_TONES) else len(_TONES) - 1
    parts = [(tone, name, spent[name]) for tone, name in zip(_TONES, order[:most], strict=False)]
    if rest := order[most:]:
        others = {at: sum(spent[name].get(at, 0.0) for name in rest) for at in names}
        parts.append(("rest", f"{len(rest)} others", others))
    top, down = _scale(max(totals.values()), lambda value: f"${value:,g}")
    shapes, width = [], 100 / len(names)
    for place, (at, day) in enumerate(names.items()):
        y = float(_HEIGHT)
        for tone, name, by in parts:
            if value := by.get(at, 0.0):
                y -= _HEIGHT * value / top
                tip = f"{_day(day)} {day.year}, {name}: {dollars(value)} of {dollars(totals[at])}"
                until = day if is_daily else day + timedelta(days=6)
                shapes.append(
                    Shape(
                        kind="bar",
                        x=(place + 0.1) * width,
                        y=y,
                        width=0.8 * width,
                        height=_HEIGHT * value / top,
                        tone=tone,
                        tip=tip,
                        href=sessions_link(since=str(day), until=str(until), sort="-cost"),
                    )
                )
    said = ", ".join([f"{_day(day)} {dollars(totals[at])}" for at, day in names.items() if totals[at]])
    return msgspec.structs.replace(
        chart,
        said=f"{chart.title}: {said}",
        shapes=shapes,
        across=_dates(list(names.values())),
        down=down,
        key=list(zip([tone for tone, _, _ in parts], distinct_names([name for _, name, _ in parts]), strict=True)),
    )


def weekly_rates(store: Store, *, now: float, weeks: int, project: str | None = None) -> dict[int, DatabaseRow]:
    """The sums of the last weeks of seven days, by how many weeks ago."""
    given = {"since": now - weeks * 7 * _DAY_SECONDS, "until": now + 1, "project": project}
    return {row["weeks_ago"]: row for row in store.rows("page.weeks", given)}


def rate_chart(weeks: Mapping[int, DatabaseRow], *, now: float) -> Chart:
    """The error rate of each week with its interval; `weeks` is by how many weeks ago."""
    chart = Chart(
        name="rates",
        title="Error rate by week",
        note="Failed calls of those that count, with a 95 % interval over sessions. Tasks differ from week to week.",
        empty=f"No call that counts in the last {WEEKS} weeks.",
    )
    rates = {ago: rate_of_sums(row) for ago, row in weeks.items() if ago < WEEKS}
    known = {ago: one for ago, one in rates.items() if one.value is not None}
    if not known:
        return chart
    # An interval of a week with few calls may reach to 100 %: the values decide the scale.
    top, down = _scale(
        min(1.0, max(2 * (one.value or 0.0) for one in known.values()) or 0.1), lambda value: f"{100 * value:g} %"
    )
    shapes, days = [], [_week(now, ago) for ago in range(WEEKS - 1, -1, -1)]
    for ago, one in sorted(known.items(), reverse=True):
        x, value = 100 * (WEEKS - ago - 0.5) / WEEKS, one.value or 0.0
        tip = f"7 days from {_day(_week(now, ago))}: {share(value)} of {plural(one.n, 'call')}"
        if one.interval is not None:
            high, low = (_HEIGHT * (1 - min(1.0, end / top)) for end in (one.interval.high, one.interval.low))
            shapes.append(Shape(kind="line", x=x, y=high, height=low - high))
            tip = f"{tip}, {rate_between(one)}"
        shapes.append(Shape(kind="dot", x=x, y=_HEIGHT * (1 - value / top), tip=tip))
    said = ", ".join([f"{_day(_week(now, ago))} {share(one.value or 0.0)}" for ago, one in known.items()])
    return msgspec.structs.replace(chart, said=f"{chart.title}: {said}", shapes=shapes, across=_dates(days), down=down)


def calendar(store: Store, *, now: float) -> Chart:
    """The sessions of each day of half a year, a column for each week."""
    today = datetime.fromtimestamp(now, UTC).date()
    monday = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    since = datetime.combine(monday, datetime.min.time(), UTC).timestamp()
    counts = {row["day"]: row["sessions"] for row in store.rows("page.days", {"since": since, "until": now})}
    chart = Chart(
        name="calendar",
        title="Sessions by day",
        empty=f"No session in the last {WEEKS} weeks.",
        height=7 * 12,
    )
    if not counts:
        return chart
    shapes, most = [], max(counts.values())
    for number in range((today - monday).days + 1):
        day = monday + timedelta(days=number)
        count = counts.get(int(since) // _DAY_SECONDS + number, 0)
        shade = math.ceil(4 * count / most)
        shapes.append(
            Shape(
                kind="bar",
                x=100 * (number // 7) / WEEKS,
                y=12 * (number % 7),
                width=88 / WEEKS,
                height=10,
                tone=f"shade-{shade}",
                tip=f"{day:%a} {_day(day)} {day.year}: {plural(count, 'session')}",
                href=sessions_link(since=str(day), until=str(day)) if count else None,
            )
        )
    firsts = [monday + timedelta(days=7 * week) for week in range(WEEKS)]
    months = [(100 * at / WEEKS, f"{day:%b}") for at, day in enumerate(firsts) if day.day <= 7]
    total = sum(counts.values())
    said = f"{chart.title}: {plural(total, 'session')} on {plural(len(counts), 'day')} of the last {WEEKS} weeks"
    return msgspec.structs.replace(chart, said=said, shapes=shapes, across=months)


def _week(now: float, ago: int) -> date:
    """The first day of the seven days that ended so many weeks ago."""
    return datetime.fromtimestamp(now, UTC).date() - timedelta(days=7 * ago + 6)


def _day(day: date) -> str:
    return f"{day.day} {day:%b}"


def _scale(most: float, written: Callable[[float], str]) -> tuple[float, list[tuple[float, str]]]:
    """A round number above every value, and the lines of the scale."""
    unit = 10 ** math.floor(math.log10(most))
    top = next(unit * step for step in (1, 2, 3, 4, 5, 6, 8, 10) if unit * step >= most)
    return top, [(_HEIGHT * (1 - part), written(top * part)) for part in (0.5, 1.0)]


def _dates(days: Sequence[date]) -> list[tuple[float, str]]:
    """A few dates below the bars, in the middle of each."""
    step = math.ceil(len(days) / _MOST_LABELS)
    return [(100 * (at + 0.5) / len(days), f"{_day(days[at])}") for at in range(step // 2, len(days), step)]
