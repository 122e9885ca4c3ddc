"""Workflows: steps that follow each other in the same order in several lineages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seasoned.template.example import Workflow

SHORTEST, LONGEST = 3, 6
_DISTINCT = 3
"""Going to and fro between two steps is no workflow."""


def workflows(walks: Iterable[tuple[str, Sequence[str]]], *, fewest_lineages: int, limit: int) -> tuple[Workflow, ...]:
    """What recurs in the steps of sessions, each given with its lineage; the best supported and longest first."""
    roots: dict[tuple[str, ...], set[str]] = {}
    for root, steps in walks:
        for found in _stretches(_without_repeats(steps)):
            roots.setdefault(found, set()).add(root)
    support = {steps: len(seen) for steps, seen in roots.items() if len(seen) >= fewest_lineages}
    closed = _closed(support)
    ordered = sorted(closed, key=lambda steps: (-support[steps] * (len(set(steps)) - 1), -len(steps), steps))
    kept: list[tuple[str, ...]] = []
    for steps in ordered:
        if len(kept) == limit:
            break
        if not any(_is_much_like(steps, other) for other in kept):
            kept.append(steps)
    return tuple(Workflow(steps, support[steps]) for steps in kept)


def _without_repeats(steps: Sequence[str]) -> list[str]:
    """The same step several times in a row is one step."""
    return [step for at, step in enumerate(steps) if at == 0 or steps[at - 1] != step]


def _stretches(steps: Sequence[str]) -> set[tuple[str, ...]]:
    return {
        tuple(steps[at : at + length])
        for length in range(SHORTEST, LONGEST + 1)
        for at in range(len(steps) - length + 1)
        if len(set(steps[at : at + length])) >= max(_DISTINCT, length - 1)
    }


def _closed(support: dict[tuple[str, ...], int]) -> list[tuple[str, ...]]:
    """Those that are not part of a longer one with the same support."""
    swallowed = set()
    for steps, count in support.items():
        for part in (steps[1:], steps[:-1]):
            if support.get(part) == count:
                swallowed.add(part)
    return [steps for steps in support if steps not in swallowed]


def _is_much_like(steps: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two are parts of each other, or hold the same steps in another order."""
    short, long = sorted((steps, other), key=len)
    inside = any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
    return inside or set(steps) == set(other)
