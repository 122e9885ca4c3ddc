"""The whole way: a scheduler wakes for a job, its script and its agent run, and real servers get the answer."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from seasoned.app.scheduler import running_scheduler
from seasoned.config import Config
from seasoned.learn_queue import wait_until_learned
from seasoned.schedule.job import At, JobRun
from seasoned.schedule.job_table import add, history, plan_due, start_due
from seasoned.store import open_database, open_store
from tests.schedule.made import job
from tests.schedule.places import config_at_home, script, serve_web
from tests.scripted_model import serve_script


def wait_for(config: Config, is_there: Callable[[list[JobRun]], bool]) -> list[JobRun]:
    until = time.monotonic() + 30
    database = open_database(config)
    try:
        while not is_there(found := history(database)):
            assert time.monotonic() < until, found
            time.sleep(0.05)
    finally:
        database.close()
    return found


def post(config: Config, **fields: Any) -> None:
    """A job whose time comes at once."""
    now = time.time()
    database = open_database(config)
    try:
        add(database, job(**{"schedule": At(now + 0.2), "created_at": now, **fields}), now=now)
    finally:
        database.close()


@pytest.mark.parametrize(
    ("text", "answer", "outcome", "fault", "title"),
    [
        ("echo 3 commits", "Three commits.", "ok", "", "one – 2"),
        ("echo 3 commits", " ", "empty", "", "one – empty"),
        ("exit 2", "All is well.", "failed", "script", "one – failed (script)"),
        ("echo 3 commits", ValueError("no"), "failed", "agent", "one – failed (agent)"),
    ],
)
def test_a_job_runs_at_its_time_and_its_answer_arrives_everywhere(
    text: str, answer: Any, outcome: str, fault: str, title: str
) -> None:
    with serve_script(answer, answer, answer) as server, serve_web() as web:
        config = config_at_home(base_url=server.base_url, model="scripted", webhook_url=f"{web.url}/hook")
        out = io.StringIO()
        with running_scheduler(config, out=out, poll_seconds=0.05):
            delivery = ("webhook", "stdout", "file:x.md")
            post(config, script=script(text), delivery=delivery)
            (record,) = wait_for(config, lambda found: bool(found) and found[0].delivery == "delivered")
        assert "seasoned-schedule" not in [one.name for one in threading.enumerate()]
        assert (record.outcome, record.fault) == (outcome, fault)
        (body,) = web.bodies
        assert body["title"].startswith(title)
        assert body["data"]["outcome"] == outcome
    assert wait_until_learned(str(config.home), 60)
    with open_store(config.store_path) as store:
        ended = store.connection.execute("SELECT count(told_end_at) FROM session").fetchone()[0]
    assert ended == 1, "a run of an agent is learned from when it ends"
    assert title in out.getvalue()
    assert title in (config.home / "reports" / "x.md").read_text()


def test_a_run_whose_scheduler_died_is_delivered_as_unknown_and_not_run_again() -> None:
    with serve_script("Hello.") as server, serve_web() as web:
        config = config_at_home(base_url=server.base_url, model="scripted", webhook_url=f"{web.url}/hook")
        post(config, delivery=("webhook",))
        time.sleep(0.3)
        database = open_database(config)
        try:
            plan_due(database, now=time.time())
            assert len(start_due(database, owner="dead", now=time.time(), limit=1)) == 1
        finally:
            database.close()
        with running_scheduler(config, poll_seconds=0.05):
            (record,) = wait_for(config, lambda found: bool(found) and found[0].delivery == "delivered")
        assert record.outcome == "unknown"
        (body,) = web.bodies
        assert body["data"]["outcome"] == "unknown" and server.heard == []
