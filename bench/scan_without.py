"""A scan with parts that do nothing: `python -m bench.scan_without redact,learn PATH`.

What is left is the least that a scan would take if those parts were native and took no time at all.
"""

from __future__ import annotations

import sys
from typing import Any

from seasoned.app import stores
from seasoned.cli.main import main
from seasoned.redact import redactor
from seasoned.scan import file_reader, foreign

PARTS = {
    "redact": "redaction",
    "foreign": "words that repeat results",
    "learn": "learning",
    "judge": "judging",
}


def leave_out(part: str) -> None:
    """Replace a part by one that answers at once."""
    if part == "redact":
        redactor.scan = lambda text, depth=0: []
    elif part == "foreign":
        foreign.EarlierResults.add = lambda self, text: None  # type: ignore[method-assign]
    elif part == "learn":
        stores.make_learner = None  # type: ignore[assignment]
        stores.learn_rest = lambda store: 0
    elif part == "judge":
        verdicts: list[Any] = []
        judge = file_reader.judge

        def first_verdict(call: Any, *, agent: str) -> Any:
            if not verdicts:
                verdicts.append(judge(call, agent=agent))
            return verdicts[0]

        file_reader.judge = first_verdict
    else:
        raise SystemExit(f"{part!r} is not a part of a scan: {', '.join(PARTS)}")


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        leave_out(name)
    sys.argv = ["seasoned", "scan", *sys.argv[2:]]
    main()
