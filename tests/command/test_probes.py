"""How much of what an attacker writes is held, and how little of what everyone writes; see `probes.py`."""

from __future__ import annotations

import pytest

from tests.command.probes import SETS, Kind, probes


@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize(("kind", "share"), [("destructive", 0.9), ("wrapped", 0.9), ("gate", 0.95)])
def test_most_probes_of_a_kind_are_held(kind: Kind, share: float, which: str) -> None:
    chosen = probes(kind, which)
    # The half that no rule was written for.
    share = min(share, 0.9) if which == "aside" else share
    missed = [one.line for one in chosen if one.need() is None]
    assert chosen
    assert len(missed) <= (1 - share) * len(chosen), missed


def test_of_harmless_look_alikes_hardly_any_is_held() -> None:
    chosen = [one for which in SETS for one in probes("harmless", which)]
    held = [one.line for one in chosen if one.need()]
    assert chosen
    assert len(held) <= 0.01 * len(chosen), held
