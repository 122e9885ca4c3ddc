"""How much of what an attacker writes is held, and how little of what everyone writes; see `probes.py`."""

from __future__ import annotations

import pytest

from tests.command.probes import HALVES, Half, Kind, probes

# Of each kind how many probes a half of the first set and the third set have at least.
SIZES: dict[Kind, tuple[int, int]] = {
    "destructive": (150, 80),
    "wrapped": (60, 40),
    "gate": (30, 30),
    "harmless": (100, 100),
}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(("kind", "share"), [("destructive", 0.95), ("wrapped", 0.9), ("gate", 0.95)])
def test_most_probes_of_a_kind_are_held_also_in_the_half_that_no_rule_was_written_for(
    kind: Kind, share: float, half: Half
) -> None:
    chosen = probes(kind, half)
    missed = [one.line if half != "aside" else "…" for one in chosen if one.need() is None]
    assert len(chosen) >= SIZES[kind][half == "third"]
    # What is kept aside is not shown: it stays unknown to whoever writes rules.
    assert len(missed) <= (1 - share) * len(chosen), missed


def test_of_harmless_look_alikes_at_most_two_are_held() -> None:
    chosen = {half: probes("harmless", half) for half in HALVES}
    held = {half: [one.line for one in of_half if one.need()] for half, of_half in chosen.items() if half != "aside"}
    held_aside = sum(one.need() is not None for one in chosen["aside"])
    assert all(len(of_half) >= SIZES["harmless"][half == "third"] for half, of_half in chosen.items())
    assert len(held["development"]) + len(held["third"]) + held_aside <= 2, held
