"""The report of each real source, against a second computation in plain Python over the judged calls."""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seasoned.app.stores import scan_into_store
from seasoned.command.tool import same_tool
from seasoned.config import load
from seasoned.outcome.track import compressed, tracks
from seasoned.report.report import Report, report
from seasoned.report.trials import Figure
from seasoned.store import open_store

Row = dict[str, Any]


@pytest.fixture(scope="module")
def store_path(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All real sessions, read and judged by the real scan."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEASONED_HOME", str(tmp_path_factory.mktemp("store")))
        scan_into_store(load(), [data])
        return load().store_path


@pytest.fixture(scope="module", params=["hermes", None], ids=lambda agent: agent or "all")
def both(request: pytest.FixtureRequest, store_path: Path) -> Iterator[tuple[Report, list[Row]]]:
    """The report of one agent, and its judged calls as plain rows."""
    agent = request.param
    with open_store(store_path) as store:
        made = report(tracks(store, agent=agent), compressed=compressed(store, agent=agent), made_at=0.0)
    yield made, _rows(store_path, agent)


def _rows(path: Path, agent: str | None) -> list[Row]:
    """Read with sqlite3 alone; nothing of Seasoned is used from here on."""
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    found = db.execute(
        "SELECT call.*, session.agent, session.messages, session.started, session.ended, session.root_id FROM call"
        " JOIN session ON session.id = session_id WHERE copy_of IS NULL ORDER BY session_id, position"
    ).fetchall()
    db.close()
    rows = [dict(row) for row in found if agent in (None, row["agent"])]
    own: dict[int, int] = defaultdict(int)
    for row in rows:
        row["nth"] = own[row["session_id"]]
        own[row["session_id"]] += 1
    for row in rows:
        row["of"] = own[row["session_id"]]
    return rows


def _count(rows: list[Row]) -> tuple[int, int, int]:
    counted = [row for row in rows if row["counts_as"] in ("ok", "failed")]
    failed = sum(row["counts_as"] == "failed" for row in counted)
    return failed, len(counted), len({row["session_id"] for row in counted})


def _same(figure: Figure, rows: list[Row]) -> None:
    failed, calls, sessions = _count(rows)
    assert (figure.failed, figure.calls, figure.sessions) == (failed, calls, sessions), figure.label
    if not calls:
        assert figure.rate.value is None and figure.rate.reason
        return
    assert figure.rate.value == pytest.approx(failed / calls)
    if figure.rate.interval is not None:
        assert figure.rate.interval.low <= failed / calls <= figure.rate.interval.high


def test_totals_agree(both: tuple[Report, list[Row]]) -> None:
    made, rows = both
    for name in ("ok", "failed", "unclear", "declined", "cancelled", "interrupted", "trivial"):
        assert getattr(made.counts, name) == sum(row["counts_as"] == name for row in rows)
    _same(made.cohort.overall, rows)
    for figure in made.by_agent:
        _same(figure, [row for row in rows if row["agent"] == figure.label])


def test_lengths_positions_and_both_agree(both: tuple[Report, list[Row]]) -> None:
    made, rows = both
    bounds = {"0–50": (0, 50), "51–100": (51, 100), "100+": (101, math.inf)}
    for figure in made.cohort.by_length:
        low, high = bounds[figure.label]
        _same(figure, [row for row in rows if low <= row["messages"] <= high])
    for figure in made.cohort.by_position:
        _same(figure, [row for row in rows if _in_block(row["nth"], figure.label)])
    for cell in made.cohort.by_both:
        low, high = bounds[cell.length]
        inside = [row for row in rows if low <= row["messages"] <= high and _in_block(row["nth"], cell.position)]
        _same(cell.figure, inside)
    assert sum(figure.calls for figure in made.cohort.by_length) == _count(rows)[1]
    assert sum(cell.figure.calls for cell in made.cohort.by_both) == _count(rows)[1]


def _in_block(nth: int, label: str) -> bool:
    if label.endswith("+"):
        return nth + 1 >= int(label[:-1])
    first, last = map(int, label.split("–"))
    return first <= nth + 1 <= last


def test_the_trend_within_sessions_agrees(both: tuple[Report, list[Row]]) -> None:
    made, rows = both
    assert _slope(rows, left_out=1) == pytest.approx(made.cohort.trend.any_tool.value)


def _slope(rows: list[Row], left_out: int) -> float | None:
    """Sums of products within sessions, by hand."""
    sessions: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row["counts_as"] in ("ok", "failed"):
            place = row["nth"] / max(row["of"] - 1, 1)
            sessions[row["session_id"]].append((place, float(row["counts_as"] == "failed")))
    above = below = 0.0
    for pairs in sessions.values():
        kept = pairs[: len(pairs) - left_out]
        if not kept:
            continue
        middle = sum(x for x, _ in kept) / len(kept)
        mean = sum(y for _, y in kept) / len(kept)
        above += sum((x - middle) * (y - mean) for x, y in kept)
        below += sum((x - middle) ** 2 for x, _ in kept)
    return above / below if below > 1e-12 else None


def test_recurring_errors_are_failed_calls_of_several_lineages(both: tuple[Report, list[Row]]) -> None:
    made, rows = both
    failed = [row for row in rows if row["counts_as"] == "failed"]
    assert sum(one.failures for one in made.recurrences) <= len(failed)
    for one in made.recurrences:
        of_tool = [row for row in failed if same_tool(row["tool"]) == one.tool]
        assert 2 <= one.sessions <= len({row["root_id"] or row["session_id"] for row in of_tool})
        assert one.sessions <= one.failures <= len(of_tool)
        assert 0 <= one.repaired <= one.failures
