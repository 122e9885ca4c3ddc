"""The sources behind what a session is shown: which are independent, and how much of a block few of them get.

A source is a lineage: a session with its forks, continuations and sub-agents. Sessions with the same prompt and the
same calls are copies and count as one source, even if their ids differ. No rule can tell a planted session from an
unusual one. So what only few sources know gets no larger share of a block than these sources are of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex

# Two sessions with the same prompt are one source if this share of their calls is the same.
_ALIKE = 0.8
# "Go on" and three common commands do not make a copy: the prompt must have this many words, or the session this many
# calls.
_FEWEST_WORDS = 12
_FEWEST_CALLS = 8
# Items have the same sources if more than this share of them is the same.
_OVERLAP = 0.5
_WORD = LazyRegex(r"[^\W\d_]+")


class SessionSources:
    """Names the source of each session; copies of a session share one name."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # by lineage
        self._asked: dict[str, list[tuple[frozenset[str], str]]] = {}  # by prompt

    def name(self, root: str, task: str, calls: Iterable[str]) -> str:
        """The source of a session of this lineage, with this first prompt and these calls.

        The first session of a lineage decides: later ones continue it.
        """
        if root not in self._names:
            made = frozenset(calls)
            words = _WORD.compiled.findall(task.casefold())
            alike = self._asked.setdefault(" ".join(words), [])
            is_comparable = len(made) >= (1 if len(words) >= _FEWEST_WORDS else _FEWEST_CALLS)
            same = (name for others, name in alike if len(made & others) >= _ALIKE * len(made | others))
            self._names[root] = next(same, root) if is_comparable else root
            if is_comparable and self._names[root] == root:
                alike.append((made, root))
        return self._names[root]


class SourcedItem(NamedTuple):
    """What an item is about (a tool, a command), and the sources it comes from."""

    topic: str
    sources: frozenset[str]
    support: int = 0  # how many sources there are, if only some of them are named

    @property
    def size(self) -> int:
        return max(len(self.sources), self.support)


class SourceShare:
    """Decides which items may be in one block, by the sources behind them.

    Sources that are a tenth of all get a tenth of a block with room for `most` items, rounded up. That limits items of
    one topic, of several topics that no other source knows, items that few sources have, and items of the same sources.
    If every source has a say about something, nothing is held back.
    """

    def __init__(self, pool: Iterable[SourcedItem], most: int, *, total: int = 1, has_ways: bool = False) -> None:
        """`pool`: which sources know which topic. `total`: how many sources there are, if the pool lacks some.

        `has_ways`: the pool has the items themselves, so that unusual items of a common topic are known.
        """
        self._most = most
        by_topic: dict[str, set[str]] = {}
        self._size: dict[str, int] = {}
        listed = [item for item in pool if item.sources]
        for item in listed:
            known = by_topic.setdefault(item.topic, set())
            known |= item.sources
            self._size[item.topic] = max(self._size.get(item.topic, 0), len(known), item.size)
        self._sources = max(1, total, len(set[str]().union(*by_topic.values())), *self._size.values())
        # By size: how many sources know any topic that at most `size` sources know.
        self._know_rare: dict[int, int] = {}
        heard: set[str] = set()
        for topic in sorted(by_topic, key=self._size.__getitem__):
            heard |= by_topic[topic]
            self._know_rare[self._size[topic]] = max(len(heard), self._size[topic])
        # The same for items: an unusual way to use a common tool is rare too.
        self._vouch_rarely: dict[int, int] = {}
        heard = set()
        for item in sorted(listed if has_ways else [], key=lambda one: one.size):
            heard |= item.sources
            self._vouch_rarely[item.size] = max(len(heard), item.size)
        self._taken: list[SourcedItem] = []
        self._of_topic: Counter[str] = Counter()

    def allows(self, item: SourcedItem) -> bool:
        """Whether it may be added to what was taken."""
        if not item.sources:
            return True  # imported, or written by a person: its sources are unknown
        size = self._size.get(item.topic, item.size)
        if self._of_topic[item.topic] >= self._limit(size):
            return False
        for rare, heard in self._know_rare.items():
            taken = sum(self._size.get(one.topic, 0) <= rare for one in self._taken) if size <= rare else 0
            if taken and taken >= self._limit(heard):
                return False
        for rare, heard in self._vouch_rarely.items():
            taken = sum(one.size <= rare for one in self._taken) if item.size <= rare else 0
            if taken and taken >= self._limit(heard):
                return False
        together = [one for one in self._taken if have_same_sources(one.sources, item.sources)]
        named = item.sources.union(*(one.sources for one in together))
        return len(together) < self._limit(max(len(named), item.size, *(one.size for one in together)))

    def take(self, item: SourcedItem) -> None:
        """Count it as taken."""
        if item.sources:
            self._taken.append(item)
            self._of_topic[item.topic] += 1

    def _limit(self, sources: int) -> int:
        """Their share of the block, rounded up."""
        return -(-self._most * sources // self._sources)


def have_same_sources(some: frozenset[str], others: frozenset[str]) -> bool:
    return len(some & others) > _OVERLAP * min(len(some), len(others))
