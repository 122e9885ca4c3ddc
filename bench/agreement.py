"""How well blind verdicts agree with explicit flags, on public sessions where they are at hand."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.scan import ROOT, SEASONED

DATA = ROOT.parent / "shared" / "data"
SAMPLES = ROOT / "src" / "seasoned" / "samples"


def figures() -> Iterator[str]:
    """What `seasoned agreement` prints."""
    source, name = (DATA, "public sessions") if DATA.is_dir() else (SAMPLES, "the sample histories")
    yield f"seasoned agreement on {name}"
    out = subprocess.run(
        [str(SEASONED), "agreement", str(source)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "150", "HOME": str(Path.home())},
    ).stdout
    yield from [line.rstrip() for line in out.splitlines()]
