"""Piped and listed shell commands of real sessions, labelled by hand: which of them failed, whatever the flag says.

`shell_calls.json` names each call by file, id and the hash of its output; the texts stay where they are. The calls were
drawn at random (seed 20261116) from those with a pipe, `;`, `||` or `&`. Half of them (`unseen`) is not looked at
while rules are written. `unknown` is what the output does not tell, such as a command that was still running.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from seasoned.history.read import read
from seasoned.outcome.judge import judge

LABELLED = json.loads(Path(__file__).with_name("shell_calls.json").read_text("utf-8"))


def _verdicts(folder: Path) -> list[tuple[dict[str, str], str]]:
    """Each labelled call with its verdict today."""
    by_file = defaultdict(dict)
    for one in LABELLED:
        by_file[one["file"]][one["call"], one["hash"]] = one
    found = []
    for file, wanted in by_file.items():
        for session in read(folder / file):
            for call in session.calls():
                if call.result is not None:
                    key = (call.id, hashlib.sha256(call.result.text.encode()).hexdigest()[:16])
                    if key in wanted:
                        found.append((wanted.pop(key), judge(call, agent=session.ref.agent).verdict))
    return found


@pytest.mark.parametrize("half", ["development", "unseen"])
def test_labelled_calls_are_judged_by_what_their_output_says(data: Path, half: str) -> None:
    if not (data.parent / "projects").is_dir():
        pytest.skip(f"no sessions of projects beside {data}: this test needs them")
    found = _verdicts(data.parent)
    assert len(found) == len(LABELLED), "the hash of a call changed: was a reader changed?"
    counts = Counter((one["label"], verdict) for one, verdict in found if one["half"] == half)
    failed, worked = (sum(n for (label, _), n in counts.items() if label == which) for which in ("failed", "worked"))
    assert counts["failed", "failed"] >= 0.85 * failed, counts
    assert counts["worked", "failed"] <= 0.02 * worked, counts
    assert counts["failed", "unclear"] + counts["worked", "unclear"] <= 0.05 * (failed + worked), counts
