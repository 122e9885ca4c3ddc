"""What pages show first is kept by triggers: it is always what counting anew would give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seasoned.store import Store, open_store, open_temporary
from seasoned.store.migration import MIGRATIONS, statements
from seasoned.store.query import table_script

_ANEW = table_script("summary.sqlite").rpartition("END;")[2]
_TABLES = ("session_line", "day_total", "tool_total", "mistake_session", "mistake_total")
_number = st.integers(0, 5)
_maybe = st.none() | st.floats(0, 1e6, allow_nan=False)
_step = st.tuples(
    st.sampled_from(["save", "save", "delete", "tools", "fail", "unfail"]),
    st.integers(1, 4),
    st.fixed_dictionaries({"ok": _number, "failed": _number, "started": _maybe, "ended": _maybe, "cost": _maybe}),
)


def _kept(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {name: sorted(map(tuple, store.connection.execute(f"SELECT * FROM {name}")), key=repr) for name in _TABLES}


def _counted_anew(store: Store) -> dict[str, list[tuple[object, ...]]]:
    for name in _TABLES:
        store.connection.execute(f"DELETE FROM {name}")
    for statement in statements(_ANEW):
        store.connection.execute(statement)
    return _kept(store)


def _take(store: Store, what: str, number: int, values: dict[str, float]) -> None:
    run = store.connection.execute
    if what == "save":
        run(
            "INSERT INTO session (id, agent, native_id, model, started, ended, ok, failed, cost_usd, title)"
            " VALUES (:id, :agent, :id, :model, :started, :ended, :ok, :failed, :cost, 'x')"
            " ON CONFLICT (agent, native_id) DO UPDATE SET started = excluded.started, ended = excluded.ended,"
            " ok = excluded.ok, failed = excluded.failed, cost_usd = excluded.cost_usd, model = excluded.model",
            {"id": number, "agent": "a" if number % 2 else "b", "model": "m" if values["ok"] > 2 else None, **values},
        )
    elif what == "delete":
        run("DELETE FROM session WHERE id = ?", (number,))
    elif run("SELECT 1 FROM session WHERE id = ?", (number,)).fetchone() is None:
        return
    elif what == "tools":
        run("DELETE FROM session_tool WHERE session_id = ?", (number,))
        run("INSERT INTO session_tool VALUES (?, 'Bash', 'shell', 3, 2, 1, 0, 0)", (number,))
    elif what == "fail":
        call = run(
            "INSERT INTO call (session_id, call_id, position, message, tool, kind, counts_as, arguments, place,"
            " verdict, evidence, fault, reason, judge, unique_id)"
            " SELECT ?, 'c' || (SELECT count(*) + random() FROM call), 0, 0, 'Bash', 'shell', 'failed', '{}', 0,"
            " 'failed', '', '', '', '', 1 RETURNING id",
            (number,),
        ).fetchone()[0]
        run("INSERT OR IGNORE INTO mistake VALUES (?, 'broken', ?, 'make')", (1 + number % 2, f"t{number % 2}"))
        by = call if values["ok"] > 2 else None
        run(
            "INSERT INTO failure (call_id, session_id, mistake_id, repaired_by, tool, time)"
            " VALUES (?, ?, ?, ?, 'Bash', ?)",
            (call, number, 1 + number % 2, by, values["failed"]),
        )
    else:
        run("DELETE FROM call WHERE session_id = ?", (number,))


@pytest.fixture(scope="module")
def empty() -> Iterator[Store]:
    with open_temporary() as store:
        yield store


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_step, max_size=14))
def test_totals_are_what_counting_anew_gives_whatever_happens_to_sessions(
    empty: Store, steps: list[tuple[str, int, dict]]
) -> None:
    for step in steps:
        _take(empty, *step)
    assert _kept(empty) == _counted_anew(empty)
    empty.connection.execute("DELETE FROM session")
    assert not any(_kept(empty).values())


def test_a_store_that_held_sessions_before_has_their_totals(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "store.db"
    before = next(at for at, one in enumerate(MIGRATIONS) if one.name == "m015_summary")
    connection = sqlite3.connect(path, isolation_level=None)
    for one in MIGRATIONS[:before]:
        one(connection)
    connection.execute(f"PRAGMA user_version = {before}")
    connection.execute("INSERT INTO session (id, agent, native_id, ok, failed, started) VALUES (1, 'a', 'x', 3, 1, 0)")
    connection.close()
    with open_store(path) as store:
        assert store.rows("page.days")[0]["failed"] == 1
        assert store.connection.execute("SELECT rate FROM session_line").fetchone()[0] == 0.25
