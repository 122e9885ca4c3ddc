"""Commands whose status is another program's, against labels of people who read the output."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.outcome.labelled_calls import LABELLED, verdicts


@pytest.mark.parametrize("half", ["development", "unseen"])
def test_labelled_calls_are_judged_by_what_their_output_says(data: Path, half: str) -> None:
    if not (data.parent / "projects").is_dir():
        pytest.skip(f"no sessions of projects beside {data}: this test needs them")
    counts = verdicts(data.parent)
    assert counts.total() == len(LABELLED), "the hash of a call changed: was a reader changed?"
    failed, worked = (
        sum(n for (which, label, _), n in counts.items() if (which, label) == (half, wanted))
        for wanted in ("failed", "worked")
    )
    assert counts[half, "failed", "failed"] >= 0.85 * failed, counts
    assert counts[half, "worked", "failed"] <= 0.02 * worked, counts
    unclear = counts[half, "failed", "unclear"] + counts[half, "worked", "unclear"]
    assert unclear <= 0.05 * (failed + worked), counts
