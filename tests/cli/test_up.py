"""`seasoned up` that serves: it asks nothing, and the pages show what it read."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx2

from tests.cli.test_serve import started

LINK = r"http://127\.0\.0\.1:\d+/login/[\w-]{32}"


def test_where_nobody_sits_up_serves_the_samples_by_a_link_that_only_reads(home: Path) -> None:
    with started("up", "--serve") as (process, _):
        assert process.stdout is not None
        lines = []
        while not lines or "Open it: " not in lines[-1]:
            lines.append(process.stdout.readline())
        link = re.search(LINK, lines[-1])
        assert link is not None
        with httpx2.Client(trust_env=False, timeout=20.0, headers={"accept": "text/html"}) as browser:
            path = browser.post(link[0]).headers["location"].rpartition("/")[0]
            sessions = browser.get(httpx2.URL(link[0]).join(f"{path}/sessions?as=json")).json()
            assert sessions["count"] == 41
            # Errors that recur are counted beside the page.
            end = time.monotonic() + 60
            while "wp deploy" not in browser.get(httpx2.URL(link[0]).join(f"{path}/overview")).text:
                assert time.monotonic() < end
                time.sleep(0.1)
    assert not list(home.rglob("samples.db")), "samples never lie among what is the user's own"
