"""PostgreSQL alone: what it keeps when connections are lost, what it never says, and how its tables are made."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.errors import RuleBroken, StoreError
from seasoned.store import open_database
from seasoned.store.postgres import PostgresStore
from seasoned.store.schema import VERSION, OlderStore
from tests.databases import PostgresServer

SECRET = "p@ss/wörd:1"


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with PostgresStore(postgres_url) as opened:
        yield opened


def _assign(store: PostgresStore, session: str, arm: str | None = "warm") -> int:
    values = {"experiment": "e", "session": session, "arm": arm, "split": "s", "at": 1.0}
    return store.run("experiment.assign", values)


def _sessions(store: PostgresStore) -> list[str]:
    return [row["session"] for row in store.rows("experiment.assignments", {"experiment": "e"})]


def _end_connection(server: PostgresServer, store: PostgresStore) -> None:
    pid = store._connection.info.backend_pid
    server.execute(f"SELECT pg_terminate_backend({pid}, 5000)")


def _setting(store: PostgresStore, name: str) -> str:
    row = store._connection.execute(f"SHOW {name}").fetchone()
    assert row is not None
    return str(row[name])


def test_a_lost_connection_is_one_sentence_and_the_next_call_connects_again(
    postgres_server: PostgresServer, store: PostgresStore
) -> None:
    _assign(store, "a:1")
    _end_connection(postgres_server, store)
    with pytest.raises(StoreError, match="was lost") as caught:
        _sessions(store)
    assert str(caught.value).count("\n") == 0
    assert _sessions(store) == ["a:1"]


def test_a_connection_that_is_lost_before_a_transaction_can_begin_is_made_again(
    postgres_server: PostgresServer, store: PostgresStore
) -> None:
    _end_connection(postgres_server, store)
    with pytest.raises(StoreError, match="was lost"), store.write():
        pytest.fail("it must not begin")
    with store.write():
        _assign(store, "a:1")
    assert _sessions(store) == ["a:1"]


def test_after_a_loss_inside_a_transaction_nothing_more_of_it_is_written(
    postgres_server: PostgresServer, store: PostgresStore
) -> None:
    with pytest.raises(StoreError, match="in this transaction"), store.write():
        _assign(store, "a:1")
        _end_connection(postgres_server, store)
        with pytest.raises(StoreError, match="was lost"):
            _assign(store, "a:2")
        _assign(store, "a:3")
    assert _sessions(store) == []


def test_a_loss_just_before_the_end_is_not_taken_for_success(
    postgres_server: PostgresServer, store: PostgresStore
) -> None:
    with pytest.raises(StoreError, match="unknown whether"), store.write():
        _assign(store, "a:1")
        _end_connection(postgres_server, store)
    assert _sessions(store) == []


def test_a_forked_process_neither_uses_nor_ends_the_connection_of_its_parent(postgres_url: str) -> None:
    code = (
        "import os, sys\nfrom seasoned.errors import StoreError\nfrom seasoned.store.postgres import PostgresStore\n"
        "store = PostgresStore(sys.argv[1])\n"
        "if not os.fork():\n"
        "    try: store.rows('experiment.names')\n"
        "    except StoreError as error: print(error, flush=True)\n"
        "    sys.exit()\n"
        "os.wait()\n"
        "print(store.rows('experiment.names'))"
    )
    done = subprocess.run([sys.executable, "-c", code, postgres_url], capture_output=True, text=True, check=True)
    refused, kept = done.stdout.splitlines()
    assert "belongs to the thread that opened it" in refused
    assert kept == "[]"


def test_rows_that_are_left_unread_disturb_nobody(postgres_server: PostgresServer, store: PostgresStore) -> None:
    for session in ("a:1", "a:2"):
        _assign(store, session)
    first, second = (store.each("experiment.assignments", {"experiment": "e"}) for _ in range(2))
    assert next(first)["session"] == next(second)["session"] == "a:1"
    del first
    _end_connection(postgres_server, store)
    assert next(second)["session"] == "a:2", "it had come with the first"
    with pytest.raises(StoreError, match="was lost"):
        next(second)
    assert _sessions(store) == ["a:1", "a:2"]


def test_an_error_that_was_passed_over_keeps_nothing_and_says_so(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="nothing was saved"), store.write():
        _assign(store, "a:1")
        with pytest.raises(RuleBroken):
            _assign(store, "a:2", arm=None)
    assert _sessions(store) == []


def test_a_guard_that_raises_is_a_broken_rule(store: PostgresStore) -> None:
    store._connection.execute(
        "CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'assignments stay as they are'; END $$"
    )
    store._connection.execute("CREATE TRIGGER t BEFORE DELETE ON assignment FOR EACH ROW EXECUTE FUNCTION guard()")
    _assign(store, "a:1")
    with pytest.raises(RuleBroken, match="stay as they are"):
        store.run("experiment.forget_assignments")


def test_a_text_with_a_nul_is_refused_in_a_sentence(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="NUL"):
        _assign(store, "a:\0")


def test_whoever_waits_too_long_for_a_lock_is_told(postgres_url: str, store: PostgresStore) -> None:
    _assign(store, "a:1")
    with PostgresStore(postgres_url) as other:
        assert _setting(other, "lock_timeout") == "30s"
        other._connection.execute("SET lock_timeout = '20ms'")
        with store.write():
            store.run("experiment.drop_assignment", {"session": "a:1"})
            with pytest.raises(StoreError, match="locked by another program"):
                other.run("experiment.drop_assignment", {"session": "a:1"})


def test_only_named_parameters_are_taken(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="mapping"):
        store.rows("experiment.splits", ["e"])


def test_sums_are_numbers_as_sqlite_has_them(store: PostgresStore) -> None:
    row = store._connection.execute("SELECT sum(x) AS s, avg(x) AS a, sum(-x) AS n FROM (VALUES (2::bigint)) v(x)")
    found = row.fetchone()
    assert found == {"s": 2, "a": 2.0, "n": -2}
    assert [type(value) for value in found.values()] == [int, float, int]


@pytest.mark.parametrize(("durable", "level"), [(True, "on"), (False, "off")])
def test_a_durable_connection_waits_for_the_disk_where_the_server_would_not(
    postgres_server: PostgresServer, durable: bool, level: str
) -> None:
    url = postgres_server.url(schema=postgres_server.fresh_schema(), options="-csynchronous_commit=off")
    config = Config(home=Path(), database_url=url)
    database = open_database(config, durable=durable)
    assert isinstance(database, PostgresStore)
    assert _setting(database, "synchronous_commit") == level
    _end_connection(postgres_server, database)
    with pytest.raises(StoreError):
        _sessions(database)
    assert _sessions(database) == []
    assert _setting(database, "synchronous_commit") == level, "also after it was connected again"
    database.close()


def test_a_database_from_the_future_is_refused(postgres_url: str, store: PostgresStore) -> None:
    store._connection.execute("INSERT INTO seasoned_migration (number, name) VALUES (%s, 'later')", [VERSION + 1])
    with pytest.raises(StoreError, match="newer Seasoned"):
        PostgresStore(postgres_url)


def test_a_database_of_an_earlier_version_is_refused_and_left_as_it_is(postgres_url: str, store: PostgresStore) -> None:
    store._connection.execute("UPDATE seasoned_migration SET number = 12")
    _assign(store, "a:1")
    with pytest.raises(OlderStore, match="new, empty one"):
        PostgresStore(postgres_url)
    assert _sessions(store) == ["a:1"]


def test_a_schema_that_fails_leaves_nothing_behind(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from seasoned.store import postgres

    with monkeypatch.context() as patch:
        patch.setattr(postgres, "POSTGRES", (*postgres.POSTGRES, "session.sqlite"))
        with pytest.raises(StoreError):
            PostgresStore(postgres_url)
    with PostgresStore(postgres_url) as store:
        assert store._connection.execute("SELECT count(*) AS n FROM seasoned_migration").fetchone() == {"n": 1}


def test_a_user_without_the_right_to_make_tables_can_use_them(
    postgres_server: PostgresServer, store: PostgresStore
) -> None:
    schema = str(store._connection.execute("SELECT current_schema() AS name").fetchone()["name"])  # type: ignore[index]
    for statement in (
        "DROP ROLE IF EXISTS plain",
        "CREATE ROLE plain LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO plain",
        f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO plain",
    ):
        postgres_server.execute(statement)
    with PostgresStore(postgres_server.url(schema=schema, user="plain")) as plain:
        assert _assign(plain, "a:1") == 1
        with pytest.raises(StoreError, match="permissions of its user"):
            plain.run("experiment.forget_assignments")
    postgres_server.execute("DROP OWNED BY plain; DROP ROLE plain")


def _problems(server: PostgresServer) -> Iterator[str]:
    """Addresses that fail, each with a password in it."""
    yield server.url(user="with_password", password=SECRET)
    yield server.url(password=SECRET, host=str(server.folder / "nowhere"))
    yield f"postgresql://u:{SECRET}@localhost:5432/x"
    yield "postgresql://u:wörd/p%40ss@localhost:5432/x"
    yield "postgresql://u:begin@plainsecret@localhost:5432/x"
    yield "postgresql://u:plainsecret@localhost:notaport/x"
    yield "postgresql://u:p%zzword@localhost/x"
    yield f"host={server.folder} user=with_password password=plainsecret"
    yield "host=/nowhere password=plainsecret unknown=1"
    yield "postgresql://u@127.0.0.1:1/x?password=plainsecret"
    yield "nonsense plainsecret"


def test_no_error_and_no_log_ever_holds_the_password(
    postgres_server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    postgres_server.execute("DROP ROLE IF EXISTS with_password")
    postgres_server.execute("CREATE ROLE with_password LOGIN PASSWORD 'another'")
    for url in _problems(postgres_server):
        with pytest.raises(StoreError, match="SEASONED_DATABASE_URL") as caught:
            PostgresStore(url)
        logging.getLogger("x").exception("failed", exc_info=caught.value)
        said = str(caught.value) + caplog.text
        assert not [word for word in (SECRET, "wörd", "p%zzword", "plainsecret", "p%40ss") if word in said], said
        assert "\n" not in str(caught.value)


def test_the_right_password_opens_it_and_is_nowhere_in_what_it_shows(postgres_server: PostgresServer) -> None:
    schema = postgres_server.fresh_schema()
    postgres_server.execute("DROP ROLE IF EXISTS with_password")
    postgres_server.execute(f"CREATE ROLE with_password LOGIN PASSWORD '{SECRET}'")
    postgres_server.execute(f"GRANT ALL ON SCHEMA {schema} TO with_password")
    with PostgresStore(postgres_server.url(schema=schema, user="with_password", password=SECRET)) as store:
        assert _assign(store, "a:1") == 1
        assert SECRET not in f"{store!r} {store.place}"
    postgres_server.execute("DROP OWNED BY with_password; DROP ROLE with_password")


def test_the_shown_settings_hide_the_password(tmp_path: Path) -> None:
    url = "postgresql://u:p%40ssplainsecret@host:5432/x?sslmode=require"
    environment = {"SEASONED_HOME": str(tmp_path), "SEASONED_DATABASE_URL": url, "HOME": str(tmp_path), "PATH": ""}
    for more in ([], ["--json"]):
        command = [sys.executable, "-m", "seasoned.cli.main", "config", *more]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        assert "database_url" in done.stdout
        assert "plainsecret" not in done.stdout + done.stderr


def test_without_psycopg_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from pathlib import Path\n"
        "from seasoned.config import Config\n"
        "from seasoned.errors import StoreError\n"
        "from seasoned.store import open_database\n"
        f"open_database(Config(home=Path({str(tmp_path)!r}))).close()\n"
        "try: open_database(Config(home=Path(), database_url='postgresql://u:plainsecret@h/x'))\n"
        "except StoreError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "seasoned[postgres]" in done.stdout and "plainsecret" not in done.stdout
