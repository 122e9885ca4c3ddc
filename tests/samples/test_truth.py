"""The sample histories are known truth: what was planted is what the readers and the judge find."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan


@pytest.fixture(scope="module")
def truth(samples: Path) -> dict[tuple[str, str, str], dict[str, object]]:
    calls = json.loads((samples / "truth.json").read_text())["calls"]
    return {(call["agent"], call["session"], call["call_id"]): call for call in calls}


@pytest.fixture(scope="module")
def found(samples: Path) -> dict[tuple[str, str, str], dict[str, object]]:
    target = ScanTarget(None)
    scan(target, [samples], Secrecy(b"k" * 32), workers=1)
    rows = target.open().connection.execute(
        "SELECT agent, native_id, call_id, tool, verdict, fault, copy_of IS NOT NULL AS copy, reason"
        " FROM call JOIN session ON session.id = session_id"
    )
    return {(row["agent"], row["native_id"], row["call_id"]): dict(row) for row in rows}


def test_every_planted_call_is_found_once(truth, found) -> None:
    assert set(found) == set(truth)


def test_copies_are_known_as_copies(truth, found) -> None:
    planted = {key for key, call in truth.items() if call["copy"]}
    assert {key for key, call in found.items() if call["copy"]} == planted


def test_verdicts_are_those_of_a_careful_person(truth, found) -> None:
    wrong = {
        key: (call["verdict"], found[key]["verdict"], found[key]["reason"])
        for key, call in truth.items()
        if call["verdict"] != found[key]["verdict"]
    }
    assert wrong == {}


def test_declined_cancelled_and_interrupted_calls_are_told_apart(truth, found) -> None:
    apart = ("user_declined", "sibling_cancelled", "interrupted")
    planted = Counter(call["fault"] for call in truth.values() if call["fault"] in apart)
    assert Counter(call["fault"] for call in found.values() if call["fault"] in apart) == planted
