"""The report on a store: parts of it, made by any number of processes, give what one pass over all sessions gives."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from seasoned.errors import CannotDo
from seasoned.insight import report
from seasoned.insight.cohort import cohort
from seasoned.insight.mistake.recurrence import RecurrenceCounter
from seasoned.insight.report import PartsJob, Report, report_on
from seasoned.insight.track import JudgedCall, Track, tracks
from seasoned.insight.trials import trials_of
from seasoned.outcome.error_rate import Include
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.session import SessionRef
from seasoned.store import Store, open_store
from tests.insight.mistakes import recurring

_MORE = Include(**dict.fromkeys(Include.__struct_fields__, True))


@pytest.fixture(scope="module")
def store_path(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "s.db"
    scan(ScanTarget(path), [samples], Secrecy(b"k" * 32), workers=1)
    return path


def _in_one_pass(store: Store, made: Report, include: Include) -> Report:
    """The same report with what one pass finds, without parts."""
    found = list(tracks(store, include=include))
    costs = [track.cost_usd for track in found if track.cost_usd is not None]
    return msgspec.structs.replace(
        made,
        cohort=cohort(trials_of(found)),
        recurrences=recurring(found),
        counts=sum((track.counts for track in found[1:]), found[0].counts),
        messages=sum(track.messages for track in found),
        spending=msgspec.structs.replace(made.spending, cost_usd=sum(costs) if costs else None),
    )


def test_parts_give_the_same_report_to_the_last_digit(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(store_path) as store:
        for include in (Include(), _MORE):
            whole = report_on(store, made_at=0.0, include=include)
            assert whole.sessions > 30 and whole.recurrences
            for sessions, processes in ((1, 1), (7, 2)):
                with monkeypatch.context() as patch:
                    patch.setattr(report, "PART_SESSIONS", sessions)
                    parts = report_on(store, made_at=0.0, include=include, processes=processes)
                assert msgspec.json.encode(parts) == msgspec.json.encode(whole), (sessions, processes)
            once = _in_one_pass(store, whole, include)
            shown = msgspec.structs.replace(once, recurrences=once.recurrences[: len(whole.recurrences)])
            assert msgspec.json.encode(shown) == msgspec.json.encode(whole)


def test_progress_counts_sessions_to_the_end(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "PART_SESSIONS", 20)
    told: list[tuple[int, int]] = []
    with open_store(store_path) as store:
        made = report_on(store, made_at=0.0, tell=lambda done, every: told.append((done, every)))
    assert told[:2] == [(0, made.sessions), (20, made.sessions)]
    assert told[-1] == (made.sessions, made.sessions)


def test_a_process_that_ends_early_is_an_error_and_not_a_smaller_report(tmp_path: Path) -> None:
    job = PartsJob(str(tmp_path / "gone.db"), ((1, 5), (6, 9)), Include(), None, None)
    with pytest.raises(CannotDo, match="ended early"):
        list(report._parts_of_processes(job, 2))


def _failing(number: int) -> Track:
    """A session whose file, way of repair and step before it are its own; every third is a fork of the first."""
    name = f"/p/a{number}/file{number}.py"
    calls = [("Read", "failed", "File does not exist.", {"file_path": name})]
    calls += [("Bash", "ok", "", {"command": f"find . -name file{number}.py"})]
    calls += [("Read", "ok", "", {"file_path": f"/p/b/file{number}.py", f"extra{number}": 1})]
    calls += [("Bash", "failed", f"bash: tool{number % 3}: command not found", {"command": f"tool{number % 3} run"})]
    calls += [("Bash", "ok", "", {"command": f"wrap{number} tool{number % 3} run"})]
    judged = tuple(
        JudgedCall(
            at, at, tool, "file", counts, counts, "call", float(at), msgspec.json.encode(given).decode(), "", said
        )
        for at, (tool, counts, said, given) in enumerate(calls)
    )
    ref = SessionRef(("codex", "claude-code")[number % 2], f"s{number}")
    return Track(ref, len(judged), judged, "codex:s0" if number % 3 == 0 else str(ref), started=1000.0 - number)


def test_counters_of_parts_merge_to_the_counter_of_all_sessions() -> None:
    sessions = [_failing(number) for number in range(260)]
    for size in (1, 9, 100):
        whole, merged = RecurrenceCounter(), RecurrenceCounter()
        for at in range(0, len(sessions), size):
            part = RecurrenceCounter(is_part=True)
            for track in sessions[at : at + size]:
                part.add(track)
                whole.add(track)
            merged.merge(part)
        assert merged.recurring() == whole.recurring()
        assert list(merged.facts()) == list(whole.facts())
        # The limits were reached: what is kept is what the first sessions show, whatever the parts were.
        assert {len(group.ways) for group in whole._groups.values()} >= {16}
        assert {len(group.missing) for group in whole._groups.values()} >= {200}
