"""Two groups compared within strata: only like is set against like, however the strata are spread over the groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from seasoned.errors import UsageError
from seasoned.stats.cluster import effective_clusters
from seasoned.stats.distribution import t_tails, two_sided_t
from seasoned.stats.interval import NOTHING_VARIES, ONE_CLUSTER, Estimate, check_level, span
from seasoned.stats.trend import sums

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from seasoned.stats.counts import Array

    Codes = npt.NDArray[np.intp]
    Flags = npt.NDArray[np.bool_]

NO_SHARED_STRATUM = "no stratum has trials of both groups"


def stratified_difference(
    failed: Flags, in_first: Flags, stratum: Codes, cluster: Codes, *, level: float = 0.95
) -> Estimate:
    """First rate minus second within strata, one entry for each trial (Mantel & Haenszel: Greenland & Robins 1985).

    The error leaves clusters out in turn (Tukey 1958), with Student's t; a cluster may have trials in both groups
    and in many strata. Strata and clusters are numbered from 0.
    """
    check_level(level)
    import numpy as np

    if len({len(failed), len(in_first), len(stratum), len(cluster)}) != 1:
        raise UsageError("every trial has an outcome, a group, a stratum and a cluster")
    cells, of_cluster, of_stratum = _cells(failed, in_first, stratum, cluster)
    totals = np.stack([sums(of_stratum, column) for column in cells.T], axis=1)
    parts, weights = _terms(totals)
    shared = weights > 0
    if not shared.any():
        return Estimate(None, None, 0, 0, NO_SHARED_STRATUM)
    # A stratum without both groups tells nothing, and neither do the clusters that lie in such strata alone.
    kept = shared[of_stratum]
    cells, of_stratum = cells[kept], of_stratum[kept]
    _, of_cluster = np.unique(of_cluster[kept], return_inverse=True)
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
    freedom = min(effective_clusters(side) for side in sides) - 1
    half = two_sided_t(level, freedom) * error
    interval = span(max(-1.0, value - half), value, min(1.0, value + half), level, clusters)
    return Estimate(value, interval, n, clusters, p_value=t_tails(value / error, freedom))


def _cells(failed: Flags, in_first: Flags, stratum: Codes, cluster: Codes) -> tuple[Array, Codes, Codes]:
    """Rows (failures, total, failures, total) for each cluster in each stratum it has trials in."""
    import numpy as np

    strata = int(stratum.max()) + 1 if len(stratum) else 1
    keys, row = np.unique(cluster * strata + stratum, return_inverse=True)
    first = in_first.astype(float)
    columns: list[Array] = [failed * first, first, failed * (1 - first), 1 - first]
    return np.stack([sums(row, column) for column in columns], axis=1), keys // strata, keys % strata


def _terms(rows: Array) -> tuple[Array, Array]:
    """Weighted difference and weight of each row; both are zero where a group is missing."""
    import numpy as np

    failed_a, total_a, failed_b, total_b = rows.T
    size = np.maximum(total_a + total_b, 1.0)
    return (failed_a * total_b - failed_b * total_a) / size, total_a * total_b / size
