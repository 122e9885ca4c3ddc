"""What every test shares: a home of its own, and the real sessions where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.databases import any_database, database_config, postgres_server, postgres_url

__all__ = ["any_database", "database_config", "postgres_server", "postgres_url"]

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or changes the user's own folders."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SEASONED_HOME", str(home / ".seasoned"))
    for variable in ("HERMES_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "SEASONED_DATABASE_URL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def home() -> Path:
    return Path.home()


@pytest.fixture(scope="session")
def data() -> Path:
    """Real public sessions beside the checkout; they are not part of the project."""
    if not DATA.is_dir():
        pytest.skip(f"no real sessions at {DATA}: this test needs them")
    return DATA


@pytest.fixture(scope="session")
def samples() -> Path:
    return ROOT / "src" / "seasoned" / "samples"
