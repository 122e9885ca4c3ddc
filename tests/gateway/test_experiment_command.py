"""The commands of running experiments, as a user types them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from seasoned.config import Config
from seasoned.example.library.storage import set_state
from seasoned.experiment.live.assignment import assign_logged, load_split, log_exposure, log_foregone
from seasoned.store import open_store
from tests.cli.run import seasoned
from tests.experiment.stored import add_call, add_session
from tests.gateway.live_world import EXAMPLE, TOOL, teach

BEGUN = 10_000.0
"""Seconds ago, so that every outcome is frozen."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    teach(Config(home=tmp_path))
    return tmp_path


def _seasoned(home: Path, *words: str, expect: int = 0) -> CompletedProcess[str]:
    return seasoned(*words, expect=expect, SEASONED_HOME=str(home))


def _live(home: Path, sessions: int = 120) -> None:
    """Sessions of both arms: those that were shown the example fail."""
    with open_store(Config(home=home).store_path) as store:
        split = load_split(store, "autumn")
        for number in range(sessions):
            name, at = f"gateway:{number}", time.time() - BEGUN + number
            found = assign_logged(store, split, name, now=at)
            assert found is not None
            log = log_exposure if found.arm == "warm" else log_foregone
            log(store, "autumn", name, arm="warm", example_ids=[EXAMPLE.id], now=at)
            counts_as = "failed" if found.arm == "warm" and number % 5 > 0 else "ok"
            add_call(store, add_session(store, name), 0, counts_as, at + 1, tool=TOOL)


def test_an_experiment_is_begun_listed_and_shown(home: Path) -> None:
    begun = json.loads(_seasoned(home, "experiment", "begin", "autumn", "--arms", "cold,warm", "--json").stdout)
    assert begun["schema"] == "seasoned/experiment-begun/1" and begun["shares"] == {"cold": 0.5, "warm": 0.5}
    _live(home)
    listed = json.loads(_seasoned(home, "experiment", "show", "--json").stdout)
    assert [(one["name"], one["arms"], one["sessions"]) for one in listed["live"]] == [
        ("autumn", ["cold", "warm"], 120)
    ]
    answer = json.loads(_seasoned(home, "experiment", "show", "autumn", "--json").stdout)
    assert answer["schema"] == "seasoned/live-experiment/1"
    assert (answer["verdict"], answer["sessions"], answer["waiting"]) == ("more errors", 120, 0)
    with open_store(Config(home=home).store_path) as store:
        set_state(store, EXAMPLE.id, "retired", "The experiment autumn shows that it hurts.", now=time.time())
    shown = _seasoned(home, "experiment", "show", "autumn").stdout
    assert "cold (control)" in shown and "warm − cold" in shown and "more errors" in shown
    assert f"{EXAMPLE.id} is retired since" in shown and "shows that it hurts" in shown
    told = _seasoned(home, "template", "show", "orders").stdout
    assert "retired" in told and "shows that it hurts" in told


def test_what_cannot_be_begun_or_shown_is_said(home: Path) -> None:
    wrong = _seasoned(home, "experiment", "begin", "autumn", "--arms", "cold,template:nothing", expect=1)
    assert "No template 'nothing'" in wrong.stderr
    assert "ARM:2" in _seasoned(home, "experiment", "begin", "autumn", "--arms", "cold,warm:much", expect=2).stderr
    begun = _seasoned(home, "experiment", "begin", "autumn", "--arms", "cold,template:orders:3").stdout
    assert 'experiment = "autumn"' in begun
    assert "Drop --model" in _seasoned(home, "experiment", "show", "autumn", "--model", "m", expect=2).stderr
    assert "nothing to compare yet" in _seasoned(home, "experiment", "show", "autumn").stdout
