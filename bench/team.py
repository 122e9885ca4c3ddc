"""A team under load: simulated machines push a month of generated history to one server and pull what others pushed.

`SEASONED_BENCH_MACHINES` says how many machines, as `5,20,50`. Each has its own credential and pushes all records of
one of four stores that were scanned; it works in two of four projects, and so do half of the others.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from tests.confirm.keys import WORDS
from tests.confirm.serving import credentials_for
from tests.databases import PostgresServer, start_postgres
from tests.team.test_killed import Server
from tests.web.pages import Visitor

from bench.growth import PROJECTS, _lines
from seasoned.app import team
from seasoned.app.stores import scan_into_store, shared_database
from seasoned.app.team import team_advice
from seasoned.config import Config, TeamSettings
from seasoned.redact.key import Secrecy, new_key
from seasoned.team import overview

MACHINES = tuple(int(one) for one in os.environ.get("SEASONED_BENCH_MACHINES", "5,20,50").split(","))
SESSIONS = 200  # ten a working day
STORES = 4
SHARED_PROJECTS = 4
_ASKED = 8  # machines whose pulls are measured
_ALONE = 4  # of those: one after the other
_TOGETHER = 4  # machines that push or pull at the same moment


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-team-") as name:
        folder = Path(name)
        begun = time.perf_counter()
        stores = [_scanned(folder / f"store-{number}", number) for number in range(STORES)]
        yield f"{STORES} stores of {SESSIONS} sessions each, scanned in {time.perf_counter() - begun:.0f} s"
        for count in MACHINES:
            # A fresh server each time, so that the size of its database belongs to this team alone.
            database = start_postgres({"autovacuum": "on", "max_connections": "100"})
            try:
                yield from _round(folder / f"team-{count}", count, stores, database)
            finally:
                database.stop()


def _scanned(folder: Path, number: int) -> Config:
    """A home with a month of sessions in two projects."""
    settings = TeamSettings(projects=("*",))
    config = Config(home=folder / "home", claude_config_dir=folder, team=settings, workers=1)
    chance = random.Random(number)
    checkouts = [_checkout(folder, (2 * number + at) % SHARED_PROJECTS) for at in range(2)]
    for at in range(SESSIONS):
        target = folder / "in" / f"{number:04x}{at:04x}-0000-4000-8000-000000000000.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = _lines(chance, at, session=target.stem)
        before, after = f"/home/u/project-{at % PROJECTS}".encode(), str(checkouts[at % 2]).encode()
        target.write_bytes(b"".join(line.replace(before, after) for line in lines))
    _, store = scan_into_store(config, [folder / "in"])
    assert store is not None
    with store, store.write():
        # Sessions of the last minute are always compared again; those of a month are not.
        store.connection.execute("UPDATE learned_from SET at = at - 3600")
    return config


def _checkout(folder: Path, project: int) -> Path:
    made = folder / f"project-{project}"
    (made / ".git").mkdir(parents=True)
    (made / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (made / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://example.org/acme/p{project}.git\n')
    return made


def _round(folder: Path, count: int, stores: list[Config], database: PostgresServer) -> Iterator[str]:
    schema = database.fresh_schema()
    url = database.url(schema=schema)
    server = Server(folder / "server", url)
    tokens = credentials_for(server.config)
    try:
        machines = [_joined(folder / f"m{number}", stores[number % STORES], server, number) for number in range(count)]
        begun = time.perf_counter()
        with ThreadPoolExecutor(_TOGETHER) as pool:
            pushed = list(pool.map(_timed_push, machines))
        whole = time.perf_counter() - begun
        records = sum(one[1] for one in pushed)
        yield f"{count} machines: {records:,} records pushed in {whole:.1f} s, {records / whole:,.0f} a second"
        # Of this round alone: those before it are in the same database.
        (rows,) = database.execute(
            "SELECT SUM(pg_total_relation_size(oid)) FROM pg_class "
            f"WHERE relkind = 'r' AND relnamespace = '{schema}'::regnamespace"
        )
        yield f"  the database: {int(str(rows[0])) / 1e6:.0f} MB, {int(str(rows[0])) / records:.0f} bytes a record"
        # Machines that pull at once share this process and wait for each other. One by one shows what a machine waits.
        alone = [_timed_pull(one) for one in machines[:_ALONE]]
        with ThreadPoolExecutor(_TOGETHER) as pool:
            first = list(pool.map(_timed_pull, machines[_ALONE:_ASKED]))
        sessions = statistics.median(one[1] for one in alone)
        yield f"  first pull of two projects ({sessions:,.0f} sessions): {_spread([one[0] for one in alone])}"
        if first:
            yield f"  the same, {_TOGETHER} machines at once in one process: {_spread([one[0] for one in first])}"
        with ThreadPoolExecutor(_TOGETHER) as pool:
            again = list(pool.map(_timed_pull, machines[:_ASKED] * 2))
        yield f"  pull with nothing new: {_spread([one[0] for one in again])}"
        with ThreadPoolExecutor(_TOGETHER) as pool:
            again = list(pool.map(_timed_push, machines))
        yield f"  push with nothing new: {_spread([one[0] for one in again])}"
        yield from _pages(machines[0])
        yield from _web_pages(server, tokens["alice"])
    finally:
        server.kill()


def _joined(home: Path, store: Config, server: Server, number: int) -> Config:
    home.mkdir(parents=True)
    shutil.copytree(store.home, home / "home")
    config = msgspec.structs.replace(store, home=home / "home")
    code, _ = team.invite(server.config, f"person-{number}", admin="root", ask=lambda _: WORDS)
    team.join(config, server.url, code, ())
    return config


def _timed_push(config: Config) -> tuple[float, int]:
    begun = time.perf_counter()
    done = team.push(config)
    assert done.refused == 0, "the server refused records"
    return time.perf_counter() - begun, done.sent


def _timed_pull(config: Config) -> tuple[float, int]:
    begun = time.perf_counter()
    done = team.pull(config)
    return time.perf_counter() - begun, done.sessions


def _pages(config: Config) -> Iterator[str]:
    with team._connected(config) as (_, _, client):
        for path in ("/team/status", "/team/projects", "/team/lessons?project=example.org/acme/p0"):
            took = []
            for _ in range(20):
                begun = time.perf_counter()
                client.call("GET", path)
                took.append(time.perf_counter() - begun)
            yield f"  GET {path.partition('?')[0]}: {_spread(took)}"


def _web_pages(server: Server, token: str) -> Iterator[str]:
    """The pages of the team over HTTP, as a member opens them."""
    project = "example.org/acme/p0"
    begun = time.perf_counter()
    with shared_database(server.config) as database:
        count = len(team_advice(database, Secrecy(new_key()).redactor()))
    yield f"  advice, computed again in the background: {time.perf_counter() - begun:.1f} s, {count} pieces"
    with Visitor(server.url) as visitor:
        visitor.log_in(token)
        for path in (
            *("team", "team/sessions", "team/usage", f"team/project?key={project}", "team/search?q=pytest"),
            "team/advice",
        ):
            took = []
            for number in range(21):
                begun = time.perf_counter()
                assert visitor.client.get(f"{visitor.path}/{path}").status_code == 200, path
                # The first one compiles the page, and waits for what is computed once.
                if number:
                    took.append(time.perf_counter() - begun)
            yield f"  page {path.partition('?')[0]}: {_spread(took)}"
    with shared_database(server.config) as database:
        for name, look in (
            ("mistakes of a project", lambda: overview.mistakes(database, project)),
            ("tools of a project", lambda: overview.tools(database, project)),
        ):
            took = []
            for _ in range(10):
                begun = time.perf_counter()
                look()
                took.append(time.perf_counter() - begun)
            yield f"  query of {name}: {_spread(took)}"


def _spread(took: list[float]) -> str:
    ordered = sorted(took)
    most = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"median {1e3 * statistics.median(ordered):.0f} ms, 95 % within {1e3 * most:.0f} ms"
