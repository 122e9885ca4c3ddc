"""`seasoned up` that serves: it asks nothing, and the pages show what it read."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx2

from seasoned.config import load
from tests.cli.run import seasoned
from tests.cli.terminal import terminal
from tests.cli.test_serve import _line_with, started

WORDS = "four words are enough"
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


def test_at_a_terminal_up_asks_nothing_and_serves(home: Path, samples: Path) -> None:
    with terminal("up", str(samples), "--port", "0") as screen:
        seen = _line_with(screen, "Open it: ")
    assert re.search(LINK, seen)
    assert "assphrase" not in seen and not (load().home / "policy.toml").exists()


def test_up_shows_and_ends_where_nobody_sits_or_as_json(home: Path, samples: Path) -> None:
    assert "Listening" not in seasoned("up", str(samples)).stdout
    assert "Listening" not in seasoned("up", str(samples), "--json").stdout
