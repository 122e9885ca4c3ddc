"""Commands and calls written without looking at the rules, to measure what the table misses and what it stops.

Rules were written for a part of the first set (`probe`) and of the fourth, for five cases of the fifth, and for
what the half `sixth` of the last one missed. Never for the third; the half `aside` was read after its figures were
taken. `⏎` is a line break.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.command.risk import Need, need_of_call

FOLDER = "/home/mira/parcel"
Kind = Literal["destructive", "wrapped", "gate", "harmless"]
KINDS: tuple[Kind, ...] = ("destructive", "wrapped", "gate", "harmless")
_FOLDER = Path(__file__).parent / "probe"
SETS = ("first", "third", "fourth", "fifth", "sixth", "aside")


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
    folder = _FOLDER / {"first": ".", "aside": "sixth"}.get(which, which)
    lines = (folder / f"{kind}.txt").read_text(encoding="utf-8").splitlines()
    if which in ("sixth", "aside"):
        lines = [line for line in lines if sha256(line.encode()).digest()[0] % 2 == (which == "aside")]
    return [_probe(line) for line in lines if not line.startswith("# ")]


def commands(name: str) -> list[str]:
    """The commands of a file, one on a line."""
    lines = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines]


def _probe(line: str) -> Probe:
    if line.startswith('{"tool"'):
        given = json.loads(line)
        return Probe(line, given["tool"], given["arguments"])
    return Probe(line, "Bash", {"command": line.replace("⏎", "\n")})
