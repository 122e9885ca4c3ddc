"""The page of the schedule, over a real server."""

from __future__ import annotations

import re
import time
from pathlib import Path

from seasoned.config import Config
from seasoned.schedule import job_table
from seasoned.schedule.job import Every, Job, new_id
from seasoned.schedule.job_table import hold
from seasoned.schedule.slots import finish
from seasoned.store import open_database
from tests.schedule.made import START, job
from tests.schedule.places import config_at_home, run_job
from tests.scripted_model import serve_script
from tests.web.pages import Site, site


def _post(found: Site, name: str) -> None:
    database = open_database(Config(home=found.serving.home))
    try:
        job = Job(
            id=new_id(),
            name=name,
            schedule=Every(3600),
            prompt="Look around.",
            delivery=("none",),
            created_at=time.time(),
        )
        job_table.add(database, job, now=time.time())
    finally:
        database.close()


def test_without_jobs_it_says_what_to_do(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor() as alice:
        text = alice.client.get(f"{alice.path}/schedule").text
        assert "No jobs yet" in text and "seasoned cron add" in text


def test_a_dead_scheduler_is_noticed_on_the_page(tmp_path: Path) -> None:
    with site(tmp_path) as found, found.visitor() as alice:
        _post(found, "look around")
        text = alice.client.get(f"{alice.path}/schedule").text
        assert "no scheduler is running" in text and 'role="alert"' in text
        assert "look around" in text
        database = open_database(Config(home=found.serving.home))
        try:
            hold(database, owner="one", now=time.time())
        finally:
            database.close()
        assert "A scheduler is running" in alice.client.get(f"{alice.path}/schedule").text


def test_a_run_leads_to_the_session_that_it_was(tmp_path: Path) -> None:
    with serve_script("All is well.") as server:
        config = config_at_home(base_url=server.base_url, model="scripted")
        record = run_job(job(name="morning"), config)
    database = open_database(config)
    try:
        job_table.add_slot(database, record.slot, origin="slot")
        key = {"job_id": "j1", "scheduled_at": START, "owner": "one"}
        database.run("schedule.start_slot", {**key, "now": START})
        assert finish(database, record, owner="one")
    finally:
        database.close()
    with site(config.home) as found, found.visitor() as alice:
        link = re.search(r'href="([^"]*/sessions/[^"]+)"', alice.client.get(f"{alice.path}/schedule").text)
        assert link is not None
        assert "All is well." in alice.client.get(link[1]).text
