"""Databases for tests: every engine that Seasoned runs on, real ones, each test with a fresh store."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from seasoned.config import Config
from seasoned.store import Database, open_database

_START_SECONDS = 60
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "max_wal_size": "64MB",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}
# The shell waits for the end of its input, which comes however the tests end, and takes the server with it.
_GUARD = 'folder="$1"; shift; "$@" & server=$!; read -r _; kill -INT $server; wait $server; rm -rf "$folder"'


class PostgresServer:
    """A server of our own on a Unix socket, gone when the tests are."""

    def __init__(self, binaries: Path) -> None:
        # Not under pytest's folder: the server runs as another user when we are root, and socket paths must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="seasoned-pg-", dir="/tmp"))
        self._numbers = count(1)
        account = _account()
        if account:
            shutil.chown(self.folder, *account)
        rights = {"user": account[0], "group": account[1], "extra_groups": []} if account else {}
        data = self.folder / "data"
        setup = [str(binaries / "initdb"), "-D", str(data), "-U", "seasoned", "--auth=trust", "--no-sync"]
        subprocess.run(
            [*setup, "-E", "UTF8", "--locale=C"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, **rights
        )
        rules = data / "pg_hba.conf"
        rules.write_text("local all with_password scram-sha-256\n" + rules.read_text("utf-8"), "utf-8")
        settings = [f"{name}={value}" for name, value in {**_SETTINGS, "unix_socket_directories": self.folder}.items()]
        command = [str(binaries / "postgres"), "-D", str(data), *(word for one in settings for word in ("-c", one))]
        with (self.folder / "log").open("wb") as log:
            self._shell = subprocess.Popen(
                ["sh", "-c", _GUARD, "guard", str(self.folder), *command],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                **rights,
            )
        self._wait()

    def url(
        self, *, schema: str | None = None, user: str = "seasoned", password: str | None = None, **more: str
    ) -> str:
        """Where it is found; with a schema of its own for each test."""
        who = quote(user, safe="") + (f":{quote(password, safe='')}" if password is not None else "")
        options = {"host": str(self.folder), **more}
        if schema is not None:
            options["options"] = f"-csearch_path={schema} {more.get('options', '')}".strip()
        return f"postgresql://{who}@/postgres?{urlencode(options, quote_via=quote)}"

    def fresh_schema(self) -> str:
        """A schema that nobody has used yet."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE SCHEMA {name}")
        return name

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as the owner of the server."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def stop(self) -> None:
        assert self._shell.stdin is not None
        self._shell.stdin.close()
        self._shell.wait(_START_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        import psycopg

        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError as error:
                if time.monotonic() > until or self._shell.poll() is not None:
                    log = (self.folder / "log").read_text("utf-8", "replace")
                    self.stop()
                    pytest.fail(f"PostgreSQL did not start: {error}\n{log}")
                time.sleep(0.02)
            else:
                return


def _account() -> tuple[str, int] | None:
    """User and group to run the server as when we are root, since it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return name, found.pw_gid
    pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")


def _binaries() -> Path | None:
    """The folder with PostgreSQL's programs: on the path, or where Debian puts them, the newest first."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    versions = Path("/usr/lib/postgresql")
    if versions.is_dir():
        places += sorted((one / "bin" for one in versions.iterdir()), key=lambda one: -float(one.parent.name))
    return next((one for one in places if (one / "initdb").exists() and (one / "postgres").exists()), None)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of this process."""
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'seasoned[postgres]'")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("needs the programs of PostgreSQL (initdb, postgres): install Debian's package postgresql")
    server = PostgresServer(binaries)
    yield server
    server.stop()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """A schema of its own on a real PostgreSQL."""
    return postgres_server.url(schema=postgres_server.fresh_schema())


@pytest.fixture(params=["sqlite", "postgres"])
def database_config(request: pytest.FixtureRequest, tmp_path: Path) -> Config:
    """A configuration that `open_database` opens as often as one likes, also in other processes; on each engine."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Config(home=tmp_path / "home", database_url=url)


@pytest.fixture
def any_database(database_config: Config) -> Iterator[Database]:
    """An open database with a fresh store; on each engine."""
    database = open_database(database_config)
    yield database
    database.close()
