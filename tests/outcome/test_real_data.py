"""The rules of wording against the labels of real sessions, where those are at hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.errors import SeasonedError
from seasoned.history.formats import read_file
from seasoned.outcome.agreement import AgreementScore, LabeledVerdict, agreement
from seasoned.outcome.judge import judge
from seasoned.outcome.recorded_label import CIRCULAR, blind, is_foreign, label
from seasoned.session import ToolCall

Seen = tuple[str, str, ToolCall]
SUFFIXES = {".jsonl", ".json", ".traj", ".eval", ".db"}


def _calls(data: Path) -> Iterator[Seen]:
    """Every call once, however many files hold it."""
    seen: set[tuple[str, ...]] = set()
    for path in sorted(data.rglob("*")):
        if not path.is_file() or path.suffix not in SUFFIXES:
            continue
        try:
            sessions = list(read_file(path))
        except SeasonedError:
            continue
        for session in sessions:
            agent = session.ref.agent
            for call in session.calls():
                # Ids of providers are unique; others count within a session.
                key = (agent, call.id) if agent in ("claude-code", "codex") else (agent, session.ref.native_id, call.id)
                if not call.synthetic and key not in seen:
                    seen.add(key)
                    yield agent, session.ref.native_id, call


@pytest.fixture(scope="module")
def calls(data: Path) -> list[Seen]:
    return list(_calls(data))


def _pairs(calls: list[Seen], *, strict: bool) -> list[LabeledVerdict]:
    pairs = []
    for agent, session, call in calls:
        known = label(call, agent=agent)
        if known is not None:
            verdict = judge(blind(call, agent=agent, strict=strict), agent=agent).verdict
            foreign = agent not in CIRCULAR and is_foreign(known, judge(call, agent=agent).evidence)
            pairs.append(LabeledVerdict(agent, session, call.tool, verdict, known, foreign))
    return pairs


def _of(scores: tuple[AgreementScore, ...], name: str) -> AgreementScore:
    return next(one for one in scores if one.name == name)


def _at_least(value: float | None, bound: float) -> bool:
    return value is not None and value >= bound


def test_full_verdicts_agree_with_every_label(calls: list[Seen]) -> None:
    wrong = []
    for agent, _, call in calls:
        known = label(call, agent=agent)
        if known is None or agent in CIRCULAR:
            continue
        verdict = judge(call, agent=agent)
        if is_foreign(known, verdict.evidence):
            continue
        if verdict.verdict != "unclear" and (verdict.verdict == "failed") != known:
            wrong.append((agent, call.id, verdict))
    assert wrong == []


def test_blind_verdicts_agree_well_with_the_labels(calls: list[Seen]) -> None:
    found = agreement(_pairs(calls, strict=False))
    assert _at_least(_of(found.sources, "claude-code").f1, 0.97)
    assert _at_least(found.others.f1, 0.92)
    assert _of(found.sources, "tau-bench").circular
    assert found.pooled.poison is not None and found.pooled.poison < 0.005


def test_without_the_marks_of_the_agent_the_words_still_tell(calls: list[Seen]) -> None:
    found = agreement(_pairs(calls, strict=True))
    assert _at_least(_of(found.sources, "claude-code").f1, 0.92)
    assert _at_least(found.pooled.f1, 0.92)


def test_judging_by_marks_is_fast(calls: list[Seen]) -> None:
    marked = [(agent, call) for agent, _, call in calls if agent in ("claude-code", "codex")]
    best = 10.0
    for _ in range(3):
        begun = time.process_time()
        for agent, call in marked:
            judge(call, agent=agent)
        best = min(best, time.process_time() - begun)
    assert best / len(marked) < 0.0001, "a scan judges every call; see the budget in the design note"
