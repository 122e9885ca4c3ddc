"""Statements that know what they look for find it by an index: their time must not grow with the store.

No statistics are kept, so plans depend on the statements and indexes alone: statistics of a small store would mislead
the planner when it has grown.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from bench.web import make_store

from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.scan.store_writer import update_aggregates
from seasoned.store import Store, open_store
from seasoned.store.query import _FOLDER, queries, query

# Tables that grow with every session.
LARGE = (
    *("call", "session", "evidence", "session_tool", "waiting"),
    *("usage_part", "part", "said", "search_document"),
)
# What reads a whole table, because that is what it is asked for.
READS_ALL = {
    "lesson.last_learned": "totals of all agents, by an index",
    "page.agents": "the agents of all sessions",
    "page.failed_since": "the sessions of some days, by their time",
    "page.failed_calls": "it stops at the first rows",
    "page.weeks": "the sessions of some weeks",
    "page.days": "the sessions of half a year, by an index alone",
    "page.spending": "the hours of at most a year",
    "page.week_costs": "the hours of eight weeks",
    "search.count": "how many sessions have a word",
    "page.sessions": "a list in an order that a person chose",
    "source.counts": "totals of all sessions",
    "call.by_tool": "totals of all tools",
    "call.judged": "all verdicts, for the agreement with labels",
    "call.of_tracks": "all sessions, for a report; session by session",
    "session.recent_rates": "the sessions of eight weeks",
    "export.call": "the export",
    "export.session": "the export",
    "mining.refused": "why sessions were not learned from, of all sessions",
    "mining.scanned": "how many sessions there are",
    "mining.sessions": "the candidates for a template, of all sessions",
    "project.all_facts": "when a new folder may change the project of any session",
    "project.forget_folders": "after forgetting",
    "project.forget_merges": "after forgetting",
    "project.inherit_everywhere": "when a new folder may change the project of any session",
    "project.keys": "it jumps from project to project",
    "project.list": "all projects",
    "lesson.count_waiting": "how many sessions wait",
    "lesson.queue": "the whole queue, the newest first",
    "lesson.wait_all": "when the rules changed, so that all sessions are read again",
    "lesson.waiting": "the queue from its end; it stops at the limit",
    "review.newest_session": "the newest session, by either of two times",
    "review.skills_read_since": "the sessions of a week, where a skill was kept in it",
    "session.all_ids": "all sessions",
    "session.by_native_id": "the beginning of an id, as a person types it",
    "session.compressed": "all compressed sessions",
    "session.list": "a list in an order that the user chose",
    "session.native_ids": "the newest ids, for completion",
    "session.totals": "totals of all agents",
    "session.tracks": "all sessions, for a report",
    "usage.hours": "the use of all sessions since a day",
    "usage.answers": "what all sessions or those of a project cost by commit, for the command that asks for it",
    "usage.git_calls": "the same",
    "usage.totals": "the use of all sessions since a day",
    "usage.without_price": "the use of all sessions",
    "usage.since_hour": "the use of all sessions since a day",
    "usage.unpriced": "the use of all sessions since a day",
    "usage.touch_day": "the hours of one day",
    "usage.price_source": "it stops at the first row",
    "search.queue": "the whole queue, the newest first",
    "search.count_waiting": "how many sessions wait",
    "source.last_read": "it stops at the first row",
}
_DETAIL = re.compile(r"(SCAN|SEARCH) (?:\w+ AS )?(\w+)(?: .*?\(([^)]*)\))?")


def names() -> list[str]:
    return [f"{file.stem}.{name}" for file in sorted(_FOLDER.glob("*.sql")) for name in queries(file.stem)]


def scans(store: Store, name: str) -> set[str]:
    """The large tables that a statement reads from one end to the other."""
    statement = query(name)
    named = re.findall(r"(?<![:\w]):([a-z_]\w*)", statement)
    params = dict.fromkeys(named) if named else [None] * statement.count("?")
    try:
        rows = store.connection.execute(f"EXPLAIN QUERY PLAN {statement}", params).fetchall()
    except sqlite3.OperationalError as error:
        # Statements that only PostgreSQL runs.
        assert "no such" in str(error), (name, error)
        return set()
    found = set()
    for row in rows:
        match = _DETAIL.match(row["detail"])
        # Behind an index a range alone (`project>?`) may still be all of it.
        if match and match[2] in LARGE and (match[1] == "SCAN" or (match[3] and not re.match(r"\w+=", match[3]))):
            found.add(match[2])
    return found


def unexpected(store: Store) -> dict[str, set[str]]:
    store.run("session.begin_touched")
    return {name: found for name in names() if name not in READS_ALL and (found := scans(store, name))}


def test_no_statement_reads_a_large_table_without_need(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store:
        assert unexpected(store) == {}


def test_a_scan_keeps_no_statistics(tmp_path: Path, samples: Path) -> None:
    scan(ScanTarget(tmp_path / "s.db"), [samples], Secrecy(b"k" * 32), workers=1)
    with open_store(tmp_path / "s.db") as store:
        assert store.connection.execute("SELECT 1 FROM sqlite_master WHERE name LIKE 'sqlite_stat%'").fetchall() == []


def test_the_list_of_what_reads_all_names_real_statements() -> None:
    assert set(READS_ALL) <= set(names())


def steps(store: Store, session_id: int) -> int:
    """How many steps SQLite takes to bring the aggregates of one session up to date; the same on any machine."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    update_aggregates(store, [session_id])
    store.connection.set_progress_handler(step, 100)
    update_aggregates(store, [session_id])
    store.connection.set_progress_handler(None, 0)
    return count


@pytest.mark.slow
def test_aggregates_of_one_session_cost_the_same_in_a_store_ten_times_as_large(tmp_path: Path) -> None:
    with (
        open_store(make_store(tmp_path / "small", 200)) as small,
        open_store(make_store(tmp_path / "large", 2000)) as large,
    ):
        assert steps(large, 77) < 1.3 * steps(small, 77)
