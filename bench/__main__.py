"""`make bench`: runs every benchmark, prints its figures and writes them to build/bench.

The figures that decide stand in docs/measurements.md, with the command that prints each."""

from __future__ import annotations

import sys
from pathlib import Path

from bench import (
    agreement,
    backtest,
    confirm,
    gate,
    gateway,
    growth,
    guard,
    held,
    hook,
    mine,
    redact,
    review,
    scan,
    search,
    usage,
    web,
)
from bench.record import write


def main() -> None:
    """All benchmarks, or those named on the command line."""
    known = {
        "agreement": agreement.figures,
        "backtest": backtest.figures,
        "confirm": confirm.figures,
        "gate": gate.figures,
        "gateway": gateway.figures,
        "growth": growth.figures,
        "guard": guard.figures,
        "held": held.figures,
        "hook": hook.figures,
        "mine": mine.figures,
        "redact": redact.figures,
        "review": review.figures,
        "scan": scan.figures,
        "search": search.figures,
        "usage": usage.figures,
        "web": web.figures,
    }
    for name in sys.argv[1:] or known:
        lines = []
        for line in known[name]():
            print(line, flush=True)  # noqa: T201
            lines.append(line)
        write(Path("build/bench") / f"{name}.md", name, lines)


if __name__ == "__main__":
    main()
