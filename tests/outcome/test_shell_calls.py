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


def test_labelled_calls_that_worked_are_not_called_failed(data: Path) -> None:
    if not (data.parent / "projects").is_dir():
        pytest.skip(f"no sessions of projects beside {data}: this test needs them")
    found = _verdicts(data.parent)
    assert len(found) == len(LABELLED), "the hash of a call changed: was a reader changed?"
    counts = Counter((one["half"], one["label"], verdict) for one, verdict in found)
    for half in ("development", "unseen"):
        worked = sum(count for (which, label, _), count in counts.items() if (which, label) == (half, "worked"))
        assert counts[half, "worked", "failed"] <= 0.02 * worked, counts
