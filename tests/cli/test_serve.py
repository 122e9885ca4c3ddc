"""`seasoned serve`: the service and its pages in one process, with a link for browsers that read."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from seasoned.config import load
from seasoned.confirm.people.change import first_admin
from seasoned.store import open_database
from tests.cli.run import SEASONED, answer, seasoned
from tests.cli.terminal import Terminal, terminal

WORDS = "four words are enough"


@pytest.fixture
def ada(home: Path) -> str:
    """An admin with a passphrase; the token."""
    database = open_database(load())
    try:
        return first_admin(database, "ada", WORDS, now=time.time())[1]
    finally:
        database.close()


def _line_with(screen: Terminal, words: str) -> str:
    """The line that holds these words, whole."""
    return screen.wait_for(words) + screen.wait_for("\n")


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command that serves, where nobody sits, and its address."""
    process = subprocess.Popen(
        [str(SEASONED), *arguments, "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().removeprefix("Listening on ").strip()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def test_at_a_terminal_it_prints_a_link_that_reads_and_the_page_asks_for_the_passphrase_to_decide(ada: str) -> None:
    with terminal("serve", "--port", "0") as screen:
        link = re.search(r"http://127\.0\.0\.1:\d+/login/[\w-]{32}", _line_with(screen, "Open it: "))
        assert link is not None
        with httpx2.Client(trust_env=False, timeout=20.0, headers={"accept": "text/html"}) as browser:
            path = browser.post(link[0]).headers["location"].rpartition("/")[0]
            assert path == "", "the pages of who reads have addresses to bookmark"
            page = httpx2.URL(link[0]).join("/confirmations")
            check = re.search(r'name="check" value="([^"]+)"', browser.get(page).text)
            assert check is not None
            form = {"check": check[1], "page": "confirmations", "name": "ada"}
            refused = browser.post(page.join("/decide"), data={**form, "passphrase": "five wrong words for this"})
            assert (refused.status_code, "wrong passphrase" in refused.text) == (401, True)
            entered = browser.post(page.join("/decide"), data={**form, "passphrase": WORDS})
            assert "No pending requests" in browser.get(page.join(entered.headers["location"])).text


def test_where_nobody_sits_it_serves_the_service_and_a_page_that_asks_for_a_token(ada: str) -> None:
    with started("serve") as (process, url):
        assert process.stdout is not None
        assert process.stdout.readline() == f"Log in with an approver's token: {url}/login\n"
        assert httpx2.get(f"{url}/health", trust_env=False).json()["status"] == "ok"
        headers = {"authorization": f"Bearer {ada}"}
        assert httpx2.get(f"{url}/confirm", trust_env=False, headers=headers).json()["count"] == 0
        assert "Token of an approver or admin" in httpx2.get(f"{url}/login", trust_env=False).text
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


def test_it_listens_where_the_service_alone_would_and_nowhere_else(home: Path) -> None:
    done = seasoned("serve", "--host", "0.0.0.0", "--port", "0", expect=2)
    assert "--insecure-listen" in done.stderr


def test_in_the_background_it_goes_on_and_doctor_says_where(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "--port 0" in seasoned("serve", "--background", "--port", "0", expect=2).stderr
    (load().home).mkdir(parents=True, exist_ok=True)
    (load().home / "policy.toml").write_text(f"[listen]\nport = {port}\n")
    assert "not served now" in _pages_check()
    command = [str(SEASONED), "serve", "--background", "--no-gateway", "--no-schedule"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    found = re.search(r"Running at (\S+) until you stop process (\d+)[^\n]*\nOpen it: (\S+)", said)
    assert found is not None, said
    try:
        assert found[1] == f"http://127.0.0.1:{port}" and f"served at {found[1]}" in _pages_check()
        with httpx2.Client(base_url=found[1], trust_env=False) as browser:
            assert browser.post(found[3].removeprefix(found[1])).headers["location"] == "/overview"
            assert browser.get("/usage").status_code == 200
        again = seasoned("serve", "--background").stdout
        assert "Already running" in again and found[3] in again
    finally:
        os.kill(int(found[2]), signal.SIGTERM)
    end = time.monotonic() + 20
    while "not served now" not in _pages_check():
        assert time.monotonic() < end


def _pages_check() -> str:
    checks = answer("doctor")["checks"]
    return next(str(one["finding"]) for one in checks if one["name"] == "pages")
