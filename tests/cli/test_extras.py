"""Without libraries every command works, or says in one sentence what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import without_extras


@pytest.mark.parametrize("mode", [(), ("alone",)], ids=["without extras", "without dependencies"])
def test_no_command_crashes_without_a_library(samples: Path, home: Path, tmp_path: Path, mode: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, without_extras.__file__, str(samples), *mode],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("", 0), done.stdout + done.stderr
