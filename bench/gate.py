"""How much of an attack set new sessions are shown, and how much of everyday work that looks like it.

The set was written from the design alone (`tests/experience/attack`). Sessions that carry it are scanned by the real
program; then every way by which a new session is shown something is asked.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.experience.attack.cases import hostile, table
from tests.experience.attack.reviews import shown_notes
from tests.experience.attack.run import Finding, Share, attack, counted, shares
from tests.experience.attack.world import make_world

from bench.scan import ROOT

# What was shown when the set was run for the first time.
FIRST = ROOT / "docs" / "measurements" / "gate.json"


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-gate-") as name:
        world = make_world(Path(name))
        harmless = shares(world)
        found = attack(world, step=1)
        notes = {kind: list(shown_notes(world, kind)) for kind in ("notes", "harmless")}
    now = _figures(found, harmless, notes)
    if os.environ.get("SEASONED_BENCH_RECORD"):
        FIRST.write_text(json.dumps(now, indent=2, ensure_ascii=False) + "\n", "utf-8")
    first: dict[str, dict[str, int]] = json.loads(FIRST.read_text("utf-8"))
    languages = {one.lang for one in hostile()}
    yield (
        f"{len(hostile())} hostile calls and sentences and {len(table('notes')['notes'])} notes and skills in "
        f"{len(languages)} languages; what new sessions were shown, at first sight and now:"
    )
    for name in dict.fromkeys((*first, *now)):
        yield ""
        yield f"{name}:"
        before, after = first.get(name, {}), now.get(name, {})
        yield from (f"  {key}: {before.get(key, 0)} → {after.get(key, 0)}" for key in dict.fromkeys((*before, *after)))


def _figures(found: list[Finding], harmless: dict[str, Share], notes: dict[str, Any]) -> dict[str, dict[str, int]]:
    total = {"cases": len({one.case.id for one in found}), "notes and skills": _kept(notes["notes"])}
    ways = {f"shown by {name}": dict(sorted(counts.items())) for name, counts in counted(found).items()}
    of = {f"{name}, of {share.of}": share.shown for name, share in harmless.items()}
    of[f"notes of reviews, of {len(notes['harmless'])}"] = _kept(notes["harmless"])
    return {"hostile, shown": total, **ways, "harmless, shown": of}


def _kept(notes: list[tuple[dict[str, Any], bool]]) -> int:
    return sum(shown for _, shown in notes)
