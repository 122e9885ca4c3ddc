"""A newcomer's path: `make run` in an empty home, the link, and from page to page until a request is denied."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.walking import Walk

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pty = pytest.importorskip("pty")
ROOT = Path(__file__).resolve().parents[2]
PASSPHRASE = "correct horse battery staple"
PATIENCE_SECONDS = 120.0
ADMIN = ("-m", "seasoned.cli.main", "confirm", "token", "make", "ada", "--role", "admin")


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

    def type(self, text: str) -> None:
        # What is typed before a question is asked is thrown away.
        time.sleep(0.2)
        os.write(self.handle, text.encode() + b"\r")

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


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[Terminal]:
    if shutil.which("make") is None or not (ROOT / ".venv").exists():
        pytest.skip("make and the project's own environment are needed")
    # What `make setup` did is not done again.
    started = Terminal(["make", "-s", "-o", ".venv/run.stamp", "run", "UP=--port 0"], environment)
    yield started
    started.end()


def seasoned(environment: dict[str, str], *arguments: str) -> str:
    """A command in a second terminal."""
    command = [sys.executable, "-m", "seasoned.cli.main", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_newcomer_comes_from_an_empty_home_to_a_denied_request(
    browser: Browser, terminal: Terminal, environment: dict[str, str], tmp_path: Path
) -> None:
    address = terminal.wait_for(r"Open it: (http\S+)\s")[1]
    base = address.partition("/login")[0]
    assert "These are the samples that come with Seasoned" in terminal.text
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        walker = Walk(context.new_page(), base)
        page = walker.page
        walker.enter(address)
        assert page.url.endswith("/overview")
        page.wait_for_selector(".trends svg.spark")
        page.click("#wrong .lines a")
        page.wait_for_selector(".call.failed")
        page.go_back()
        page.click("nav >> text=Sessions")
        page.fill("main input[type=search]", "c73c43e8")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Show all")
        page.click("#table-sessions tbody a")
        page.wait_for_selector(".turn")
        Path(environment["SEASONED_HOME"], "policy.toml").write_text("single_operator = true\n")
        admin = Terminal([sys.executable, *ADMIN], environment)
        admin.wait_for("New passphrase")
        admin.type(PASSPHRASE)
        admin.wait_for("Repeat it")
        admin.type(PASSPHRASE)
        admin.wait_for("ada is now")
        admin.end()
        token = tmp_path / "token"
        made = ("confirm", "token", "make", "helper", "--role", "agent", "--out", str(token))
        other = Terminal([sys.executable, "-m", "seasoned.cli.main", *made], environment)
        other.wait_for("assphrase")
        other.type(PASSPHRASE)
        other.wait_for(re.escape(str(token)))
        other.end()
        page.click("nav >> text=Confirmations")
        page.fill("#name", "ada")
        page.fill("#passphrase", PASSPHRASE)
        page.click("main form button")
        page.wait_for_selector("#list")
        visit = page.url.rpartition("/")[0]
        asked = ("confirm", "submit", "delete_data", "Delete the old logs")
        seasoned(environment, *asked, "--url", base, "--token-file", str(token))
        page.click("#list a.row")
        page.click("#deny summary")
        page.fill("#why-deny", "They are still needed.")
        page.click("#deny button")
        page.wait_for_selector(".ending.denied")
        assert "They are still needed." in page.inner_text(".ending")
        assert page.url.startswith(f"{visit}/confirmations/")
        assert walker.problems == []
    finally:
        context.close()
