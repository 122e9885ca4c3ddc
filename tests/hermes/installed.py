"""The real Hermes with Seasoned installed beside it from its wheel, once for every state of the source."""

from __future__ import annotations

import fcntl
import functools
import subprocess
import sys
import tempfile
from hashlib import blake2b
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.real_clients import HERMES, VENV, hermes_python, pip


def hermes_with_seasoned() -> Path:
    """The Python of Hermes' environment, in which our wheel is installed; skipped where Hermes cannot be had."""
    python = hermes_python()
    failure = _install(python)
    if failure:
        pytest.fail(f"Seasoned cannot be installed beside Hermes: {failure}")
    return python


@functools.cache
def _install(python: Path) -> str:
    with (VENV / "hermes-seasoned.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp, wanted = HERMES / "seasoned.digest", _digest()
        if stamp.exists() and stamp.read_text() == wanted:
            return ""
        installed = _install_wheel(python)
        if installed.returncode == 0:
            # Not in place: another checkout may have a hard link to it.
            stamp.unlink(missing_ok=True)
            stamp.write_text(wanted)
        return "" if installed.returncode == 0 else installed.stderr[-2000:]


def _install_wheel(python: Path) -> subprocess.CompletedProcess[str]:
    """Built with what our own environment has, instead of one that is made for it."""
    with tempfile.TemporaryDirectory() as folder:
        built = pip(Path(sys.executable), "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT)
        wheels = list(Path(folder).glob("*.whl"))
        if not wheels:
            return built
        # Also where one of the same version is there already; of what it needs, only what is missing.
        pip(python, "install", "-q", "--force-reinstall", "--no-deps", *wheels)
        return pip(python, "install", "-q", *wheels)


def _digest() -> str:
    """Of everything that the wheel is made of."""
    made = blake2b(digest_size=16)
    package = sorted(path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc")
    for path in (ROOT / "pyproject.toml", *package):
        made.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()
