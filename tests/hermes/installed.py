"""The real Hermes with Seasoned installed beside it from its wheel, once for every state of the source."""

from __future__ import annotations

import fcntl
import functools
from hashlib import blake2b
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.real_clients import HERMES, VENV, hermes_python, run


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
        installed = run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", ROOT)
        if installed.returncode == 0:
            # Not in place: another checkout may have a hard link to it.
            stamp.unlink(missing_ok=True)
            stamp.write_text(wanted)
        return "" if installed.returncode == 0 else installed.stderr[-2000:]


def _digest() -> str:
    """Of everything that the wheel is made of."""
    made = blake2b(digest_size=16)
    package = sorted(path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc")
    for path in (ROOT / "pyproject.toml", *package):
        made.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()
