"""How often intervals hold the truth, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from seasoned.stats import anytime, difference, permutation, proportion
from seasoned.stats.interval import Estimate
from tests.stats.data import slope, standardise
from tests.torture import TORTURE

LARGE = TORTURE
DRAWS = 4000 if LARGE else 200


class World(NamedTuple):
    """Clusters as they might be: how many, how long, how they fail, how much they resemble themselves."""

    clusters: int = 60
    size: int = 40
    rate: float = 0.06
    effect: float = 4.0
    """Design effect of clusters of this size."""
    unequal: float = 0.0
    """Standard deviation of the logarithm of the sizes."""

    def __str__(self) -> str:
        sizes = f"~{self.size} (log sd {self.unequal:g})" if self.unequal else f"{self.size}"
        return f"{self.clusters} × {sizes}, {self.rate:.0%}, design effect {self.effect:g}"

    def sizes(self, generator: Generator) -> np.ndarray:
        if not self.unequal:
            return np.full(self.clusters, self.size)
        drawn = self.size * np.exp(generator.normal(-(self.unequal**2) / 2, self.unequal, self.clusters))
        return np.maximum(2, np.round(drawn)).astype(int)

    def rates(self, generator: Generator) -> np.ndarray:
        """A rate for each cluster: beta, so that counts are beta-binomial."""
        if self.effect <= 1:
            return np.full(self.clusters, self.rate)
        alike = (self.effect - 1) / (self.size - 1)
        strength = (1 - alike) / alike
        return generator.beta(self.rate * strength, (1 - self.rate) * strength, self.clusters)

    def draw(self, generator: Generator) -> tuple[list[int], list[int]]:
        sizes = self.sizes(generator)
        return generator.binomial(sizes, self.rates(generator)).tolist(), sizes.tolist()


EQUAL = World()
UNEQUAL = World(unequal=0.7)
VERY_UNEQUAL = World(unequal=1.0)
FEW = World(clusters=20)
ALONE = World(effect=1.0)
MANY = World(clusters=200, unequal=1.0)
ODD = World(clusters=10, rate=0.2)

Trial = Callable[[Generator, World, int], bool | None]
"""Draws data from a world and says whether the interval held the truth; None when there was no interval."""


def held(estimate: Estimate, truth: float) -> bool | None:
    if estimate.interval is None:
        return None
    return estimate.interval.low <= truth <= estimate.interval.high


def share(trial: Trial, world: World, draws: int = DRAWS, seed: int = 1) -> tuple[float, float]:
    """The share of intervals that held the truth, and the share of draws without an interval."""
    generator = np.random.default_rng(seed)
    answers = [trial(generator, world, number) for number in range(draws)]
    given = [answer for answer in answers if answer is not None]
    return sum(given) / len(given), 1 - len(given) / draws


def one_rate(generator: Generator, world: World, seed: int) -> bool | None:
    return held(proportion.rate(*world.draw(generator)), world.rate)


def two_rates(generator: Generator, world: World, seed: int) -> bool | None:
    other = world._replace(rate=world.rate * 1.5)
    found = difference.difference(*other.draw(generator), *world.draw(generator))
    return held(found, other.rate - world.rate)


def pairs(*, by_ratio: bool = False) -> Trial:
    """The same clusters under two conditions: the second has two thirds of the first's rate, cluster by cluster."""

    def trial(generator: Generator, world: World, seed: int) -> bool | None:
        rates = world.rates(generator)
        sizes_a, sizes_b = world.sizes(generator), world.sizes(generator)
        failures_a, failures_b = generator.binomial(sizes_a, rates), generator.binomial(sizes_b, rates * 2 / 3)
        compare, truth = (difference.paired_ratio, 1.5) if by_ratio else (difference.paired_difference, world.rate / 3)
        data = [column.tolist() for column in (failures_a, sizes_a, failures_b, sizes_b)]
        return held(compare(*data), truth)

    return trial


def plain(interval: Callable[[int, int], Estimate]) -> Trial:
    return lambda g, w, seed: held(interval(int(g.binomial(w.size, w.rate)), w.size), w.rate)


def plain_two(compare: Callable[[int, int, int, int], Estimate], *, by_ratio: bool = False) -> Trial:
    def trial(generator: Generator, world: World, seed: int) -> bool | None:
        a, b = (int(generator.binomial(world.size, rate)) for rate in (world.rate * 1.5, world.rate))
        return held(compare(a, world.size, b, world.size), 1.5 if by_ratio else world.rate / 2)

    return trial


