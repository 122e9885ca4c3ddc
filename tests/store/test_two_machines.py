"""Two machines, two processes each, on one PostgreSQL that crashes: confirmations, experiment, gateway and schedule."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import msgspec

from seasoned.config import Config
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.credential import Credential
from seasoned.confirm.policy import Policy
from seasoned.errors import Conflict, StoreError
from seasoned.experiment.live.assignment import ArmShare, assign_logged, new_split
from seasoned.gateway.accounting import EntryCost, UsageEntry, add_entries, totals
from seasoned.schedule import job_table
from seasoned.schedule.job import Every
from seasoned.session import Usage
from seasoned.store import open_database
from tests.confirm.books import Clock, Scene, open_book
from tests.conftest import ROOT
from tests.databases import PostgresServer
from tests.schedule.made import job

ROUNDS, JOBS = 60, 3
SPLIT = new_split("autumn", [ArmShare("cold"), ArmShare("warm")], salt="s")
ENTRY = UsageEntry(
    id="",
    at=86_400.0,
    session="",
    purpose="turn",
    key_name="",
    upstream="openai",
    api="chat",
    model="gpt-4o-mini",
    status=200,
    ended="complete",
    usage=Usage(100, 10),
)
_ENOUGH_SECONDS = 60.0


def work(config: Config, agent: Credential, approved: list[tuple[str, str]], notes: Path) -> None:
    """What the gateway and an agent of one machine do; each thing that the database acknowledged becomes a line."""
    number = 0
    with notes.open("ab", buffering=0) as note:
        while number < ROUNDS:
            try:
                database = open_database(config, durable=True)
                book = open_book(database, Policy(), Clock())
                while number < ROUNDS:
                    session, (request, digest) = f"codex:{number}", approved[number]
                    arm = assign_logged(database, SPLIT, session, now=1.0)
                    note.write(f"arm {session} {arm and arm.arm}\n".encode())
                    entry = f"{config.home.name}-{number}"
                    add_entries(
                        database, [msgspec.structs.replace(ENTRY, id=entry, session=session)], lambda _: EntryCost()
                    )
                    note.write(f"used {entry}\n".encode())
                    try:
                        book.redeem(agent, request, digest=digest)
                        note.write(f"redeemed {request}\n".encode())
                    except Conflict:
                        pass  # the other machine was first, or this one, and heard no answer
                    number += 1
                    time.sleep(0.03)
            except StoreError:
                time.sleep(0.05)


def _lines(notes: Path) -> list[str]:
    return notes.read_text("utf-8").splitlines() if notes.exists() else []


def test_two_machines_share_a_database_that_crashes_and_nothing_happens_twice(
    safe_postgres: PostgresServer, tmp_path: Path
) -> None:
    url = safe_postgres.url(schema=safe_postgres.fresh_schema())
    machines = [Config(home=tmp_path / name, database_url=url) for name in ("first", "second")]
    notes, starts = tmp_path / "notes", tmp_path / "starts"
    database = open_database(machines[0], durable=True)
    scene = Scene(database, f"[rate]\ncount = {ROUNDS}")
    asked = [scene.approve(scene.ask(description=f"Deploy {number}")) for number in range(ROUNDS)]
    begun_at = time.time()
    for number in range(JOBS):
        one = job(id=f"j{number}", name=f"n{number}", created_at=begun_at, schedule=Every(1))
        job_table.add(database, one, now=begun_at)
    database.close()
    play = [sys.executable, "-m", "tests.schedule.play_scheduler"]
    schedulers = [
        subprocess.Popen([*play, str(one.home), url, str(starts), "1.0"], cwd=ROOT, stdin=subprocess.DEVNULL)
        for one in machines
    ]
    approved = [(one.id, one.digest) for one in asked]
    workers = [get_context("spawn").Process(target=work, args=(one, scene.agent, approved, notes)) for one in machines]
    try:
        for worker in workers:
            worker.start()
        _wait(lambda: len(_lines(notes)) > ROUNDS and len(_lines(starts)) > JOBS)
        safe_postgres.kill()
        time.sleep(0.3)
        safe_postgres.start()
        after = len(_lines(starts))
        for worker in workers:
            worker.join(_ENOUGH_SECONDS)
            assert worker.exitcode == 0
        _wait(lambda: len(_lines(starts)) >= after + JOBS)
        assert all(one.poll() is None for one in schedulers), "a scheduler ended by itself"
    finally:
        for worker in workers:
            worker.kill()
        for scheduler in schedulers:
            scheduler.kill()
            scheduler.wait()
    told = Counter(_lines(notes))
    database = open_database(machines[0])
    assert verify(database).ok
    redeemed = [line for line in told if line.startswith("redeemed ")]
    assert redeemed and all(told[line] == 1 for line in redeemed), "an approval was used twice"
    rows = [scene.reopen(database).look(scene.agent, one.id) for one in asked]
    assert all(one.redeemed_at is not None for one in rows)
    arms = {line.split()[1] for line in told if line.startswith("arm ")}
    assert len({line for line in told if line.startswith("arm ")}) == len(arms) == ROUNDS, "a session changed its arm"
    (total,) = totals(database, "model")
    assert total.requests == 2 * ROUNDS, "each request counts once, also where it was sent again"
    assert max(Counter(_lines(starts)).values()) == 1, "a slot started twice"
    database.close()


def _wait(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + _ENOUGH_SECONDS
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)
