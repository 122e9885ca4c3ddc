"""Many tests at once: p values made larger for having been looked for."""

from __future__ import annotations

from collections.abc import Sequence

from seasoned.errors import UsageError


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p values in the order given, controlling any false finding at all (Holm 1979).

    A None is a test that was not made: it stays None and costs the others nothing.
    """
    for p_value in p_values:
        if p_value is not None and not 0 <= p_value <= 1:
            raise UsageError(f"a p value lies between 0 and 1, not {p_value!r}")
    made = sorted((p_value, index) for index, p_value in enumerate(p_values) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for place, (p_value, index) in enumerate(made):
        # Each is at least the one before it, so that a larger p value is never found more significant.
        largest = max(largest, min(1.0, (len(made) - place) * p_value))
        adjusted[index] = largest
    return tuple(adjusted)
