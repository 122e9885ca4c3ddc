"""What the room promises, measured: secrets are gone, clean values are left alone."""

from __future__ import annotations

from collections import Counter

import pytest

from seasoned.redact import Redactor
from tests.conftest import one_in
from tests.redact.corpus import clean_values, planted, survives
from tests.torture import TORTURE

SEEDS = (1, 7) if TORTURE else (1,)


@pytest.mark.parametrize("seed", SEEDS)
def test_at_least_99_of_100_planted_secrets_are_gone_in_every_form(redactor: Redactor, seed: int) -> None:
    secrets = list(planted(seed))
    assert len(secrets) >= 2000
    assert len({p.kind for p in secrets}) >= 30
    missed: Counter[str] = Counter()
    for p in secrets:
        done = redactor.value(p.value)
        missed[p.kind] += any(survives(done, part) for part in p.parts)
    total = Counter(p.kind for p in secrets)
    report = {kind: f"{1 - missed[kind] / n:.3f}" for kind, n in total.items() if missed[kind]}
    assert missed.total() <= 0.01 * len(secrets), report


@pytest.mark.parametrize("seed", SEEDS)
def test_at_most_one_in_a_thousand_clean_values_is_harmed(redactor: Redactor, seed: int) -> None:
    clean = list(clean_values(seed))
    assert len(clean) >= 20_000
    harmed = [(value, done) for value in clean if (done := redactor.value(value)) != value]
    assert len(harmed) <= len(clean) / 1000, harmed[:20]


def test_redacting_twice_changes_nothing(redactor: Redactor) -> None:
    for p in one_in(3, planted(3)):
        once = redactor.value(p.value)
        assert redactor.value(once) == once, p
        assert not isinstance(once, str) or redactor.find(once) == [], p
