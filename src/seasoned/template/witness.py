"""Who vouches for what a session is shown: which sources are independent, and how much of a block few of them get.

A source is a lineage: a session with its forks, continuations and sub-agents. Sessions with the same prompt and the
same calls are copies of each other and count as one source, whatever their ids. No rule can tell a planted session from
an unusual one. So what only few sources know gets no larger part of a block than these sources have of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex

# Two sessions with the same prompt are one source if this share of their calls is the same.
_ALIKE = 0.8
# "Go on" and three usual commands are not copies: the prompt must have so many words, or the sessions so many calls.
_FEWEST_WORDS = 12
_FEWEST_CALLS = 8
# Items rest on the same sources if more than this share of them is the same.
_OVERLAP = 0.5
_WORD = LazyRegex(r"[^\W\d_]+")


class Witnesses:
    """Names the source of each session; sessions that copy each other have one name."""

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


class Vouched(NamedTuple):
    """What an item is about (a tool, a command), and the sources that vouch for it."""

    topic: str
    sources: frozenset[str]
    support: int = 0  # how many sources there are, if only some of them are named

    @property
    def size(self) -> int:
        return max(len(self.sources), self.support)


class BlockShare:
    """Which items may stand in one block, by the sources behind them.

    Of a block with room for `most` items, sources that are a tenth of all get a tenth, rounded up: with one topic, with
    several topics that no other source knows, with several items that few sources vouch for, and with several items
    of the same sources. Where every source is heard about something, nothing is held back.
    """

    def __init__(self, pool: Iterable[Vouched], most: int, *, total: int = 1, has_ways: bool = False) -> None:
        """`pool`: which sources know which topic. `total`: how many sources there are, if the pool has not all.

        `has_ways`: the pool has the items themselves, so that unusual ones of a usual topic are known.
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
        # By size: how many sources know any of the topics that at most so many sources know.
        self._know_rare: dict[int, int] = {}
        heard: set[str] = set()
        for topic in sorted(by_topic, key=self._size.__getitem__):
            heard |= by_topic[topic]
            self._know_rare[self._size[topic]] = max(len(heard), self._size[topic])
        # The same for items: an unusual way to use what all use is rare too, though its topic is not.
        self._vouch_rarely: dict[int, int] = {}
        heard = set()
        for item in sorted(listed if has_ways else [], key=lambda one: one.size):
            heard |= item.sources
            self._vouch_rarely[item.size] = max(len(heard), item.size)
        self._taken: list[Vouched] = []
        self._of_topic: Counter[str] = Counter()

    def allows(self, item: Vouched) -> bool:
        """Whether it may be added to what was taken."""
        if not item.sources:
            return True  # An imported one, or one that a person wrote: nothing is known of its sources.
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
        together = [one for one in self._taken if rest_on_same(one.sources, item.sources)]
        named = item.sources.union(*(one.sources for one in together))
        return len(together) < self._limit(max(len(named), item.size, *(one.size for one in together)))

    def take(self, item: Vouched) -> None:
        """Count it as taken."""
        if item.sources:
            self._taken.append(item)
            self._of_topic[item.topic] += 1

    def _limit(self, sources: int) -> int:
        """Their part of the block, rounded up."""
        return -(-self._most * sources // self._sources)


def rest_on_same(some: frozenset[str], others: frozenset[str]) -> bool:
    return len(some & others) > _OVERLAP * min(len(some), len(others))
