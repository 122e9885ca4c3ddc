"""Databases for tests: every engine that Seasoned runs on, real ones, each test with a fresh store."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from seasoned.config import Config
from seasoned.store import Database, open_database

_START_SECONDS = 240
_ENOUGH_BYTES = 4_000_000_000
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

    def __init__(self, binaries: Path, settings: Mapping[str, str] | None = None) -> None:
        # Not under pytest's folder: the server runs as another user when we are root, and socket paths must be short.
        self.folder = Path(tempfile.mkdtemp(prefix="seasoned-pg-", dir=_place()))
        self._numbers = count(1)
        account = _account()
        if account:
            shutil.chown(self.folder, *account)
        self._rights: dict[str, Any] = {"user": account[0], "group": account[1], "extra_groups": []} if account else {}
        self._binaries = binaries
        self._shells: list[subprocess.Popen[bytes]] = []
        data = self.folder / "data"
        self._run("initdb", "-U", "seasoned", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        rules = data / "pg_hba.conf"
        rules.write_text("local all with_password scram-sha-256\n" + rules.read_text("utf-8"), "utf-8")
        chosen = {**_SETTINGS, **(settings or {}), "unix_socket_directories": self.folder}
        words = (word for name, value in chosen.items() for word in ("-c", f"{name}={value}"))
        self._command = [str(binaries / "postgres"), "-D", str(data), *words]
        self.start()

    def start(self) -> None:
        """Begin to serve; after a crash the server first repairs what it had."""
        with (self.folder / "log").open("ab") as log:
            shell = subprocess.Popen(
                ["sh", "-c", _GUARD, "guard", str(self.folder), *self._command],
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                **self._rights,
            )
        self._shells.append(shell)
        self._wait()

    def kill(self) -> None:
        """Kill -9 of the server; those who work for it end by themselves, some after the command that they are in."""
        pid_file = self.folder / "data" / "postmaster.pid"
        server = int(pid_file.read_text("utf-8").split()[0])
        workers = Path(f"/proc/{server}/task/{server}/children").read_text("utf-8").split()
        os.kill(server, signal.SIGKILL)
        until = time.monotonic() + _START_SECONDS
        while any(_runs(one) for one in (str(server), *workers)):
            assert time.monotonic() < until, "PostgreSQL did not end after kill -9"
            time.sleep(0.01)
        # The shell that began the server has not asked for its end, so its number looks as if it were still in use.
        for one in (pid_file, *self.folder.glob(".s.PGSQL.*.lock")):
            one.unlink()

    def _run(self, program: str, *words: str) -> None:
        command = [str(self._binaries / program), "-D", str(self.folder / "data"), *words]
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, **self._rights)

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
        for shell in reversed(self._shells):
            # A line, and not only the end of the input: a process that a test forked may hold the other end open.
            shell.communicate(b"\n", _START_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        import psycopg

        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError as error:
                if time.monotonic() > until or self._shells[-1].poll() is not None:
                    log = (self.folder / "log").read_text("utf-8", "replace")
                    self.stop()
                    pytest.fail(f"PostgreSQL did not start: {error}\n{log}")
                time.sleep(0.02)
            else:
                return


def _runs(pid: str) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _place() -> str:
    """Memory, where there is enough: each test makes a hundred small files, which takes thrice as long on a disk."""
    memory = Path("/dev/shm")
    is_large = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ENOUGH_BYTES
    return str(memory) if is_large else "/tmp"


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


def start_postgres(settings: Mapping[str, str] | None = None) -> PostgresServer:
    """A server of our own; without its programs the test is skipped."""
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'seasoned[postgres]'")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("needs the programs of PostgreSQL (initdb, postgres): install Debian's package postgresql")
    return PostgresServer(binaries, settings)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of this process."""
    server = start_postgres()
    yield server
    server.stop()


@pytest.fixture
def safe_postgres() -> Iterator[PostgresServer]:
    """A server that waits for its disk, as those in earnest do."""
    server = start_postgres({"fsync": "on", "full_page_writes": "on"})
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
