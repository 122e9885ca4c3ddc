"""What every test shares: a home of its own, and the real sessions where they are at hand."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

from tests.databases import any_database, database_config, postgres_server, postgres_url, safe_postgres
from tests.torture import TORTURE

__all__ = ["any_database", "database_config", "postgres_server", "postgres_url", "safe_postgres"]

_Case = TypeVar("_Case")

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"

# What is compiled while tests are collected is kept, also where the environment says otherwise: pytest rewrites every
# assertion, which takes longer than all else of collecting, and each process of `-n` would do it again.
_WRITES_NO_BYTECODE = sys.dont_write_bytecode
sys.dont_write_bytecode = False

# Property tests look at few examples in `make test`, so that it stays quick, and at many in `make torture`.
# No deadline: other work on the same machine would decide which example fails.
settings.register_profile("ci", max_examples=30, deadline=None)
settings.register_profile("torture", max_examples=300, deadline=None)
settings.load_profile("torture" if TORTURE else "ci")


def examples(most: int) -> int:
    """For a property test that looks at more than the others: all in `make torture`, a quarter in `make test`."""
    return most if TORTURE else max(30, most // 4)


def one_in(number: int, cases: Iterable[_Case]) -> list[_Case]:
    """For a test that goes over many cases: all in `make torture`, one in so many in `make test`."""
    return list(cases)[:: 1 if TORTURE else number]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto` one process more than processors: real agents and servers are often waited for."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that take longest begin first, so that none of them is left over at the end; otherwise the order stays.

    The first process gets them. It mostly waits for real programs, while the others keep the processors busy.
    """
    items.sort(key=lambda item: not _takes_long(item))


def _takes_long(item: pytest.Item) -> bool:
    real = item.path.name.startswith("test_real_") or item.path.parent.name == "browser"
    return real or item.get_closest_marker("slow") is not None


def pytest_collection_finish() -> None:
    sys.dont_write_bytecode = _WRITES_NO_BYTECODE
    # Modules and tests stay to the end: the collector need not look at some million objects again and again.
    gc.collect()
    gc.freeze()


_HOMES = count()


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or changes the user's own folders."""
    # Not a numbered folder: to find a free number pytest would list the thousands that are there.
    home = tmp_path_factory.mktemp(f"home-{next(_HOMES)}", numbered=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SEASONED_HOME", str(home / ".seasoned"))
    # A test that is about the process in the background switches it on, and ends it.
    monkeypatch.setenv("SEASONED_HOOK_RESIDENT", "0")
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
