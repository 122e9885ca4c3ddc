"""How much of what an attacker writes is held, and how little of what everyone writes; see `probes.py`."""

from __future__ import annotations

import pytest

from tests.command.probes import HALVES, Half, Kind, probes


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(
    ("kind", "size", "share"), [("destructive", 150, 0.95), ("wrapped", 60, 0.9), ("gate", 30, 0.95)]
)
def test_most_probes_of_a_kind_are_held_also_in_the_half_that_no_rule_was_written_for(
    kind: Kind, size: int, share: float, half: Half
) -> None:
    chosen = probes(kind, half)
    missed = [one.line for one in chosen if one.need() is None]
    assert len(chosen) >= size
    # Only the development half is shown: the other one stays unknown to whoever writes rules.
    assert len(missed) <= (1 - share) * len(chosen), missed if half == "development" else len(missed)


def test_of_harmless_look_alikes_at_most_two_are_held() -> None:
    chosen = {half: probes("harmless", half) for half in HALVES}
    held = {half: [one.line for one in of_half if one.need() is not None] for half, of_half in chosen.items()}
    assert sum(map(len, chosen.values())) >= 200
    assert len(held["development"]) + len(held["aside"]) <= 2, held["development"]
