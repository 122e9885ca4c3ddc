"""A gateway that is killed under load, again and again: no tokens are lost, and no conversation is corrupt."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from seasoned.history.reader.seasoned_db import read
from tests.gateway.loading import INPUT, OUTPUT, CountingUpstream, Gateway, Load, figures
from tests.gateway.running import config_in
from tests.torture import TORTURE

WINDOW_SECONDS = 1.0
"""What the gateway states: how long something said may wait to be written."""
BUSY_SECONDS = 4.0
"""For a machine that does other things too."""
KILL_SECONDS = 0.5
"""Between the moment that is noted for a kill and the end of the process."""
KILLS = 50 if TORTURE else 1


def test_kill_9_under_load_loses_no_tokens_and_corrupts_no_session(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    upstream = CountingUpstream([])
    serving = threading.Thread(target=upstream.serve, daemon=True)
    serving.start()
    gateway = Gateway(config.home, upstream.url)
    gateway.start()
    load = Load(gateway.port)
    chance = random.Random(7)
    killed: list[float] = []
    try:
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.2, 3.0))
            killed.append(time.monotonic())
            gateway.kill()
            gateway.start()
        time.sleep(0.5)
    finally:
        load.stop()
        gateway.stop()
        upstream.close()
    found = _rows(config.store_path)
    _check_tokens(found, load, upstream)
    _check_sessions(config.store_path, found, load, killed)


def _rows(path: Path) -> list[dict[str, Any]]:
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        found = [dict(row) for row in connection.execute("SELECT * FROM gateway_request")]
    connection.close()
    return found


def _check_tokens(found: list[dict[str, Any]], load: Load, upstream: CountingUpstream) -> None:
    """Every answer that a client has is accounted for once, with the upstream's own figures."""
    assert len(load.completed) > 10 * KILLS
    complete = Counter(figures(row) for row in found if row["ended"] == "complete")
    told = {(INPUT + number, OUTPUT): number for number in load.completed}
    assert told.keys() <= complete.keys()
    served = Counter(line["asked"] for line in upstream.requests if line["sent"])
    # A client that was cut off asks again: what the upstream then served twice may be there twice, and never more.
    for (taken, given), times in complete.items():
        assert given == OUTPUT
        assert 1 <= times <= served[taken - INPUT]


def _check_sessions(path: Path, found: list[dict[str, Any]], load: Load, killed: list[float]) -> None:
    """Each session is readable, in order and without anything twice; what is missing fell into a window, marked so."""
    sessions = {session.ref.native_id: session for session in read(path)}
    unmarked = {figures(row)[0] - INPUT for row in found if row["is_recorded"]}
    for name, said in load.said.items():
        told = [message.text for message in sessions[name].messages] if name in sessions else []
        places = [said.index(text) for text in told if text in said]
        assert places == sorted(set(places)), (name, told)
        for number in [int(text.split()[1]) for text in said if text.startswith("answer") and text not in told]:
            assert number not in unmarked, "what is missing is marked so"
            # Only a kill after the answer can have lost it. The times are those of two threads.
            waits = [at - load.completed[number] for at in killed]
            waited = min([wait for wait in waits if wait > -KILL_SECONDS], default=float("inf"))
            # A busy machine keeps no window; that nothing is lost unmarked holds there too.
            is_starved = os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)
            assert is_starved or waited < WINDOW_SECONDS + BUSY_SECONDS, (
                f"answer {number} was lost after {waited:.2f} s"
            )
