"""The report on a store: it counts what the sessions of the store hold, and says how far it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.outcome.error_rate import Include
from seasoned.outcome.track import tracks
from seasoned.redact import Secrecy
from seasoned.report import report
from seasoned.report.report import report_on
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import open_store

_MORE = Include(**dict.fromkeys(Include.__struct_fields__, True))


@pytest.fixture(scope="module")
def store_path(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "s.db"
    scan(ScanTarget(path), [samples], Secrecy(b"k" * 32), workers=1)
    return path


def test_a_report_counts_every_session_of_the_store_or_of_one_agent(store_path: Path) -> None:
    with open_store(store_path) as store:
        for include in (Include(), _MORE):
            for agent in (None, "claude-code"):
                found = list(tracks(store, include=include, agent=agent))
                made = report_on(store, made_at=0.0, include=include, agent=agent)
                assert (made.sessions, made.messages) == (len(found), sum(track.messages for track in found))
                assert made.counts == sum((track.counts for track in found[1:]), found[0].counts)
                assert made.recurrences or agent is not None


def test_progress_counts_sessions_to_the_end(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_TOLD_SESSIONS", 20)
    told: list[tuple[int, int]] = []
    with open_store(store_path) as store:
        made = report_on(store, made_at=0.0, tell=lambda done, every: told.append((done, every)))
    assert told[:2] == [(0, made.sessions), (20, made.sessions)]
    assert told[-1] == (made.sessions, made.sessions)
