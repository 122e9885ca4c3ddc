"""Failures and totals by cluster, checked once and for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seasoned.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


def as_counts(failures: Sequence[int], totals: Sequence[int]) -> Array:
    """One row (failures, total) for each cluster with trials; an empty cluster says nothing and is dropped."""
    rows = raw_counts(failures, totals)
    return rows[rows[:, 1] > 0]


def as_pairs(
    failures_a: Sequence[int], totals_a: Sequence[int], failures_b: Sequence[int], totals_b: Sequence[int]
) -> Array:
    """One row (failures, total, failures, total) for each cluster that was tried under both conditions."""
    import numpy as np

    a, b = raw_counts(failures_a, totals_a), raw_counts(failures_b, totals_b)
    if len(a) != len(b):
        raise UsageError(f"pairs need the same clusters on both sides, not {len(a)!r} and {len(b)!r}")
    rows = np.hstack([a, b])
    return rows[(rows[:, 1] > 0) & (rows[:, 3] > 0)]


def raw_counts(failures: Sequence[int], totals: Sequence[int]) -> Array:
    """One row for each cluster, the empty ones too."""
    import numpy as np

    if len(failures) != len(totals):
        raise UsageError(f"each cluster has failures and a total, not {len(failures)!r} and {len(totals)!r} of them")
    rows = np.column_stack([np.asarray(failures, dtype=float), np.asarray(totals, dtype=float)])
    wrong = ~((rows[:, 0] >= 0) & (rows[:, 0] <= rows[:, 1]) & np.isfinite(rows[:, 1]))
    if wrong.any():
        first = rows[wrong][0].tolist()
        raise UsageError(f"failures lie between 0 and the total, not {first[0]!r} of {first[1]!r}")
    return rows
