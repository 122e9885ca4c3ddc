"""Trends within clusters, and differences within strata: differences between clusters cannot look like a trend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from seasoned.errors import UsageError
from seasoned.stats.interval import NOTHING_VARIES, ONE_CLUSTER, Estimate, span, t_tails, two_sided_t
from seasoned.stats.proportion import effective_clusters

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from seasoned.stats.interval import Array

    Codes = npt.NDArray[np.integer]
    Flags = npt.NDArray[np.bool_]

NO_WAY = "no cluster has trials at more than one position"
NO_WAY_IN_STRATA = "positions cannot be told from strata"


def slope_of(
    failed: Flags,
    position: Array,
    cluster: Codes,
    stratum: Codes | None = None,
    *,
    group: Codes | None = None,
    level: float = 0.95,
) -> Estimate:
    """The change of the failure probability per unit of position: a linear probability model within clusters.

    There is one entry for each trial. The level of each cluster and stratum is removed first (Frisch & Waugh 1933);
    errors leave clusters out in turn (CV3: MacKinnon, Nielsen & Webb 2023). Clusters of one group are left out
    together: each keeps its own level, but they resemble each other. All are numbered from 0.
    """
    import numpy as np

    n = len(failed)
    if not n:
        return Estimate(None, None, 0, 0, NO_WAY)
    scale = float(np.abs(position).max()) or 1.0
    outcome, position = _within(failed.astype(float), cluster), _within(position, cluster)
    reason = NO_WAY
    if stratum is not None and float(np.abs(position).max()) > 1e-9 * scale:
        _take_out_strata((outcome, position), cluster, stratum)
        reason = NO_WAY_IN_STRATA
    # Rounding errors of the subtraction would otherwise count as positions.
    position[(position < 1e-9 * scale) & (position > -1e-9 * scale)] = 0.0
    unit = cluster if group is None else group
    spread = sums(unit, position**2)
    # A cluster with hardly any spread would leave only rounding errors when the others are left out.
    told = spread > 1e-12 * spread.max()
    if not told.any():
        return Estimate(None, None, n, 0, reason)
    return _jackknifed(sums(unit, position * outcome)[told], spread[told], n, level)


def _jackknifed(parts: Array, weights: Array, n: int, level: float) -> Estimate:
    """Sum of parts over sum of weights, each cluster left out in turn; t with effective clusters less one."""
    value = float(parts.sum() / weights.sum())
    clusters = len(parts)
    if clusters < 2:
        return Estimate(value, None, n, clusters, ONE_CLUSTER)
    without = (parts.sum() - parts) / (weights.sum() - weights)
    error = math.sqrt((clusters - 1) * float(without.var()))
    if not error > 1e-12 * max(1.0, abs(value)):
        return Estimate(value, None, n, clusters, NOTHING_VARIES)
    freedom = effective_clusters(weights) - 1
    half = two_sided_t(level, freedom) * error
    interval = span(value - half, value, value + half, level, clusters)
    return Estimate(value, interval, n, clusters, p_value=t_tails(value / error, freedom))


def _within(values: Array, cluster: Codes) -> Array:
    """Each value less the mean of its cluster."""
    import numpy as np

    means = (sums(cluster, values) / np.maximum(np.bincount(cluster), 1))[cluster]
    return np.subtract(values, means, out=means)


def sums(codes: Codes, values: Array) -> Array:
    """Sums of values by code."""
    import numpy as np

    return np.bincount(codes, values).astype(float)


# Clusters whose counts by stratum are held at once: with many strata all of them would fill the memory.
_CLUSTERS_AT_ONCE = 20_000
# Codes so many times the number of entries are sorted: a table of all codes would be larger than the entries.
_SPARSE = 8


def _take_out_strata(columns: Sequence[Array], cluster: Codes, stratum: Codes) -> None:
    """Remove from values, in place, what strata explain; cluster means must be removed already.

    The normal equations are built from counts, so that no column for each stratum and trial is ever held.
    """
    import numpy as np

    clusters, strata = int(cluster.max()) + 1, int(stratum.max()) + 1
    normal = np.diag(np.bincount(stratum).astype(float))
    for first in range(0, clusters, _CLUSTERS_AT_ONCE):
        some = (cluster >= first) & (cluster < first + _CLUSTERS_AT_ONCE)
        shape = (min(_CLUSTERS_AT_ONCE, clusters - first), strata)
        cell = (cluster[some] - first) * strata + stratum[some]
        counts = np.bincount(cell, minlength=shape[0] * strata).reshape(shape).astype(float)
        normal -= counts.T @ (counts / np.maximum(counts.sum(axis=1), 1.0)[:, None])
    # A pseudo-inverse: with every cluster's mean removed, the levels are known only up to a constant.
    inverse = np.linalg.pinv(normal, hermitian=True)
    for values in columns:
        values -= _within((inverse @ sums(stratum, values))[stratum], cluster)


def distinct(codes: Codes) -> tuple[Codes, Codes]:
    """The codes that occur, in order, and for each entry which of them it is: np.unique without sorting."""
    import numpy as np

    if not len(codes) or int(codes.max()) > _SPARSE * len(codes):
        return np.unique(codes, return_inverse=True)
    occurs = np.bincount(codes) > 0
    return occurs.nonzero()[0], (np.cumsum(occurs, dtype=np.int32) - 1)[codes]


NO_SHARED_STRATUM = "no stratum has trials of both groups"


def stratified_difference(
    failed: Flags, in_first: Flags, stratum: Codes, cluster: Codes, *, level: float = 0.95
) -> Estimate:
    """First rate minus second within strata, one entry for each trial (Mantel & Haenszel: Greenland & Robins 1985).

    The error leaves clusters out in turn (Tukey 1958), with Student's t; a cluster may have trials in both groups
    and in many strata. Strata and clusters are numbered from 0.
    """
    import numpy as np

    if len({len(failed), len(in_first), len(stratum), len(cluster)}) != 1:
        raise UsageError("Every trial needs an outcome, a group, a stratum and a cluster.")
    cells, of_cluster, of_stratum = _cells(failed, in_first, stratum, cluster)
    totals = np.stack([sums(of_stratum, column) for column in cells.T], axis=1)
    parts, weights = _terms(totals)
    shared = weights > 0
    if not shared.any():
        return Estimate(None, None, 0, 0, NO_SHARED_STRATUM)
    # Strata without both groups carry no information, nor do clusters with no other strata.
    kept = shared[of_stratum]
    cells, of_stratum = cells[kept], of_stratum[kept]
    _, of_cluster = distinct(of_cluster[kept])
    n, clusters = int(cells[:, [1, 3]].sum()), int(of_cluster.max()) + 1
    value = float(parts.sum() / weights.sum())
    sides = [side[side > 0] for side in (sums(of_cluster, cells[:, column]) for column in (1, 3))]
    if min(len(side) for side in sides) < 2:
        return Estimate(value, None, n, clusters, f"{ONE_CLUSTER} in each group")
    parts_without, weights_without = _terms(totals[of_stratum] - cells)
    moved = sums(of_cluster, parts_without - parts[of_stratum])
    lighter = sums(of_cluster, weights_without - weights[of_stratum])
    left = weights.sum() + lighter
    if not (left > 1e-12 * weights.sum()).all():
        return Estimate(value, None, n, clusters, f"{ONE_CLUSTER} in each group")
    without = (parts.sum() + moved) / left
    error = math.sqrt((clusters - 1) * float(without.var()))
    if not error > 1e-12:
        return Estimate(value, None, n, clusters, NOTHING_VARIES)
    # The smaller group decides: many clusters in the other cannot make up for it.
    freedom = min(effective_clusters(side) for side in sides) - 1
    half = two_sided_t(level, freedom) * error
    interval = span(max(-1.0, value - half), value, min(1.0, value + half), level, clusters)
    return Estimate(value, interval, n, clusters, p_value=t_tails(value / error, freedom))


def _cells(failed: Flags, in_first: Flags, stratum: Codes, cluster: Codes) -> tuple[Array, Codes, Codes]:
    """Rows (failures, total, failures, total) for each cluster in each stratum it has trials in."""
    import numpy as np

    strata = int(stratum.max()) + 1 if len(stratum) else 1
    keys, row = distinct(cluster.astype(np.int64) * strata + stratum)
    # One after the other: a column for each trial is large.
    columns = (failed & in_first, in_first, failed & ~in_first, ~in_first)
    return (
        np.stack([np.bincount(row[column], minlength=len(keys)).astype(float) for column in columns], axis=1),
        keys // strata,
        keys % strata,
    )


def _terms(rows: Array) -> tuple[Array, Array]:
    """Weighted difference and weight of each row; both are zero where a group is missing."""
    import numpy as np

    failed_a, total_a, failed_b, total_b = rows.T
    size = np.maximum(total_a + total_b, 1.0)
    return (failed_a * total_b - failed_b * total_a) / size, total_a * total_b / size
