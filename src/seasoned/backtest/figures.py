"""The figures of a replay: shares with intervals that respect conversations and projects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median

import msgspec

from seasoned.backtest.replay import ARMS, FREQUENT_FIVE, Replayed
from seasoned.stats.cluster import rate
from seasoned.stats.interval import Estimate

# Fewer projects say too little about how much projects differ; then conversations are the units.
_FEWEST_PROJECTS = 5


class Figures(msgspec.Struct, frozen=True):
    """What a replay shows about one project, or about all."""

    project: str
    conversations: int
    told: int  # conversations that saw anything
    lines: int
    used: Estimate
    used_where_run: Estimate  # the same in conversations that ran any command of the project with success
    ahead: Estimate
    wrong: Estimate
    foreign: int
    # The same shares for as many lines chosen in simpler ways; random lines are the null arm.
    used_by: dict[str, Estimate]
    calls: int
    failures: int
    mistakes: int
    known_mistakes: int
    repaired: int
    clear_errors: int  # further known mistakes whose error says itself what to do: they get no hint
    # Of the known mistakes that the conversation repaired, the share for which the same repair was shown.
    answered: Estimate
    # Of all known mistakes, also those never repaired, the share for which a hint was shown.
    hinted: Estimate
    right: Estimate  # of the hints at failures that were repaired, the share with the same repair
    hints: int
    false_hints: int
    false_per_200_calls: float | None
    spoke_unknown: int  # first conversations of a project that saw something: must be 0
    tokens: float | None  # the median of a conversation that saw anything
    milliseconds: float | None


class Backtest(msgspec.Struct, frozen=True):
    """A replay of histories: all projects together, and each."""

    all: Figures
    projects: tuple[Figures, ...]
    left_out: int  # conversations without a time or a project


def figures(replayed: Sequence[Replayed], *, fewest: int = 1, left_out: int = 0) -> Backtest:
    """The figures of all conversations, and of each project with at least `fewest`."""
    by_project: dict[str, list[Replayed]] = {}
    for one in replayed:
        by_project.setdefault(one.project, []).append(one)
    kept = {project: some for project, some in by_project.items() if len(some) >= fewest}
    everything = [one for some in kept.values() for one in some]
    each = sorted(kept.items(), key=lambda item: (-len(item[1]), item[0]))
    return Backtest(
        _figures("", everything),
        tuple(_figures(project, some) for project, some in each),
        left_out + sum(len(some) for some in by_project.values()) - len(everything),
    )


def _figures(project: str, replayed: Sequence[Replayed]) -> Figures:
    share = _Shares(replayed)
    calls = sum(one.calls for one in replayed)
    hints = [hint for one in replayed for hint in one.hints]
    told = [one for one in replayed if one.tokens]
    false = sum(hint.false for hint in hints)
    return Figures(
        project,
        len(replayed),
        len(told),
        sum(len(one.lines["chosen"]) for one in replayed),
        share.of(lambda one: [line.used for line in one.lines["chosen"]]),
        share.of(lambda one: [line.used for line in one.lines["chosen"] if one.ran]),
        share.of(lambda one: [line.ahead for line in one.lines["chosen"] if line.used]),
        share.of(lambda one: [line.wrong for line in one.lines["chosen"]]),
        sum(one.foreign for one in replayed),
        {
            arm: share.of(lambda one, arm=arm: [line.used for line in one.lines[arm]])  # type: ignore[misc]
            for arm in (*ARMS[1:], FREQUENT_FIVE)
        },
        calls,
        sum(one.failures for one in replayed),
        sum(one.mistakes for one in replayed),
        sum(one.known_mistakes for one in replayed),
        sum(one.repaired for one in replayed),
        sum(one.clear for one in replayed),
        share.counted(lambda one: (one.answered, one.repaired)),
        share.counted(lambda one: (one.told, one.known_mistakes)),
        share.of(lambda one: [hint.right for hint in one.hints if hint.right is not None]),
        len(hints),
        false,
        200.0 * false / calls if calls else None,
        sum(bool(one.lines["chosen"] or one.hints) for one in replayed if not one.known),
        float(median(one.tokens for one in told)) if told else None,
        float(median(one.milliseconds for one in replayed)) if replayed else None,
    )


class _Shares:
    """Shares over clusters: projects where there are enough of them, else conversations."""

    def __init__(self, replayed: Sequence[Replayed]) -> None:
        self._conversations: list[list[Replayed]] = [[one] for one in replayed]
        projects: dict[str, list[Replayed]] = {}
        for one in replayed:
            projects.setdefault(one.project, []).append(one)
        self._projects = list(projects.values())

    def of(self, flags: Callable[[Replayed], Iterable[bool]]) -> Estimate:
        """The share of flags that are set."""

        def count(one: Replayed) -> tuple[int, int]:
            found = list(flags(one))
            return sum(found), len(found)

        return self.counted(count)

    def counted(self, count: Callable[[Replayed], tuple[int, int]]) -> Estimate:
        """The share of counts."""
        sums = _sums(self._projects, count)
        # Too few projects have anything to count: then conversations are the units.
        sums = sums if len(sums) >= _FEWEST_PROJECTS else _sums(self._conversations, count)
        return rate([pair[0] for pair in sums], [pair[1] for pair in sums])


def _sums(groups: Iterable[Sequence[Replayed]], count: Callable[[Replayed], tuple[int, int]]) -> list[tuple[int, int]]:
    """The counts of each group that has any."""
    found = [[count(one) for one in group] for group in groups]
    sums = [(sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)) for pairs in found]
    return [pair for pair in sums if pair[1]]
