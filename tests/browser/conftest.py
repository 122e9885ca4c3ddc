"""A real browser, where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


def start_chromium(playwright: Playwright) -> Browser:
    """The chromium of the system; playwright's own is not downloaded."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    # As root chromium starts only without its own sandbox; the pages are the project's own files.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=program, args=arguments)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A real browser, for all tests of this folder: none of the others could run a loop of events beside it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: see requirements/dev.in")
    if not any(map(shutil.which, NAMES)):
        pytest.skip(f"none of {', '.join(NAMES)} is installed: these tests need a browser")
    with sync_api.sync_playwright() as playwright:
        started = start_chromium(playwright)
        yield started
        started.close()
