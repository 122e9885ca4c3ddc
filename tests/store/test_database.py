"""The seam: SQLite and PostgreSQL do the same, by the same named queries."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.config import Config
from seasoned.errors import RuleBroken, StoreError
from seasoned.store import Database, Store, open_database, open_store
from seasoned.store.query import queries, query, with_percent_names
from tests.databases import PostgresServer
from tests.each_case import each_case

LOCAL = frozenset(
    ("call", "export", "forget", "guard", "learned", "message", "mining", "review", "run", "session", "source")
) | {"insight", "lesson", "page", "project", "proposal", "receipt", "rule", "template", "usage"}
LOCAL |= {"search"}
"""Queries of histories, which stay in the store of each machine; all others run on both."""
SERVER = frozenset({"visit"})
"""Queries of servers that need PostgreSQL."""
WORDS_OF_ONE_ENGINE = re.compile(
    r"(?i)\bAUTOINCREMENT\b|\browid\b|\bINSERT\s+OR\b|\bREPLACE\s+INTO\b|\bIFNULL\b|\bjulianday\b|\bstrftime\b|"
    r"\bNOW\(\)|\bILIKE\b|\bSERIAL\b|::|\bGLOB\b|\bunixepoch\b|\?"
)


def _assign(database: Database, session: str, **fields: object) -> int:
    values = {"experiment": "e", "session": session, "arm": "warm", "split": "s", "at": 1.5, **fields}
    return database.run("experiment.assign", values)


def _sessions(database: Database) -> list[str]:
    return [row["session"] for row in database.rows("experiment.assignments", {"experiment": "e"})]


def test_rows_are_mappings_of_the_same_values(any_database: Database) -> None:
    assert _assign(any_database, "a:1") == 1
    (row,) = any_database.rows("experiment.assignments", {"experiment": "e"})
    assert dict(row) == {
        "session": "a:1",
        "arm": "warm",
        "split": "s",
        "at": 1.5,
        "exposed_at": None,
        "exposed_arm": None,
        "example_ids": None,
    }
    assert any_database.row("experiment.assigned", {"experiment": "e", "session": "nobody"}) is None


def test_run_says_how_many_rows_it_changed(any_database: Database) -> None:
    assert (_assign(any_database, "a:1"), _assign(any_database, "a:1")) == (1, 0)
    assert _assign(any_database, "a:2") == 1
    assert any_database.run("experiment.drop_assignment", {"session": "a:3"}) == 0
    assert any_database.run("experiment.forget_assignments") == 2


def test_run_many_and_each_take_and_give_any_number(any_database: Database) -> None:
    wanted = [f"a:{number:04d}" for number in range(1203)]
    with any_database.write():
        any_database.run_many(
            "experiment.assign",
            ({"experiment": "e", "session": one, "arm": "x", "split": "s", "at": 0.0} for one in wanted),
        )
    assert [row["session"] for row in any_database.each("experiment.assignments", {"experiment": "e"})] == wanted


def test_whoever_reads_one_by_one_may_write_in_between(any_database: Database) -> None:
    for number in range(5):
        _assign(any_database, f"a:{number}")
    for row in any_database.each("experiment.assignments", {"experiment": "e"}):
        with any_database.write():
            any_database.run("experiment.drop_assignment", {"session": row["session"]})
    assert _sessions(any_database) == []


def test_each_sees_what_its_own_transaction_wrote_and_may_be_left_early(any_database: Database) -> None:
    with any_database.write():
        for number in range(3):
            _assign(any_database, f"a:{number}")
        rows: Iterator[object] = any_database.each("experiment.assignments", {"experiment": "e"})
        assert next(rows)["session"] == "a:0"  # type: ignore[index]
        del rows
    assert len(_sessions(any_database)) == 3


def test_a_transaction_happens_whole_or_not_at_all(any_database: Database) -> None:
    with pytest.raises(ZeroDivisionError), any_database.write():
        _assign(any_database, "a:1")
        1 / 0  # noqa: B018
    assert _sessions(any_database) == []
    with any_database.write():
        _assign(any_database, "a:2")
    assert _sessions(any_database) == ["a:2"]


def test_a_transaction_inside_another_is_refused_and_the_first_lives_on(any_database: Database) -> None:
    with any_database.write():
        _assign(any_database, "a:1")
        with pytest.raises(StoreError), any_database.write():
            pytest.fail("it must not begin")
        _assign(any_database, "a:2")
    assert _sessions(any_database) == ["a:1", "a:2"]


def test_a_broken_rule_has_one_name_on_every_engine(any_database: Database) -> None:
    with pytest.raises(RuleBroken, match="arm"), any_database.write():
        _assign(any_database, "a:1", arm=None)
    assert _sessions(any_database) == []


def test_an_error_does_not_quote_the_row(any_database: Database) -> None:
    with pytest.raises(RuleBroken) as caught:
        _assign(any_database, "a:private-words", arm=None)
    shown = f"{caught.value} {caught.value.__cause__}"
    assert "private-words" not in shown


def test_a_text_that_is_no_unicode_is_refused_in_a_sentence(any_database: Database) -> None:
    with pytest.raises(StoreError, match="not valid Unicode"):
        _assign(any_database, "a:\ud800")
    assert _sessions(any_database) == []


@pytest.mark.parametrize("text", ["", "100%", "%s %(x)s", "':name'", "é 漢 🙂", "'; DROP TABLE assignment; --", "\\"])
def test_hostile_texts_come_back_as_they_were(any_database: Database, text: str) -> None:
    _assign(any_database, f"a:{text}", arm=text)
    row = any_database.row("experiment.assigned", {"experiment": "e", "session": f"a:{text}"})
    assert row is not None and row["arm"] == text


def test_a_connection_belongs_to_one_thread(any_database: Database) -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(StoreError, match="thread"):
        pool.submit(any_database.rows, "experiment.names").result()


def test_a_closed_connection_stays_closed(any_database: Database) -> None:
    any_database.close()
    any_database.close()
    with pytest.raises(StoreError, match="closed"):
        any_database.rows("experiment.names")


def _open_and_assign(config: Config) -> list[str]:
    database = open_database(config, durable=True)
    found = []
    for number in range(20):
        with database.write():
            if _assign(database, f"a:{number:02d}"):
                found.append(f"a:{number:02d}")
    database.close()
    return found


def test_many_processes_make_the_tables_and_one_of_them_wins_each_row(database_config: Config) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        won = [one for found in pool.map(_open_and_assign, [database_config] * 2) for one in found]
    assert sorted(won) == [f"a:{number:02d}" for number in range(20)]


def test_many_threads_each_with_a_connection_do_not_disturb_each_other(database_config: Config) -> None:
    start = threading.Barrier(4)

    def work(_: int) -> list[str]:
        start.wait(30)
        return _open_and_assign(database_config)

    with ThreadPoolExecutor(4) as pool:
        won = [one for found in pool.map(work, range(4)) for one in found]
    assert sorted(won) == [f"a:{number:02d}" for number in range(20)]


def test_without_an_address_it_is_the_store_at_home(tmp_path: Path) -> None:
    config = Config(home=tmp_path / "home")
    with open_store(config.store_path) as store:
        _assign(store, "a:1")
    database = open_database(config)
    assert (database.kind, _sessions(database)) == ("sqlite", ["a:1"])
    database.close()


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_a_durable_store_waits_for_the_disk_in_write_ahead_mode(tmp_path: Path, durable: bool, level: int) -> None:
    database = open_database(Config(home=tmp_path / "home"), durable=durable)
    assert isinstance(database, Store)
    in_effect = {
        name: database.connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "fullfsync", "foreign_keys")
    }
    database.close()
    assert in_effect == {"journal_mode": "wal", "synchronous": level, "fullfsync": int(durable), "foreign_keys": 1}


def test_every_shared_query_keeps_to_what_both_engines_understand() -> None:
    foreign = [
        f"{subject}.{name}: {found[0]}"
        for subject in _subjects(but=LOCAL | SERVER)
        for name, statement in queries(subject).items()
        if (found := WORDS_OF_ONE_ENGINE.search(re.sub(r"'[^']*'|--[^\n]*", "", statement)))
    ]
    assert not foreign, "\n".join(foreign)


def test_every_shared_query_can_be_prepared_by_sqlite(tmp_path: Path, subtests: pytest.Subtests) -> None:
    with open_store(tmp_path / "s.db") as store:
        for name in _names(but=LOCAL | SERVER):
            with subtests.test(name):
                params = dict.fromkeys(re.findall(r"%\((\w+)\)s", with_percent_names(query(name))), 0)
                assert store.connection.execute(f"EXPLAIN {query(name)}", params).fetchall()


def test_every_shared_query_can_be_prepared_by_postgres(
    postgres_server: PostgresServer, postgres_url: str, subtests: pytest.Subtests
) -> None:
    import psycopg

    open_database(Config(home=Path(), database_url=postgres_url)).close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for name in _names(but=LOCAL):
            with subtests.test(name):
                connection.execute(f"PREPARE one AS {_numbered(query(name))}".encode())
                connection.execute("DEALLOCATE one")
                assert not connection.closed


@each_case(
    ("statement", "translated"),
    [
        ("SELECT :a, :b_2", "SELECT %(a)s, %(b_2)s"),
        ("SELECT ':a', \":b\" -- :c\n, :d", "SELECT ':a', \":b\" -- :c\n, %(d)s"),
        ("SELECT 'it''s :a', :b /* :c */", "SELECT 'it''s :a', %(b)s /* :c */"),
        ("x LIKE '50%' || :a", "x LIKE '50%%' || %(a)s"),
        ("SELECT x::text, :a % 2", "SELECT x::text, %(a)s %% 2"),
        ("IN (:a,:b)", "IN (%(a)s,%(b)s)"),
    ],
)
def test_parameters_are_translated_outside_of_texts_and_comments(statement: str, translated: str) -> None:
    assert with_percent_names(statement) == translated


@given(st.text(alphabet="ab:'\"%- \n/*", max_size=30))
def test_a_quoted_text_is_never_changed_but_for_its_percent_signs(text: str) -> None:
    quoted = "'" + text.replace("'", "''") + "'"
    assert with_percent_names(f"SELECT {quoted}, :a") == f"SELECT {quoted.replace('%', '%%')}, %(a)s"


def _subjects(*, but: frozenset[str]) -> list[str]:
    folder = Path(query.__wrapped__.__code__.co_filename).parent / "query"
    return sorted(one.stem for one in folder.glob("*.sql") if one.stem not in but)


def _names(*, but: frozenset[str]) -> list[str]:
    return [f"{subject}.{name}" for subject in _subjects(but=but) for name in queries(subject)]


def _numbered(statement: str) -> str:
    """The statement as the server sees it: its parameters by number, of kinds that it has to find out by itself."""
    numbers: dict[str, int] = {}
    translated = with_percent_names(statement)
    found = re.sub(r"%\((\w+)\)s", lambda match: f"${numbers.setdefault(match[1], len(numbers) + 1)}", translated)
    return found.replace("%%", "%")
