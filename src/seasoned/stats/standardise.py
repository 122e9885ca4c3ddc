"""Direct standardisation: the rate at a fixed mix of strata, so that a different mix does not look like a change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from seasoned.errors import UsageError
from seasoned.stats.cluster import Pooled, effective_clusters, wilson_interval
from seasoned.stats.difference import independent_difference
from seasoned.stats.interval import Estimate, check_level, raw_counts

if TYPE_CHECKING:
    from seasoned.stats.interval import Array

Strata = Mapping[str, tuple[int, int]]  # one cluster: failures and total by stratum

# A stratum in only one cluster shows no spread; counting it would make the interval too narrow.
FEWEST_CLUSTERS = 2

NO_STRATUM = "no stratum of the mix has trials in at least two clusters"


class Standardised(msgspec.Struct, frozen=True):
    """A rate at a fixed mix, the share of the mix it covers, and the strata without enough trials."""

    estimate: Estimate
    # Share of the mix behind the rate; nothing is assumed about the rest.
    covered: float
    missing: tuple[str, ...] = ()


def standardise_tables(failures: Array, totals: Array, weights: Array, *, level: float = 0.95) -> Standardised:
    """The rate if trials were mixed by `weights` (Neison 1844; jackknife error: Tukey 1958). Rows of the tables are
    clusters, columns strata; `missing` names columns by number."""
    check_level(level)
    held = ((totals > 0).sum(axis=0) >= FEWEST_CLUSTERS) & (weights > 0)
    missing = tuple(str(column) for column in ((weights > 0) & ~held).nonzero()[0].tolist())
    if not held.any():
        return Standardised(Estimate(None, None, 0, 0, NO_STRATUM), 0.0, missing)
    some = totals[:, held].sum(axis=1) > 0
    pooled = _pool_tables(failures[some][:, held], totals[some][:, held], weights[held])
    covered = float(weights[held].sum() / weights.sum())
    return Standardised(
        Estimate(pooled.rate, wilson_interval(pooled, level), pooled.n, pooled.clusters), covered, missing
    )


def standardised_difference(
    a: Sequence[Strata], b: Sequence[Strata], mix: Mapping[str, float] | None = None, *, level: float = 0.95
) -> Standardised:
    """First minus second at one mix, by default that of both together; only strata with trials on both sides count."""
    check_level(level)
    shares = _shares(_joint_mix(a, b) if mix is None else mix)
    held = {s for s in shares if min(_clusters_with(a, s), _clusters_with(b, s)) >= FEWEST_CLUSTERS}
    covered, missing = _coverage(shares, held)
    if not held:
        return Standardised(Estimate(None, None, 0, 0, f"{NO_STRATUM} on both sides"), 0.0, missing)
    kept = {stratum: shares[stratum] for stratum in shares if stratum in held}
    return Standardised(independent_difference(_pool(a, kept), _pool(b, kept), level), covered, missing)


def _pool(clusters: Sequence[Strata], shares: Mapping[str, float]) -> Pooled:
    """The rate at the mix with its jackknife error."""
    import numpy as np

    return _pool_tables(*_tables(clusters, list(shares)), np.array(list(shares.values())))


def _pool_tables(failures: Array, totals: Array, weights: Array) -> Pooled:
    weights = weights / weights.sum()
    rate = float((failures.sum(axis=0) / totals.sum(axis=0)) @ weights)
    without = ((failures.sum(axis=0) - failures) / (totals.sum(axis=0) - totals)) @ weights
    error = math.sqrt((len(totals) - 1) * float(without.var()))
    # The size of a cluster is its share in the standardised rate, not its number of trials.
    sizes = (totals / totals.sum(axis=0)) @ weights
    return Pooled(
        min(1.0, rate),
        int(totals.sum()),
        len(totals),
        error if error > 1e-12 else 0.0,
        effective_clusters(sizes[sizes > 0]) - 1,
    )


def _tables(clusters: Sequence[Strata], strata: Sequence[str]) -> tuple[Array, Array]:
    """Failures and totals, a row for each cluster with trials in one of the strata, a column for each stratum."""
    import numpy as np

    columns = [raw_counts(*_column(clusters, stratum)) for stratum in strata]
    failures, totals = np.stack([c[:, 0] for c in columns], axis=1), np.stack([c[:, 1] for c in columns], axis=1)
    some = totals.sum(axis=1) > 0
    return failures[some], totals[some]


def _column(clusters: Sequence[Strata], stratum: str) -> tuple[list[int], list[int]]:
    cells = [cluster.get(stratum, (0, 0)) for cluster in clusters]
    return [failures for failures, _ in cells], [total for _, total in cells]


def _clusters_with(clusters: Sequence[Strata], stratum: str) -> int:
    return sum(cluster.get(stratum, (0, 0))[1] > 0 for cluster in clusters)


def _joint_mix(a: Sequence[Strata], b: Sequence[Strata]) -> Mapping[str, float]:
    mix: Counter[str] = Counter()
    for cluster in (*a, *b):
        for stratum, (_, total) in cluster.items():
            mix[stratum] += total
    return mix


def _shares(mix: Mapping[str, float]) -> dict[str, float]:
    """Weights that sum to one, by name, without empty strata."""
    for stratum, weight in mix.items():
        if not (weight >= 0 and math.isfinite(weight)):
            raise UsageError(f"a mix has weights from 0 up, not {weight!r} for {stratum!r}")
    total = math.fsum(mix.values())
    return {stratum: mix[stratum] / total for stratum in sorted(mix) if mix[stratum] > 0}


def _coverage(shares: Mapping[str, float], held: set[str]) -> tuple[float, tuple[str, ...]]:
    missing = tuple(stratum for stratum in shares if stratum not in held)
    return (1.0 if not missing else math.fsum(shares[stratum] for stratum in held)), missing
