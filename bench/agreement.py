"""How well blind verdicts agree with explicit flags, and verdicts on piped commands with labels of people."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.outcome.labelled_calls import verdicts

from bench.scan import ROOT, SEASONED

SHARED = ROOT.parent / "shared"
DATA = SHARED / "data"
SAMPLES = ROOT / "src" / "seasoned" / "samples"
# Projects that no rule was made from.
ASIDE = ("entireio-entire-graph", "savekirk-session-bridge", "theogbrand-napoli-matcha", "raquezha-pi.dev")


def figures() -> Iterator[str]:
    """What `seasoned agreement` prints, and the verdicts on labelled calls."""
    if not SHARED.is_dir():
        yield from _agreement("the sample histories", SAMPLES)
        return
    yield from _agreement("public sessions", DATA)
    projects = SHARED / "projects"
    if projects.is_dir():
        yield from ("", *_head(_agreement("all sessions of nine projects", projects)))
        aside = [projects / name for name in ASIDE]
        yield from ("", *_head(_agreement("the four projects that no rule was made from", *aside)))
        yield from ("", *_labelled())


def _agreement(name: str, *sources: Path) -> Iterator[str]:
    yield f"seasoned agreement on {name}"
    out = subprocess.run(
        [str(SEASONED), "agreement", *map(str, sources)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "150", "HOME": str(Path.home())},
    ).stdout
    # The list of single calls is for people who look into their own histories.
    shown, _, rest = out.partition("Recorded as a success, but")
    yield from [line.rstrip() for line in (shown + rest[rest.find("poison:") :] if rest else shown).splitlines()]


def _head(lines: Iterator[str]) -> list[str]:
    """The figures without those by tool."""
    found = list(lines)
    return found[: next((at for at, line in enumerate(found) if line.startswith("Blind, by tool")), len(found))]


def _labelled() -> Iterator[str]:
    yield "Piped and listed commands, labelled by reading their output (tests/outcome/shell_calls.json)"
    yield "half         failed  judged failed  worked  judged failed  unclear  left out: the output does not tell"
    counts = verdicts(SHARED)
    for half in ("development", "unseen"):
        by_label = {
            label: sum(n for (which, one, _), n in counts.items() if (which, one) == (half, label))
            for label in ("failed", "worked", "unknown")
        }
        unclear = counts[half, "failed", "unclear"] + counts[half, "worked", "unclear"]
        yield (
            f"{half:<12} {by_label['failed']:6}  {counts[half, 'failed', 'failed']:13}  {by_label['worked']:6}"
            f"  {counts[half, 'worked', 'failed']:13}  {unclear:7}  {by_label['unknown']:8}"
        )
