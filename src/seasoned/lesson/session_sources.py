"""Which sessions are independent of each other.

A source is a lineage: a session with its forks, continuations and sub-agents. Sessions with the same prompt and the
same calls are copies and count as one source, even if their ids differ.
"""

from __future__ import annotations

from collections.abc import Iterable

from seasoned.lazy_regex import LazyRegex

# Two sessions with the same prompt are one source if this share of their calls is the same.
_ALIKE = 0.8
# "Go on" and three common commands do not make a copy: the prompt must have this many words, or the session this many
# calls.
_FEWEST_WORDS = 12
_FEWEST_CALLS = 8
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
