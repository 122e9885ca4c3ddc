"""Worlds whose truth is planted: learning, selection, fatigue, nothing, a change of tool mix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from seasoned.report.trials import Trials

SESSIONS = 300
CALLS = 60
SPREAD = 0.03


class World:
    """Sessions as columns: a probability of failing for each call, and lengths that may depend on what failed."""

    def __init__(self, seed: int, sessions: int = SESSIONS, *, is_spread: bool = False) -> None:
        self.generator: Generator = np.random.default_rng(seed)
        self.sessions = sessions
        self.is_spread = is_spread
        self.level = np.clip(self.generator.normal(0, SPREAD, sessions), -0.06, 0.2)

    def lengths(self) -> np.ndarray:
        """About 60 calls each, alike or spread as widely as chance endings spread them."""
        if self.is_spread:
            return self.generator.geometric(1 / CALLS, self.sessions).clip(2)
        return self.generator.poisson(CALLS, self.sessions).clip(5)

    def fixed(self, rate: Callable[[np.ndarray], np.ndarray], lengths: np.ndarray | None = None) -> Trials:
        """Sessions whose length has nothing to do with their failures."""
        lengths = self.lengths() if lengths is None else lengths
        session = np.repeat(np.arange(self.sessions), lengths)
        position = np.concatenate([np.arange(n) for n in lengths])
        relative = position / (lengths[session] - 1)
        return self._trials(session, position, rate(relative), np.zeros(len(session), dtype=int), lengths)

    def _trials(
        self, session: np.ndarray, position: np.ndarray, rate: np.ndarray, tool: np.ndarray, lengths: np.ndarray
    ) -> Trials:
        probability = np.clip(rate + self.level[session], 0, 1)
        failed = self.generator.random(len(session)) < probability
        return trials(session, position, failed, tool, lengths)


def trials(
    session: np.ndarray,
    position: np.ndarray,
    failed: np.ndarray,
    tool: np.ndarray,
    lengths: np.ndarray,
    *,
    forks: int = 1,
) -> Trials:
    """Columns from arrays; so many sessions in a row are of one lineage."""
    count = len(lengths)
    of_sessions = (np.arange(count) // forks, 2 * lengths + 2, lengths, np.full(count, 2))
    return Trials(session, position, failed, tool, ["read", "run"], of_sessions)


def learning(seed: int, sessions: int = SESSIONS, *, is_spread: bool = False) -> Trials:
    """Error 9 % at the first call, 4 % at the last."""
    return World(seed, sessions, is_spread=is_spread).fixed(lambda relative: 0.09 - 0.05 * relative)


def fatigue(seed: int, sessions: int = SESSIONS, *, is_spread: bool = False) -> Trials:
    """Error 4 % at the first call, 9 % at the last."""
    return World(seed, sessions, is_spread=is_spread).fixed(lambda relative: 0.04 + 0.05 * relative)


def nothing(seed: int, sessions: int = SESSIONS, *, is_spread: bool = False) -> Trials:
    """Error 6 % throughout."""
    return World(seed, sessions, is_spread=is_spread).fixed(lambda relative: np.full(len(relative), 0.06))


def tool_mix(seed: int, sessions: int = SESSIONS, *, is_spread: bool = False) -> Trials:
    """A tool that fails on 2 % and one that fails on 12 %: shares 80/20 at the first call, 20/80 at the last."""
    world = World(seed, sessions, is_spread=is_spread)
    lengths = world.lengths()
    session = np.repeat(np.arange(sessions), lengths)
    position = np.concatenate([np.arange(n) for n in lengths])
    relative = position / (lengths[session] - 1)
    tool = (world.generator.random(len(session)) < 0.2 + 0.6 * relative).astype(int)
    return world._trials(session, position, np.where(tool == 1, 0.12, 0.02), tool, lengths)


def selection(seed: int, sessions: int = SESSIONS, *, is_spread: bool = False) -> Trials:
    """Error 6 % throughout, but a failed call ends the session five times as often as another."""
    del is_spread  # chance endings are what this world is about
    world = World(seed, sessions)
    often = 1 / CALLS / (1 + 4 * 0.06)
    rows: list[tuple[int, int, bool]] = []
    lengths = np.zeros(sessions, dtype=int)
    for number in range(sessions):
        probability = min(1.0, max(0.0, 0.06 + world.level[number]))
        while True:
            failed = bool(world.generator.random() < probability)
            rows.append((number, lengths[number], failed))
            lengths[number] += 1
            if world.generator.random() < often * (5 if failed else 1):
                break
    session, position, failed = (np.array(column) for column in zip(*rows, strict=True))
    return trials(session, position, failed, np.zeros(len(rows), dtype=int), lengths)


WORLDS = {
    "learning": learning,
    "selection": selection,
    "fatigue": fatigue,
    "nothing": nothing,
    "tool mix": tool_mix,
}
