"""How reading commands grow from 1,000 sessions to 20,000: the processor time of the whole command.

The stores are those of the benchmark of pages, kept for the next time.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.scan import SEASONED, Spent, spent
from bench.web import FEW, FOLDER, MANY, fill_more, make_store

SIZES = (FEW, MANY)
COMMANDS = (
    "sessions",
    "sessions --failed",
    "search retry parser",
    "usage",
    "usage --by project",
    "projects",
    "report --json",
    "lessons --project /home/mira/project-3",
    "receipt",
    "template list",
    "doctor",
    "statusline",
)
RUNS = 2


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    for size in SIZES:
        make_store(FOLDER / str(size), size)
        fill_more(FOLDER / str(size))
    worst = 0.0
    for command in COMMANDS:
        small, large = (_least(command, str(FOLDER / str(size))) for size in SIZES)
        # What the process needs to start does not grow, and is no excuse for what does.
        worst = max(worst, large / small)
        yield f"  {command}: {small:.2f} s, {large:.2f} s ({large / small:.1f} times)"
    yield f"at most {worst:.1f} times as long with {SIZES[1] // SIZES[0]} times as many sessions (wanted: not more)"


def _least(command: str, home: str) -> float:
    def once() -> Spent:
        return spent([str(SEASONED), *command.split()], {"HOME": home, "SEASONED_HOME": home, "CI": "1"})

    once()  # fills the search and what waits to be learned from
    return min(once().cpu_seconds for _ in range(RUNS))
