"""The charts of the pages: every session and every dollar of their time is drawn, and what is unknown is said."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from seasoned.gateway.history_usage import fill_prices
from seasoned.store import Store
from seasoned.web.chart import calendar, rate_chart, spending_chart, weekly_rates
from tests.web.filled import fill_sessions, store_of


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    home = tmp_path_factory.mktemp("home")
    fill_sessions(home)
    store = store_of(home)
    fill_prices(store)
    return store


def last(store: Store) -> float:
    return float(max(row["last"] for row in store.rows("session.totals")))


@pytest.mark.parametrize("days", [7, 90, None])
def test_bars_add_up_to_the_cost_of_their_time(store: Store, days: int | None) -> None:
    now = last(store) + 86_400
    chart = spending_chart(store, now=now, days=days)
    by_project = {key for _, key in chart.key}
    # A bar of the whole height stands for the highest mark of the scale.
    top = float(chart.down[-1][1].removeprefix("$").replace(",", ""))
    drawn = sum(shape.height for shape in chart.shapes) / chart.height * top
    # Days begin at midnight, weeks on Monday; the first day of all was a Thursday.
    day = int(now // 86_400)
    first = day - 6 if days == 7 else (day + 3) // 7 * 7 - 3 - ((days or 371) // 7) * 7
    spent = store.connection.execute("SELECT sum(usd) FROM usage_cost WHERE hour >= ?", [first * 24]).fetchone()[0]
    assert spent > 0 and math.isclose(drawn, spent)
    assert by_project and all(0 <= shape.y <= chart.height for shape in chart.shapes)
    assert all(shape.href and shape.href.startswith("sessions?since=") for shape in chart.shapes)


def test_what_went_through_the_gateway_is_not_drawn_twice(store: Store) -> None:
    now = last(store)
    everything = [f"{row['agent']}:{row['native_id']}" for row in store.rows("page.sessions", _all())]
    assert spending_chart(store, now=now, days=30).shapes
    assert not spending_chart(store, now=now, days=30, without=everything).shapes


def _all() -> dict[str, object]:
    from seasoned.web.view.sessions import SessionFilter, params

    return params(SessionFilter(), "at", None, 1000)


def test_a_week_has_a_dot_and_its_interval(store: Store) -> None:
    now = last(store) + 1
    chart = rate_chart(weekly_rates(store, now=now, weeks=26), now=now)
    dots = [shape for shape in chart.shapes if shape.kind == "dot"]
    lines = [shape for shape in chart.shapes if shape.kind == "line"]
    assert dots and len(lines) <= len(dots) and all(" % of " in dot.tip for dot in dots)
    for line in lines:
        dot = next(dot for dot in dots if dot.x == line.x)
        assert line.y <= dot.y <= line.y + line.height


def test_the_calendar_counts_every_session_on_its_day(store: Store) -> None:
    now = last(store)
    chart = calendar(store, now=now)
    counts = [int(shape.tip.rpartition(": ")[2].partition(" ")[0]) for shape in chart.shapes]
    since = datetime.fromtimestamp(now, UTC).date().toordinal() - len(counts) + 1
    known = [row for row in store.rows("page.sessions", _all()) if row["at"]]
    within = [row for row in known if datetime.fromtimestamp(row["at"], UTC).date().toordinal() >= since]
    assert sum(counts) == len(within) > 0 and counts[-1] > 0
    assert all((shape.href is not None) == (count > 0) for shape, count in zip(chart.shapes, counts, strict=True))


def test_an_empty_store_draws_nothing_and_says_so(tmp_path: Path) -> None:
    with store_of(tmp_path) as store:
        charts = [calendar(store, now=1e9), rate_chart({}, now=1e9), spending_chart(store, now=1e9, days=30)]
        assert not any(chart.shapes for chart in charts) and all(chart.empty.startswith("No ") for chart in charts)
