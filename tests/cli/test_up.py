"""`seasoned up` that serves: the first time it makes the operator, and the pages show what it read."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx2

from seasoned.app.people import user_name
from seasoned.config import load
from tests.cli.run import seasoned
from tests.cli.terminal import terminal
from tests.cli.test_serve import _line_with, started

WORDS = "four words are enough"
LINK = r"http://127\.0\.0\.1:\d+/login/[\w-]{43}"


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


def test_the_first_time_at_a_terminal_up_makes_the_operator_and_the_next_time_asks_nothing(
    home: Path, samples: Path
) -> None:
    with terminal("up", str(samples), "--port", "0") as screen:
        screen.wait_for("New passphrase for")
        screen.type(WORDS + "\n")
        screen.wait_for("Repeat it")
        screen.type(WORDS + "\n")
        screen.wait_for("Do you alone decide")
        screen.type("\n")
        screen.wait_for("To decide on the pages, log in as")
        assert re.search(LINK, _line_with(screen, "Open it: "))
    assert "single_operator = true" in (load().home / "policy.toml").read_text()
    assert user_name() in seasoned("confirm", "token", "list").stdout
    with terminal("up", str(samples), "--port", "0") as screen:
        assert re.search(LINK, _line_with(screen, "Open it: "))


def test_up_shows_and_ends_where_nobody_sits_or_as_json(home: Path, samples: Path) -> None:
    assert "Listening" not in seasoned("up", str(samples)).stdout
    assert "Listening" not in seasoned("up", str(samples), "--json").stdout
