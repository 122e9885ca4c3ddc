"""A newcomer's hour: `make run` in a home with a week of histories, three questions, every page, and a restart."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.walking import ALL_SIGHTS, Walk
from tests.history.claude_lines import ClaudeFile

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pty = pytest.importorskip("pty")
ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 300.0


class Terminal:
    """A program at a terminal of its own, and what it wrote there."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execvpe(command[0], command, environment)
        self.text = ""

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Read on until this is written."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (found := re.search(pattern, self.text)) is None:
            assert time.monotonic() < end, self.text
            try:
                self.text += os.read(self.handle, 65536).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(self.text) from None
        return found

    def end(self) -> None:
        os.write(self.handle, b"\x03")
        end = time.monotonic() + 20
        while time.monotonic() < end and os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            try:
                os.read(self.handle, 65536)
            except OSError:
                break
        os.close(self.handle)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
    return {
        **kept,
        "HOME": str(tmp_path),
        "SEASONED_HOME": str(tmp_path / "seasoned"),
        "TERM": "xterm",
        "COLUMNS": "200",
    }


@contextmanager
def run(environment: dict[str, str], port: int) -> Iterator[Terminal]:
    if shutil.which("make") is None or not (ROOT / ".venv").exists():
        pytest.skip("make and the project's own environment are needed")
    # What `make setup` did is not done again.
    started = Terminal(["make", "-s", "-o", ".venv/run.stamp", "run", f"UP=--port {port}"], environment)
    try:
        yield started
    finally:
        started.end()


def write_histories(home: Path) -> None:
    """A week of two projects: some calls failed yesterday, and one session talked about carriers."""
    for at in range(12):
        name = f"{at:08d}-2222-4333-8444-555555555555"
        project = ("waypost", "shop")[at % 2]
        said = "Which carriers deliver on Sunday?" if at == 4 else f"Fix the parcel label {'abcdefghijkl'[at]}."
        file = ClaudeFile(name).user(said).says("I look at the tests first.", tokens=4000)
        wrong, right = f"toolu_{at}a", f"toolu_{at}b"
        file.calls(wrong, command="npm run tset").result(wrong, "npm error Missing script: tset", is_error=True)
        file.calls(right, command="npm test").result(right, "3 passed", is_error=False)
        day = (datetime.now(UTC) - timedelta(days=at // 2, hours=1)).strftime("%Y-%m-%d")
        changes = {"2026-03-01": day, "/home/mira/waypost": f"/home/mira/{project}", "claude-test": "claude-sonnet-4-5"}
        for old, new in changes.items():
            file.lines = [line.replace(old.encode(), new.encode()) for line in file.lines]
        folder = home / ".claude" / "projects" / f"-home-mira-{project}"
        folder.mkdir(parents=True, exist_ok=True)
        file.write(folder / f"{name}.jsonl")


class Hour:
    """The steps that were taken, each with its time."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float]] = []
        self.began = time.monotonic()

    def done(self, step: str) -> None:
        self.steps.append((step, time.monotonic() - self.began))
        self.began = time.monotonic()


def ask_in_the_browser(walker: Walk, base: str, hour: Hour) -> str:
    """The three questions of a day, each with at most two clicks from the overview; the address of a session."""
    page = walker.page
    page.click("#wrong .lines a")
    page.wait_for_selector(".call.failed:target")
    session = page.url.partition("?")[0]
    hour.done("what went wrong: one click")
    walker.go(f"{base}/overview")
    page.click(".trends a[href*='usage']")
    page.wait_for_selector("#table-recorded td:has-text('$')")
    assert page.locator("#spending rect").count() > 2
    assert {"waypost", "shop"} <= set(page.inner_text("#spending .key").split())
    hour.done("what it cost by project: one click")
    walker.go(f"{base}/overview")
    page.fill(".find input", "carriers sunday")
    page.keyboard.press("Enter")
    page.click(".hits li:first-child a")
    page.wait_for_selector(".turn:target:has-text('carriers')")
    hour.done("where it was talked about: words and one click")
    return session


def look_around(walker: Walk, base: str, session: str) -> None:
    """Six pages in every width and colour scheme, without a fault that axe knows; the overview is one screen."""
    pages = {
        "overview": "overview",
        "project": "projects/shop",
        "session": session.removeprefix(f"{base}/"),
        "usage": "usage",
        "search": "search?q=carriers",
        "lessons": "projects/shop#lines",
    }
    for name, path in pages.items():
        walker.go(f"{base}/{path}")
        for width, scheme in ALL_SIGHTS:
            walker.change_to(width, scheme)
            walker.check_accessible(every=True)
            walker.shoot(f"{name}-{width}-{scheme}")
    walker.go(f"{base}/overview")
    for width, height in ((1280, 800), (390, 844)):
        walker.page.set_viewport_size({"width": width, "height": height})
        assert walker.page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0, "one screen"
    walker.change_to(*ALL_SIGHTS[0])
    assert walker.page.evaluate("document.querySelector('.top').offsetHeight") < 70, "the navigation is one row"


def test_a_newcomer_gets_answers_without_a_question_and_bookmarks_outlive_the_server(
    browser: Browser, environment: dict[str, str], tmp_path: Path
) -> None:
    write_histories(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base, hour = f"http://127.0.0.1:{port}", Hour()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        with run(environment, port) as terminal:
            address = terminal.wait_for(r"Open it: (http\S+)\s")[1]
            hour.done("make run until the link")
            walker = Walk(context.new_page(), base)
            walker.enter(address)
            walker.page.wait_for_selector(".trends svg.spark")
            hour.done("the overview")
            session = ask_in_the_browser(walker, base, hour)
            look_around(walker, base, session)
            hour.done("six pages, each in four sights")
            walker.page.keyboard.press("g")
            walker.page.keyboard.press("3")
            walker.page.wait_for_url("**/sessions")
            assert (
                "assphrase" not in terminal.text and "Traceback" not in terminal.text and "[y/N]" not in terminal.text
            )
        walker.page.close()
        with run(environment, port) as terminal:
            terminal.wait_for(r"Open it: http")
            again = Walk(context.new_page(), base)
            for bookmark in (f"{base}/usage", session, f"{base}/projects/waypost"):
                again.go(bookmark)
                assert again.page.url == bookmark and again.page.query_selector("main h1") is not None
            assert "waypost" in again.page.inner_text("h1")
            hour.done("bookmarks after a restart")
            assert walker.problems == again.problems == []
    finally:
        context.close()
        print("", *[f"{seconds:6.1f} s  {step}" for step, seconds in hour.steps], sep="\n")  # noqa: T201
