"""The real Hermes 0.19 writes a database that reads as well, and the core lives in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import seasoned
from seasoned.outcome.judge import judge_session
from tests.conftest import ROOT

HERMES = ROOT / ".venv" / "hermes-0.19.0"
PLAY = Path(__file__).parent / "play_hermes.py"


def run(*command: object, timeout: int = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "PIP_", "LANG", "SSL"))}
    return subprocess.run(
        list(map(str, command)),
        env={**keep, "HOME": os.environ["HOME"], **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def hermes_python() -> Path:
    """Hermes in an environment of its own, kept between runs."""
    python = HERMES / "bin" / "python"
    if (HERMES / "done").exists():
        return python
    run(sys.executable, "-m", "venv", HERMES)
    installed = run(python, "-m", "pip", "install", "-q", "hermes-agent==0.19.0")
    if installed.returncode:
        pytest.skip(f"hermes-agent 0.19.0 cannot be had here: {installed.stderr.strip().splitlines()[-1][:200]}")
    (HERMES / "done").touch()
    return python


@pytest.mark.slow
def test_a_database_that_the_real_hermes_wrote_is_read_and_the_core_lives_beside_it(tmp_path: Path) -> None:
    python = hermes_python()
    home = tmp_path / "hermes"
    home.mkdir()
    played = run(python, PLAY, timeout=180, HERMES_HOME=str(home), HOME=str(tmp_path))
    assert played.returncode == 0, played.stderr[-2000:]
    sessions = [session for session in seasoned.read(home / "state.db") if session.messages]
    verdicts = {call.id[-2:]: verdict for session in sessions for call, verdict in judge_session(session)}
    assert {name: verdict.verdict for name, verdict in verdicts.items()} == {"01": "ok", "02": "failed"}
    assert "3" in verdicts["02"].reason

    installed = run(python, "-m", "pip", "install", "-q", ROOT)
    assert installed.returncode == 0, installed.stderr[-2000:]
    checked = run(python, "-m", "pip", "check")
    assert "seasoned" not in checked.stdout, checked.stdout
    code = "import sys, seasoned; print(sum(1 for _ in seasoned.read(sys.argv[1])))"
    inside = run(python, "-c", code, home / "state.db")
    assert (inside.stdout.strip(), inside.returncode) == (str(len(list(seasoned.read(home / "state.db")))), 0)