def fixed_mix(generator: Generator, world: World, seed: int) -> bool | None:
    """Three strata with rates of their own; what is used differs from cluster to cluster and from the mix."""
    factors, mix = {"a": 0.5, "b": 1.0, "c": 2.0}, {"a": 0.5, "b": 0.25, "c": 0.25}
    clusters = []
    for size, rate in zip(world.sizes(generator), world.rates(generator), strict=True):
        counts = generator.multinomial(size, generator.dirichlet([2, 2, 2])).tolist()
        parts = zip(factors, counts, strict=True)
        clusters.append({s: (int(generator.binomial(n, min(1.0, rate * factors[s]))), n) for s, n in parts})
    return held(standardise(clusters, mix).estimate, world.rate * sum(mix[s] * factors[s] for s in mix))


def along(*, with_strata: bool) -> Trial:
    """The probability falls to half along a cluster; with strata, a worse stratum is used ever more."""

    def trial(generator: Generator, world: World, seed: int) -> bool | None:
        failed, strata = [], []
        for size, rate in zip(world.sizes(generator), world.rates(generator), strict=True):
            place = np.linspace(0, 1, size)
            worse = generator.random(size) < place
            chance = rate + world.rate / 2 * (1 - place) + 0.1 * worse * with_strata
            failed.append((generator.random(size) < chance).tolist())
            strata.append(np.where(worse, "worse", "better").tolist())
        return held(slope(failed, strata=strata if with_strata else None), -world.rate / 2)

    return trial


def looking_at_a_mean(generator: Generator, world: World, seed: int) -> bool | None:
    return held(anytime.mean_sequence(world.rates(generator).tolist()), world.rate)


def looking_at_means(generator: Generator, world: World, seed: int) -> bool | None:
    other = world._replace(rate=world.rate * 1.5)
    a, b = other.rates(generator).tolist(), world.rates(generator).tolist()
    return held(anytime.difference_sequence(a, b), world.rate / 2)


def every_look(generator: Generator, world: World, seed: int) -> bool | None:
    """The definition itself: the interval made anew after every cluster must hold the truth each time."""
    rates = world.rates(generator).tolist()
    looks = range(1, len(rates) + 1)
    return all(held(anytime.mean_sequence(rates[:k]), world.rate) is not False for k in looks)


def permuted(generator: Generator, world: World, seed: int) -> bool | None:
    """No difference: the test must not find one."""
    data = (*world.draw(generator), *world.draw(generator))
    p_value = permutation.permute_clusters(*data, permutations=399, seed=seed).value
    return None if p_value is None else p_value > 0.05


def flipped(generator: Generator, world: World, seed: int) -> bool | None:
    rates, a, b = world.rates(generator), world.sizes(generator), world.sizes(generator)
    data = [column.tolist() for column in (generator.binomial(a, rates), a, generator.binomial(b, rates), b)]
    p_value = permutation.permute_pairs(*data, permutations=399, seed=seed).value
    return None if p_value is None else p_value > 0.05


SMALL_PLAIN = World(clusters=1, size=200, effect=1.0)

NOMINAL: dict[str, tuple[Trial, tuple[World, ...]]] = {
    "rate": (one_rate, (EQUAL, UNEQUAL, VERY_UNEQUAL, FEW, ODD, ALONE, MANY)),
    "difference": (two_rates, (EQUAL, UNEQUAL)),
    "paired difference": (pairs(), (EQUAL, UNEQUAL)),
    "paired ratio": (pairs(by_ratio=True), (EQUAL, UNEQUAL)),
    "standardised rate": (fixed_mix, (EQUAL, UNEQUAL)),
    "slope within clusters": (along(with_strata=False), (EQUAL, UNEQUAL)),
    "slope within clusters and strata": (along(with_strata=True), (EQUAL, UNEQUAL)),
    "one proportion, Wilson": (plain(proportion.wilson), (SMALL_PLAIN,)),
    "two proportions, difference": (plain_two(proportion.proportion_difference), (SMALL_PLAIN,)),
    "two proportions, ratio": (plain_two(proportion.proportion_ratio, by_ratio=True), (SMALL_PLAIN,)),
    "permutation of clusters": (permuted, (EQUAL, UNEQUAL)),
    "permutation within pairs": (flipped, (EQUAL, UNEQUAL)),
}

AT_LEAST: dict[str, tuple[Trial, tuple[World, ...]]] = {
    "anytime mean": (looking_at_a_mean, (EQUAL, MANY)),
    "anytime difference of means": (looking_at_means, (EQUAL, MANY)),
}
