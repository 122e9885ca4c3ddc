"""`forget` and `export` where a session asked people and ran by schedule: on each engine, the audit stays whole."""

from __future__ import annotations

import json
import time

import pytest

from seasoned.config import Config
from seasoned.confirm.audit.chain import verify_chain
from seasoned.schedule import job_table
from seasoned.schedule.job import Every, Job, JobRun, Slot
from seasoned.schedule.job_table import finish
from seasoned.store import Database, open_database, open_store
from tests.cli.run import seasoned
from tests.confirm.books import Scene

WORD = "Zanzibar"
SESSIONS = ("cron_j1_1", "cron_j1_2")


@pytest.fixture
def environment(database_config: Config) -> dict[str, str]:
    """Two sessions that ran by schedule; the first one asked twice, and was answered once."""
    with open_store(database_config.store_path) as store, store.write():
        for native_id in SESSIONS:
            store.connection.execute("INSERT INTO session (agent, native_id) VALUES ('seasoned', ?)", (native_id,))
    database = open_database(database_config)
    try:
        scene = Scene(database)
        first = f"seasoned:{SESSIONS[0]}"
        scene.deny(scene.ask(session_key=first, description=f"Deploy {WORD}", details={"to": WORD}))
        scene.ask(session_key=first, description=f"Delete {WORD}")
        scene.ask(session_key=f"seasoned:{SESSIONS[1]}")
        scene.ask(session_key="")
        job = Job(id="j1", name="morning", schedule=Every(3600), prompt="Look.", created_at=1.0)
        job_table.add(database, job, now=time.time())
        for at, native_id in enumerate(SESSIONS, 1):
            _run(database, at, native_id, f"{native_id} said {WORD}" if at == 1 else "Stays.")
    finally:
        database.close()
    url = {} if database_config.database_url is None else {"SEASONED_DATABASE_URL": database_config.database_url}
    return {"SEASONED_HOME": str(database_config.home), **url}


def _run(database: Database, at: int, session: str, said: str) -> None:
    key = {"job_id": "j1", "scheduled_at": float(at), "owner": "o"}
    with database.write():
        job_table.add_slot(database, Slot("j1", float(at)), origin="slot")
        assert database.run("schedule.start_slot", {**key, "now": 1.0})
    ended = {"output": said, "script_output": said, "reason": said, "note": said, "session": session}
    record = JobRun(job_id="j1", scheduled_at=float(at), outcome="failed", delivery="pending", ended_at=2.0, **ended)
    assert finish(database, record, owner="o")


@pytest.mark.parametrize("everything", [False, True])
def test_runs_lose_what_the_session_said_and_requests_stay_and_that_is_said(
    everything: bool, database_config: Config, environment: dict[str, str]
) -> None:
    done = seasoned("forget", *(["--all"] if everything else [SESSIONS[0]]), "--yes", **environment)
    number, waiting = (3, 2) if everything else (2, 1)
    assert f"Still there: {number} confirmation requests, redacted, {waiting} of them pending." in done.stderr
    assert "never changed, so that the audit can be verified." in done.stderr
    database = open_database(database_config)
    try:
        first, second = database.rows("trace.runs")
        assert WORD not in str(dict(first)) and SESSIONS[0] not in str(dict(first))
        assert (first["outcome"], first["reason"], first["delivery"]) == (
            "failed",
            "Its session was forgotten.",
            "none",
        )
        assert (second["session"], second["output"]) == ((None, "") if everything else (SESSIONS[1], "Stays."))
        assert [row["description"] for row in database.rows("trace.requests")].count(f"Deploy {WORD}") == 1
        assert verify_chain(database).ok
    finally:
        database.close()


def test_an_export_holds_requests_as_they_are_redacted_and_runs(environment: dict[str, str]) -> None:
    lines = [json.loads(line) for line in seasoned("export", **environment).stdout.splitlines()]
    asked = [line for line in lines if line["table"] == "request"]
    assert [one["status"] for one in asked].count("denied") == 1 and len(asked) == 4
    assert asked[0].keys().isdisjoint({"sealed", "idempotency_hash", "person"}), "nothing that opens or identifies"
    runs = [line for line in lines if line["table"] == "job_run"]
    assert [one["session"] for one in runs] == list(SESSIONS)
    assert {line["schema"] for line in lines} == {"seasoned/export/1"}
