"""Commands and calls written without looking at the rules, to measure what the table misses and what it stops.

Every second line of the first set is kept aside: rules are written for the others alone. The third set (`probe/third`)
was measured once before any rule was written for it; docs/design/command.md has that figure. `⏎` is a line break.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.command.risk import Need, need_of_call

FOLDER = "/home/mira/parcel"
Kind = Literal["destructive", "wrapped", "gate", "harmless"]
KINDS: tuple[Kind, ...] = ("destructive", "wrapped", "gate", "harmless")
Half = Literal["development", "aside", "third"]
HALVES: tuple[Half, ...] = ("development", "aside", "third")


class Probe(msgspec.Struct, frozen=True):
    """One call of a set."""

    line: str
    tool: str
    arguments: dict[str, Any]

    def need(self) -> Need | None:
        """The action that it needs in the project of the probes."""
        return need_of_call(self.tool, self.arguments, folder=FOLDER)


def probes(kind: Kind, half: Half) -> list[Probe]:
    """The probes of one kind: one half of the first set, or the third set."""
    folder = Path(__file__).parent / "probe"
    text = ((folder / "third" if half == "third" else folder) / f"{kind}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("# ")]
    chosen = lines if half == "third" else lines[HALVES.index(half) :: 2]
    return [_probe(line) for line in chosen]


def _probe(line: str) -> Probe:
    if line.startswith('{"tool"'):
        given = json.loads(line)
        return Probe(line, given["tool"], given["arguments"])
    return Probe(line, "Bash", {"command": line.replace("⏎", "\n")})
