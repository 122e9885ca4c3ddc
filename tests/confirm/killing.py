"""Kills the service again and again under load, and judges what is left against what was acknowledged."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.policy import Listen, Policy, RateRule
from seasoned.confirm.service import ConfirmService, create_app, serve
from seasoned.store import open_database
from tests.confirm.keys import make_person
from tests.confirm.load import ADDRESS, STOP, TOKENS, told_in

CLIENTS = 8
POLICY = Policy(rate=RateRule(count=10_000_000), redeem_seconds=3600)
_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 60
_MOST_SECONDS = 0.7
_FINAL = {"approved", "denied", "expired"}


def torture(
    config: Config, folder: Path, *, kills: int, seed: int, between: Callable[[int], None] = lambda _: None
) -> Counter[str]:
    """So many kills at random moments under load; `between` is called after each with its number. What was counted."""
    chance = random.Random(seed)
    _make_tokens(config, folder)
    with ExitStack() as stack:
        keeper = stack.enter_context(_started("tests.confirm.killing", config.home, config.database_url or "", folder))
        _start(keeper, folder)
        names = [str(number) for number in range(CLIENTS)]
        clients = [stack.enter_context(_started("tests.confirm.load", folder, name, seed)) for name in names]
        stack.callback((folder / STOP).touch)
        _until(lambda: all((folder / f"told-{name}.jsonl").exists() for name in names), "the clients did not start")
        early = 0
        for number in range(kills):
            # Most come under load; some before the service has answered anybody, while it starts.
            is_early = number > 0 and chance.random() < 0.15
            early += is_early
            pid = _start(keeper, folder, wait=not is_early) if number else int((folder / "pid").read_text())
            time.sleep(chance.uniform(0, 0.15 if is_early else _MOST_SECONDS))
            os.kill(pid, signal.SIGKILL)
            between(number)
        _start(keeper, folder)
        time.sleep(0.5)
        _let_answer(folder, kills)
        (folder / STOP).touch()
        unanswered = [_ended(one) for one in clients]
        assert keeper.stdin is not None
        keeper.stdin.close()
    return judge(config, folder) + Counter(kills=kills, early=early, unanswered=sum(unanswered))


def _let_answer(folder: Path, kills: int) -> None:
    """On a busy machine a few short lives of the service answer nobody: the last one may take longer."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        with suppress(ValueError):  # a line that is being written
            told = Counter(one.what for one in told_in(folder))
            if min(told[what] for what in ("submitted", "decided", "redeemed")) > kills:
                return
        time.sleep(0.2)


def judge(config: Config, folder: Path) -> Counter[str]:
    """Nothing acknowledged is lost, decided twice or redeemed twice, and the audit holds; how much there was."""
    database = open_database(config)
    try:
        rows = {str(row["id"]): row for row in database.rows("confirm.requests", _ALL)}
        events = Counter((str(row["request_id"]), str(row["event"])) for row in database.rows("confirm.audit_all"))
        audit = verify(database)
    finally:
        database.close()
    assert audit.ok, audit
    counted: Counter[str] = Counter(requests=len(rows), audit=audit.rows)
    by_key: dict[str, str] = {}
    for told in told_in(folder):
        counted[told.what] += 1
        row = rows.get(told.id)
        assert row is not None, f"lost: {told}"
        assert not told.digest or row["digest"] == told.digest, f"another one than it was: {told}"
        if told.status in _FINAL:
            assert row["status"] == told.status, f"taken back: {told}, now {row['status']}"
        if told.what == "submitted":
            assert by_key.setdefault(told.key, told.id) == told.id, f"one key, two requests: {told}"
        elif told.what == "decided":
            assert (row["resolved_at"], row["resolved_by"]) == (told.at, told.by), f"decided anew: {told}"
        elif told.what == "redeemed":
            assert row["redeemed_at"] == told.at, f"redeemed anew: {told}"
    _check_once(folder, rows, events)
    counted["decided_in_all"] = sum(row["status"] in _FINAL for row in rows.values())
    counted["redeemed_in_all"] = sum(row["redeemed_at"] is not None for row in rows.values())
    return counted


_ALL = {"requester": None, "status": None, "unused": 0, "limit": 10_000_000, "before": None}


def _check_once(folder: Path, rows: dict[str, Any], events: Counter[tuple[str, str]]) -> None:
    told = Counter((told.what, told.id) for told in told_in(folder) if told.what in ("decided", "redeemed"))
    assert not [one for one, count in told.items() if count > 1], "two were told that they had won"
    keys = Counter(row["description"] for row in rows.values())
    assert not [one for one, count in keys.items() if count > 1], "a repeated submission made a second request"
    for name, row in rows.items():
        assert events[name, "submitted"] == 1, name
        assert sum(events[name, one] for one in _FINAL) == (row["status"] != "pending"), name
        assert events[name, "redeemed"] == (row["redeemed_at"] is not None), name


def _make_tokens(config: Config, folder: Path) -> None:
    database = open_database(config)
    try:
        agents = [(f"agent{number}", "agent") for number in range(CLIENTS // 2)]
        people = [(f"approver{number}", "approver") for number in range(CLIENTS)]
        tokens = {name: make_person(database, name, role, now=time.time())[1] for name, role in agents + people}  # type: ignore[arg-type]
    finally:
        database.close()
    (folder / TOKENS).write_text(json.dumps(tokens), "utf-8")


def _started(module: str, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )


def _start(keeper: subprocess.Popen[str], folder: Path, *, wait: bool = True) -> int:
    """A new service; its process id, once it can be reached."""
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    keeper.stdin.write("start\n")
    keeper.stdin.flush()
    pid = int(keeper.stdout.readline())
    (folder / "pid").write_text(str(pid))
    if wait:
        _until((folder / f"ready-{pid}").exists, "the service did not start")
    return pid


def _until(is_so: Callable[[], bool], otherwise: str) -> None:
    until = time.monotonic() + _START_SECONDS
    while not is_so():
        assert time.monotonic() < until, otherwise
        time.sleep(0.005)


def _ended(client: subprocess.Popen[str]) -> int:
    assert client.stdout is not None
    said = client.stdout.read()
    assert client.wait(_START_SECONDS) == 0, "a client was told something that it did not expect: see above"
    return int(said)


def main(home: str, database_url: str, folder: str) -> None:
    """Starts the service whenever it is told to, from a process that has everything in memory already."""
    config = Config(home=Path(home), database_url=database_url or None)
    service = 0
    for _ in sys.stdin:
        if service:
            os.waitpid(service, 0)
        service = os.fork()
        if service == 0:
            try:
                _serve(config, Path(folder))
            finally:
                os._exit(1)
        print(service, flush=True)  # noqa: T201
    if service:
        os.kill(service, signal.SIGTERM)
        os.waitpid(service, 0)


def _serve(config: Config, folder: Path) -> None:
    def ready(addresses: Any) -> None:
        beside = folder / f"{ADDRESS}-{os.getpid()}"
        beside.write_text(addresses[0], "utf-8")
        beside.replace(folder / ADDRESS)
        (folder / f"ready-{os.getpid()}").touch()

    service = ConfirmService(config, policy=POLICY)
    serve(create_app(service), service, Listen(port=0), ready=ready)


if __name__ == "__main__":
    main(*sys.argv[1:])
