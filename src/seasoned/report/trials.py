"""The counted calls of many sessions as columns of numbers, the input of cohorts."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from seasoned.command.tool import is_trivial, task_type_of, tool_of
from seasoned.outcome.track import JudgedCall, Track
from seasoned.stats.difference import standardise_tables
from seasoned.stats.interval import NO_TRIALS, ONE_CLUSTER, Estimate
from seasoned.stats.proportion import Pooled, rate, wilson_interval
from seasoned.stats.trend import distinct
from seasoned.store import DatabaseRow

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Codes = npt.NDArray[np.integer]
    Flags = npt.NDArray[np.bool_]


EARLY_TURNS = 30
# A rate that covers less of the tool mix is not comparable with the others.
FEWEST_COVERED = 0.8
EarlyType = Literal["code-heavy", "file-heavy", "other"]
EARLY_TYPES: tuple[EarlyType, ...] = ("code-heavy", "file-heavy", "other")


class Figure(msgspec.Struct, frozen=True):
    """The error rate of some calls; sessions of one lineage form one cluster."""

    label: str
    failed: int
    calls: int  # those that count: ok and failed
    sessions: int
    rate: Estimate
    # The rate at the tool mix of all calls; None if not computed.
    fixed_mix: Estimate | None = None


class Trials:
    """Columns with an entry for each counted call in session order, and facts about each session."""

    def __init__(
        self,
        session: Sequence[int],
        position: Sequence[int],
        failed: Sequence[int],  # 1 or 0
        tool: Sequence[int],
        tools: Sequence[str],
        of_sessions: Iterable[Sequence[int]],  # the lineage, messages, counted calls and early type of each
    ) -> None:
        import numpy as np

        # 32 bits: these columns take most of the memory of a report.
        self.session: Codes = np.asarray(session, dtype=np.int32)
        self.position: Codes = np.asarray(position, dtype=np.int32)
        self.failed: Flags = np.asarray(failed, dtype=bool)
        self.tool: Codes = np.asarray(tool, dtype=np.int32)
        self.tools = tuple(tools)
        columns: Iterator[Codes] = (np.asarray(one, dtype=np.int32) for one in of_sessions)
        self.cluster_of, self.messages_of, self.calls_of, self.early_of = columns
        self.cluster: Codes = self.cluster_of[self.session]

    def __len__(self) -> int:
        return len(self.failed)

    def everything(self) -> Flags:
        import numpy as np

        return np.ones(len(self), dtype=bool)

    def from_end(self) -> Codes:
        """How many counted calls of its session follow each call: 0 for the last."""
        import numpy as np

        sizes = np.bincount(self.session, minlength=len(self.cluster_of))
        ends = np.cumsum(sizes)
        return (ends[self.session] - 1 - np.arange(len(self))).astype(np.int32)

    def relative(self, among: Flags) -> npt.NDArray[np.float64]:
        """The relative position of these calls in their sessions, from 0 for the first call to 1 for the last."""
        import numpy as np

        of_session = np.maximum(self.calls_of - 1, 1)
        return np.asarray(self.position[among] / of_session[self.session[among]], dtype=float)

    def figure(self, label: str, among: Flags | Codes, *, fixed_mix: bool = False) -> Figure:
        """The error rate of the selected calls: flags, or their positions in the columns."""
        import numpy as np

        cluster, failed = self.cluster[among], self.failed[among]
        estimate = rate(np.bincount(cluster, failed).astype(float), np.bincount(cluster).astype(float))
        sessions = int(np.count_nonzero(np.bincount(self.session[among])))
        standardised = self._fixed_mix(among) if fixed_mix else None
        return Figure(label, int(failed.sum()), len(failed), sessions, estimate, standardised)

    def _fixed_mix(self, among: Flags | Codes) -> Estimate:
        """The rate at the tool mix of all calls; unknown if too little of that mix was used."""
        import numpy as np

        clusters, row = distinct(self.cluster[among])
        shape = (len(clusters), len(self.tools))
        cell = row * len(self.tools) + self.tool[among]
        totals = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
        failures = np.bincount(cell, self.failed[among], minlength=shape[0] * shape[1]).reshape(shape).astype(float)
        mix = np.bincount(self.tool, minlength=len(self.tools)).astype(float)
        found = standardise_tables(failures, totals, mix)
        if found.estimate.value is not None and found.covered < FEWEST_COVERED:
            reason = f"only {100 * found.covered:.0f} % of the tool mix was used here by two lineages or more"
            return Estimate(None, None, found.estimate.n, found.estimate.clusters, reason)
        return found.estimate


class TrialColumns:
    """Collects the counted calls of sessions. A shell counts as several tools, one for each kind of command."""

    def __init__(self) -> None:
        # Arrays and not lists: a history may have millions of calls.
        self.session, self.position, self.tool, self.failed = array("i"), array("i"), array("i"), array("b")
        self.messages, self.own_calls, self.early = array("i"), array("i"), array("b")
        self.roots: list[str] = []  # of each session
        self.tools: dict[str, int] = {}
        self._codes: dict[tuple[str, str], int] = {}

    def add(self, track: Track) -> None:
        number = len(self.roots)
        self.roots.append(track.root)
        self.messages.append(track.messages)
        self.own_calls.append(len(track.calls))
        self.early.append(EARLY_TYPES.index(early_type(track.calls)))
        for call in track.counted():
            self.session.append(number)
            self.position.append(call.position)
            self.failed.append(call.has_failed)
            # Names are built once for each tool and kind, not for each of millions of calls.
            code = self._codes.get((call.tool, call.kind))
            if code is None:
                code = self.tools.setdefault(tool_name(call), len(self.tools))
                self._codes[call.tool, call.kind] = code
            self.tool.append(code)

    def trials(self) -> Trials:
        numbers: dict[str, int] = {}
        lineages = [numbers.setdefault(root, len(numbers)) for root in self.roots]
        of_sessions = (lineages, self.messages, self.own_calls, self.early)
        return Trials(self.session, self.position, self.failed, self.tool, list(self.tools), of_sessions)


def tool_name(call: JudgedCall) -> str:
    """The tool name, for a shell with the kind of its command: reading a file is not running the tests."""
    return f"{call.tool}: {call.kind}" if tool_of(call.tool).form == "shell" else call.tool


def early_type(calls: Iterable[JudgedCall]) -> EarlyType:
    """What the first turns of a session were about."""
    kinds: dict[str, int] = {}
    for call in calls:
        if call.message < EARLY_TURNS and not is_trivial(call.tool):
            kinds[call.kind] = kinds.get(call.kind, 0) + 1
    task = task_type_of(kinds)
    return "code-heavy" if task == "code" else "file-heavy" if task == "file" else "other"


LEVEL = 0.95


def rate_of_sums(row: DatabaseRow) -> Estimate:
    """The error rate from sums over sessions, the units of its interval: calls of one session resemble each other."""
    total, clusters = row["ok"] + row["failed"], row["counted"]
    if not total:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    value = row["failed"] / total
    if clusters < 2:
        return Estimate(value, None, total, clusters, ONE_CLUSTER)
    # The variance of a ratio of totals over clusters (Woodruff 1971), written out in sums of squares.
    spread = row["failed_squared"] - 2 * value * row["failed_by_total"] + value**2 * row["total_squared"]
    error = math.sqrt(max(0.0, spread) * clusters / (clusters - 1)) / total
    # As in effective_clusters: few long sessions count as few; Student's t needs at least one degree of freedom.
    freedom = max(2.0, total**2 / row["total_squared"]) - 1
    interval = wilson_interval(Pooled(value, total, clusters, error, freedom), LEVEL)
    return Estimate(value, interval, total, clusters)


def share(value: float | None) -> str:
    """`5.7 %`; a dash for what is unknown."""
    return "–" if value is None else f"{100 * value:.1f} %"


def points(value: float, *, has_sign: bool = False) -> str:
    """A difference of two rates: `3.1 points`."""
    return f"{signed(value) if has_sign else f'{100 * value:.1f}'} points"


def points_between(estimate: Estimate) -> str:
    """`−1.2 points (99 % interval −2.0 to −0.4)`."""
    if estimate.value is None:
        return f"unknown ({estimate.reason})"
    value = points(estimate.value, has_sign=True)
    if estimate.interval is None:
        return f"{value} (no interval: {estimate.reason})"
    low, high, level = estimate.interval.low, estimate.interval.high, estimate.interval.level
    return f"{value} ({100 * level:g} % interval {signed(low)} to {signed(high)})"


def share_between(estimate: Estimate) -> str:
    """`5.7 % (95 % interval 3.1 to 9.9), 12 of 210 calls`."""
    if estimate.value is None:
        return f"unknown: {estimate.reason}"
    of = f"{round(estimate.value * estimate.n)} of {estimate.n} calls"
    if estimate.interval is None:
        return f"{share(estimate.value)}, {of} (no interval: {estimate.reason})"
    low, high, level = estimate.interval.low, estimate.interval.high, estimate.interval.level
    return f"{share(estimate.value)} ({100 * level:g} % interval {100 * low:.1f} to {100 * high:.1f}), {of}"


def signed(value: float) -> str:
    """In hundredths with a real minus sign; zero has no sign."""
    shown = f"{100 * value:+.1f}".replace("-", "−")
    return shown[1:] if shown[1:] == "0.0" else shown
