"""Templates from real sessions, where those are at hand: every example is a call that worked."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from seasoned.app.stores import scan_into_store
from seasoned.config import load
from seasoned.errors import NotFound
from seasoned.insight.mistake.repair import repairs
from seasoned.insight.track import tracks
from seasoned.redact import Redactor
from seasoned.store import open_store
from seasoned.template.block import FORMATS, FORMS
from seasoned.template.example import Template
from seasoned.template.library.storage import save, snapshot
from seasoned.template.mine.miner import build
from seasoned.template.mine.selection import MiningOptions
from seasoned.template.provision import BlockRequest, provision

NOW = 2e9
CASES = [
    ("claude-code", "code", 30),
    ("claude-code", "file", 30),
    ("claude-code", "mixed", 30),
    ("tau-bench", "mixed", 8),
]


@pytest.fixture(scope="module")
def store_path(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEASONED_HOME", str(tmp_path_factory.mktemp("store")))
        scan_into_store(load(), [data / "claude-code", data / "tau-bench"])
        return load().store_path


def _mined(path: Path, agent: str, task_type: str, min_messages: int) -> Template:
    options = MiningOptions(agent=agent, task_type=task_type, min_messages=min_messages)
    with open_store(path) as store:
        return build(store, name=f"{agent}-{task_type}", now=NOW, redactor=Redactor(b"k" * 32), options=options)


@pytest.mark.parametrize(("agent", "task_type", "min_messages"), CASES)
def test_every_example_is_a_call_that_worked(store_path: Path, agent: str, task_type: str, min_messages: int) -> None:
    made = _mined(store_path, agent, task_type, min_messages)
    kinds = [example.kind for example in made.examples]
    counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    supports = sorted((example.support for example in made.examples), reverse=True)
    print(  # noqa: T201
        f"\n{made.name}: {made.metrics.sessions_qualified} of {made.metrics.sessions_scanned} sessions, "
        f"{counts}, repairs found {made.metrics.repairs_found}, support {supports}"
    )
    assert len(made.examples) >= 5
    db = sqlite3.connect(store_path)
    verdicts = {
        (f"{row[0]}:{row[1]}", row[2]): row[3:]
        for row in db.execute(
            "SELECT agent, native_id, call_id, verdict, corrected FROM call JOIN session ON session.id = session_id"
        )
    }
    db.close()
    for example in made.examples:
        assert example.sources
        assert example.support >= len({source.root for source in example.sources})
        for source in example.sources:
            assert verdicts[source.session, source.call] == ("ok", 0)


def test_every_recovery_is_a_repair_that_insight_finds(store_path: Path) -> None:
    with open_store(store_path) as store:
        repaired = {
            (str(track.ref), track.calls[repair.repaired].call_id)
            for track in tracks(store)
            for repair in repairs(track.calls)
        }
    recoveries = [
        example for case in CASES for example in _mined(store_path, *case).examples if example.kind == "recovery"
    ]
    print(f"\n{len(recoveries)} recoveries, support {sorted(one.support for one in recoveries)}")  # noqa: T201
    assert len(recoveries) >= 10
    for example in recoveries:
        assert example.repaired is not None and example.repaired.signature
        # The first source is the call that is shown.
        assert (example.sources[0].session, example.sources[0].call) in repaired


def test_they_render_in_every_format_and_fit_their_budget(store_path: Path) -> None:
    made = [_mined(store_path, *case) for case in CASES]
    with open_store(store_path) as store:
        for template in made:
            save(store, template)
        library = snapshot(store)
    for template in made:
        for form in FORMS:
            for format_ in FORMATS:
                asked = BlockRequest(template=template.name, format=format_, form=form)
                shown = provision([], library=library, asked=asked)
                assert shown.rendered is not None and 0 < shown.rendered.tokens <= 1500, shown.reason


def test_no_type_without_material_becomes_a_template(store_path: Path) -> None:
    options = MiningOptions(agent="claude-code", task_type="research")
    with open_store(store_path) as store, pytest.raises(NotFound, match="have another task type"):
        build(store, name="research", now=NOW, redactor=Redactor(b"k" * 32), options=options)
