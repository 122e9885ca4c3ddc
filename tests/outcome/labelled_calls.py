"""Piped and listed shell commands of real sessions, labelled by hand: which of them failed, whatever the flag says.

`shell_calls.json` names each call by file, id and the hash of its output; the texts stay where they are. The calls were
drawn at random (seed 20261116) from those with a pipe, `;`, `||` or `&`. Half of them (`unseen`) was not looked at
while rules were written. `unknown` is what the output does not tell, such as a command that was still running.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path

from seasoned.history.read import read
from seasoned.outcome.judge import judge

LABELLED = json.loads(Path(__file__).with_name("shell_calls.json").read_text("utf-8"))


def verdicts(folder: Path) -> Counter[tuple[str, str, str]]:
    """How many labelled calls there are by half, label and verdict. `folder` holds `data` and `projects`."""
    by_file: dict[str, dict[tuple[str, str], dict[str, str]]] = defaultdict(dict)
    for one in LABELLED:
        by_file[one["file"]][one["call"], one["hash"]] = one
    found: Counter[tuple[str, str, str]] = Counter()
    for file, wanted in by_file.items():
        for session in read(folder / file):
            for call in session.calls():
                if call.result is not None:
                    key = (call.id, hashlib.sha256(call.result.text.encode()).hexdigest()[:16])
                    if one := wanted.pop(key, None):
                        found[one["half"], one["label"], judge(call, agent=session.ref.agent).verdict] += 1
    return found
