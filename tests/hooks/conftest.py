"""What tests of hooks share: a home whose project is known."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.run import SEASONED
from tests.hooks.test_events import write_sessions


@pytest.fixture(scope="session")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sessions of one project, read once: each test gets a copy."""
    folder = tmp_path_factory.mktemp("scanned")
    write_sessions(folder / "history")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEASONED_")}
    own = {**kept, "HOME": str(folder), "SEASONED_HOME": str(folder / ".seasoned")}
    subprocess.run([SEASONED, "scan", folder / "history"], env=own, check=True, capture_output=True)
    return folder / ".seasoned"


@pytest.fixture
def known_project(scanned: Path, home: Path) -> Path:
    """The home of a user whose sessions of a project were read."""
    shutil.copytree(scanned, home / ".seasoned")
    return home
