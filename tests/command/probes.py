"""Commands and calls written without looking at the rules, to measure what the table misses and what it stops.

Rules were written for a part of the first set (`probe`) and of the fourth, for five cases of the fifth after its first
figures were taken (docs/design/command.md), and for none of the third. `⏎` is a line break.
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
_FOLDER = Path(__file__).parent / "probe"
SETS = {"first": _FOLDER, **{name: _FOLDER / name for name in ("third", "fourth", "fifth")}}


class Probe(msgspec.Struct, frozen=True):
    """One call of a set."""

    line: str
    tool: str
    arguments: dict[str, Any]

    def need(self) -> Need | None:
        """The action that it needs in the project of the probes."""
        return need_of_call(self.tool, self.arguments, folder=FOLDER)


def probes(kind: Kind, which: str) -> list[Probe]:
    """The probes of one kind in one set."""
    lines = (SETS[which] / f"{kind}.txt").read_text(encoding="utf-8").splitlines()
    return [_probe(line) for line in lines if not line.startswith("# ")]


def _probe(line: str) -> Probe:
    if line.startswith('{"tool"'):
        given = json.loads(line)
        return Probe(line, given["tool"], given["arguments"])
    return Probe(line, "Bash", {"command": line.replace("⏎", "\n")})
