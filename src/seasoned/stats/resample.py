"""The cluster bootstrap: whole clusters are drawn with replacement, and each draw is studentised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator

    from seasoned.stats.counts import Array

    Smooth = Callable[[Array], tuple[Array, Array]]
    """From rows of totals to the value of each row and its gradient by the totals."""

RESAMPLES = 2000
_AT_ONCE = 2_000_000
"""Numbers held in memory at a time."""


def studentised_ends(
    arms: Sequence[Array], smooth: Smooth, *, level: float, resamples: int, seed: int, symmetric: bool = False
) -> tuple[float, float] | None:
    """The ends of a bootstrap-t interval (Efron 1981; by clusters Davison & Hinkley 1997, 3.8).

    `symmetric` takes both ends equally far away (Hall 1988): steadier where the value may lie on both sides of zero.

    Each arm has a row for each of its clusters; `smooth` sees the totals of all arms side by side. None when
    so many draws have no spread that an end would be infinite.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    value, error = _studentise([arm.sum(axis=0)[None] for arm in arms], [_squares(a, None) for a in arms], arms, smooth)
    if not np.isfinite(value[0]) or not error[0] > 0:
        return None
    pivots = np.concatenate(
        [
            _pivots(float(value[0]), *_studentise(sums, squares, arms, smooth))
            for sums, squares in _draws(arms, resamples, generator)
        ]
    )
    if symmetric:
        pivots = np.concatenate([pivots, -pivots])
    tail = (1 - level) / 2
    # Not interpolated: the quantile of a draw without spread is infinite, and infinity cannot be averaged.
    low, high = np.quantile(pivots, [tail, 1 - tail], method="inverted_cdf").tolist()
    if not np.isfinite(low) or not np.isfinite(high):
        return None
    return float(value[0] - high * error[0]), float(value[0] - low * error[0])


def _draws(arms: Sequence[Array], resamples: int, generator: Generator) -> Iterator[tuple[list[Array], list[Array]]]:
    """Totals, and sums of squares and products, of each draw; as many draws at once as memory should hold."""
    step = max(1, _AT_ONCE // max(len(arm) for arm in arms))
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        weights = [_weights(len(arm), count, generator) for arm in arms]
        yield (
            [weight @ arm for weight, arm in zip(weights, arms, strict=True)],
            [_squares(arm, weight) for weight, arm in zip(weights, arms, strict=True)],
        )


def _weights(clusters: int, draws: int, generator: Generator) -> Array:
    """How often each draw holds each cluster."""
    import numpy as np

    chosen = generator.integers(0, clusters, (draws, clusters)) + clusters * np.arange(draws)[:, None]
    return np.bincount(chosen.ravel(), minlength=draws * clusters).reshape(draws, clusters).astype(float)


def _squares(arm: Array, weights: Array | None) -> Array:
    """Sums of products of columns: one matrix for each draw, or one for the data when there are no weights."""
    import numpy as np

    columns = arm.shape[1]
    products = (arm[:, :, None] * arm[:, None, :]).reshape(len(arm), columns * columns)
    sums: Array = products.sum(axis=0)[None] if weights is None else weights @ products
    return np.asarray(sums).reshape(-1, columns, columns)


def _studentise(
    sums: Sequence[Array], squares: Sequence[Array], arms: Sequence[Array], smooth: Smooth
) -> tuple[Array, Array]:
    """Value and linearised standard error of each draw (Woodruff 1971)."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        value, gradient = smooth(np.hstack(sums))
        variance = np.zeros(len(value))
        column = 0
        for square, arm in zip(squares, arms, strict=True):
            part = gradient[:, column : column + arm.shape[1]]
            column += arm.shape[1]
            clusters = len(arm)
            variance += clusters / (clusters - 1) * np.einsum("bk,bkl,bl->b", part, square, part)
        return value, np.sqrt(np.maximum(variance, 0.0))


def _pivots(value: float, drawn: Array, error: Array) -> Array:
    """Distance of each draw from the data in its own standard errors; infinite where a draw has no spread."""
    import numpy as np

    away = drawn - value
    with np.errstate(divide="ignore", invalid="ignore"):
        known = (error > 1e-12) & np.isfinite(error) & np.isfinite(away)
        pivots = np.where(known, away / error, np.where(away > 0, np.inf, -np.inf))
    return np.where(np.isnan(away) | (away == 0), 0.0, pivots)
