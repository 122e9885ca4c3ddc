"""The rules of wording against the labels of real sessions, where those are at hand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from seasoned.history.read import read_all
from seasoned.outcome.agreement import AgreementScore, LabeledCall, agreement, complete, labeled_calls
from seasoned.outcome.judge import judge
from seasoned.session import Session


@pytest.fixture(scope="module")
def sessions(data: Path) -> list[Session]:
    return list(read_all([data], pass_over=lambda path, error: None))


@pytest.fixture(scope="module")
def calls(sessions: list[Session]) -> list[LabeledCall]:
    return list(labeled_calls(sessions))


def _of(scores: tuple[AgreementScore, ...], name: str) -> AgreementScore:
    return next(one for one in scores if one.name == name)


def _at_least(value: float | None, bound: float) -> bool:
    return value is not None and value >= bound


def test_full_verdicts_agree_with_every_label(calls: list[LabeledCall]) -> None:
    found = complete(calls)
    assert found.n == found.agreeing > 0


def test_blind_verdicts_agree_well_with_the_labels(calls: list[LabeledCall]) -> None:
    found = agreement(calls, "blind")
    assert _at_least(_of(found.sources, "claude-code").f1, 0.97)
    assert _at_least(found.others.f1, 0.92)
    assert _of(found.sources, "tau-bench").circular
    assert found.pooled.poison is not None and found.pooled.poison < 0.005


def test_without_the_marks_of_the_agent_the_words_still_tell(calls: list[LabeledCall]) -> None:
    found = agreement(calls, "strict")
    assert _at_least(_of(found.sources, "claude-code").f1, 0.92)
    assert _at_least(found.pooled.f1, 0.92)


def test_judging_by_marks_is_fast(sessions: list[Session]) -> None:
    agents = ("claude-code", "codex")
    marked = [(one.ref.agent, call) for one in sessions if one.ref.agent in agents for call in one.calls()]
    best = 10.0
    for _ in range(3):
        begun = time.process_time()
        for agent, call in marked:
            judge(call, agent=agent)
        best = min(best, time.process_time() - begun)
    assert best / len(marked) < 0.0001, "a scan judges every call; see the budget in the design note"
