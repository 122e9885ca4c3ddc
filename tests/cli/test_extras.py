"""Without the libraries of the extras every command works, or says in one sentence which extra it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import without_extras


@pytest.mark.parametrize("installed", [(), ("numpy", "scipy", "jinja2")], ids=["core", "insight"])
def test_no_command_crashes_without_an_extra(
    samples: Path, home: Path, tmp_path: Path, installed: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, without_extras.__file__, str(samples), *installed],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("", 0), done.stdout + done.stderr
