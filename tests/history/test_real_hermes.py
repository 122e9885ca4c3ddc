"""The real Hermes 0.19 writes a database that reads as well, and the core lives in its environment."""

from __future__ import annotations

from pathlib import Path

import pytest

import seasoned
from seasoned.outcome.judge import judge_session
from tests.hermes.installed import hermes_with_seasoned
from tests.real_clients import run

PLAY = Path(__file__).parent / "play_hermes.py"


@pytest.mark.slow
def test_a_database_that_the_real_hermes_wrote_is_read_and_the_core_lives_beside_it(tmp_path: Path) -> None:
    python = hermes_with_seasoned()
    home = tmp_path / "hermes"
    home.mkdir()
    played = run(python, PLAY, timeout=180, HERMES_HOME=str(home), HOME=str(tmp_path))
    assert played.returncode == 0, played.stderr[-2000:]
    sessions = [session for session in seasoned.read(home / "state.db") if session.messages]
    verdicts = {call.id[-2:]: verdict for session in sessions for call, verdict in judge_session(session)}
    assert {name: verdict.verdict for name, verdict in verdicts.items()} == {"01": "ok", "02": "failed"}
    assert "3" in verdicts["02"].reason

    checked = run(python, "-m", "pip", "check")
    assert "seasoned" not in checked.stdout, checked.stdout
    code = "import sys, seasoned; print(sum(1 for _ in seasoned.read(sys.argv[1])))"
    inside = run(python, "-c", code, home / "state.db")
    assert (inside.stdout.strip(), inside.returncode) == (str(len(list(seasoned.read(home / "state.db")))), 0)
