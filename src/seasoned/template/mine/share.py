"""How much of a template each source may supply, and which forms of calls only few sources of a project use.

Ten planted sessions can be a third of the thirty that a template is made of, but not of the two hundred of a project.
So forms are counted over all sessions of a project. A form that few sources use may be a new convention, an unusual
task or a planted call; no rule can tell which. It is shown, but all that the same few sources do shares one place of a
block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from seasoned.digest import blake2b, short_digest
from seasoned.insight.mistake.call_target import CallTarget
from seasoned.store import Store
from seasoned.template.call_form import pattern_of_target
from seasoned.template.mine.candidate import CandidateGroup, ExampleCandidate, best_first
from seasoned.template.mine.selection import MinableSession, MiningOptions, is_minable, source_of
from seasoned.template.source_share import SourcedItem, SourceShare, have_same_sources

# In a project with fewer sources nothing counts as unusual.
_FEWEST_SOURCES = 20
# Sources are few if they are at most this share of a project's sources,
_FEW = 0.1
# or if all of them began within this time and the project is much older: planted sessions come in a series.
_SERIES_SECONDS = 86_400.0
_SERIES_OF_ALL = 0.2
# Only the newest sessions count if there are more.
_MOST_SESSIONS = 3000
_SIZE = 8
# The name for all rare forms of a scope, if the sources behind them are few even together.
_TOGETHER = "few"


def forms_of(targets: Iterable[CallTarget]) -> bytes:
    """The forms of calls as the store keeps them: sorted digests without repeats."""
    patterns = {pattern_of_target(one) for one in targets if is_minable(one.tool)}
    return b"".join(sorted({_form(one) for one in patterns}))


def _form(pattern: str) -> bytes:
    return blake2b(pattern.encode("utf-8", "replace"), digest_size=_SIZE).digest()


class FormSession(NamedTuple):
    """What counting forms needs to know about a session."""

    root: str
    begun: float  # 0 if unknown
    forms: bytes


def form_sessions(store: Store, chosen: Sequence[MinableSession]) -> dict[str, list[FormSession]]:
    """All sessions of each scope that one of the chosen sessions belongs to."""
    found: dict[str, list[FormSession]] = {}
    for project in {one.project for one in chosen}:
        for row in store.rows("mining.forms", {"project": project, "limit": _MOST_SESSIONS}):
            scope = project or source_of(row["agent"], row["path"])
            found.setdefault(scope, []).append(FormSession(row["root"], row["begun"], row["forms"]))
    return found


class _Scope:
    """The sources of one project, and which of its forms only few of them use."""

    def __init__(self, sessions: Sequence[FormSession]) -> None:
        self._sessions = sessions
        self._begun: dict[str, float] = {}
        for one in sessions:
            self._begun[one.root] = min(one.begun, self._begun.get(one.root, one.begun))
        times = [begun for begun in self._begun.values() if begun]
        self._age = max(times, default=0.0) - min(times, default=0.0)

    @property
    def is_known(self) -> bool:
        return len(self._begun) >= _FEWEST_SOURCES

    def circles(self, patterns: Mapping[str, bool]) -> dict[str, str]:
        """For each pattern that few sources use, a name for those sources; `patterns` says which run in a shell."""
        makers: dict[str, set[str]] = {pattern: set() for pattern in patterns}
        by_form = {_form(pattern): makers[pattern] for pattern in patterns}
        for one in self._sessions:
            for at in range(0, len(one.forms), _SIZE):
                known = by_form.get(one.forms[at : at + _SIZE])
                if known is not None:
                    known.add(one.root)
        rare = {pattern: frozenset(who) for pattern, who in makers.items() if who and self._are_few(who)}
        found: dict[str, str] = {}
        # Every session runs commands that no other runs, but hardly any calls a named tool in its own way.
        for is_shell in (False, True):
            some = {pattern: who for pattern, who in rare.items() if patterns[pattern] == is_shell}
            if self._are_few(frozenset[str]().union(*some.values())):
                found |= dict.fromkeys(some, _TOGETHER)
            else:
                found |= _circles(some)
        return found

    def _are_few(self, sources: Collection[str]) -> bool:
        begun = [self._begun[one] for one in sources]
        if len(begun) <= _FEW * len(self._begun):
            return True
        # Logs without times do not say when they began.
        took = max(begun) - min(begun) if all(begun) else self._age
        return took <= _SERIES_SECONDS and took < _SERIES_OF_ALL * self._age


def _circles(rare: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Patterns that mostly the same sources use get one name."""
    found: dict[str, str] = {}
    circles: dict[str, frozenset[str]] = {}
    of_source: dict[str, list[str]] = {}
    for pattern, who in sorted(rare.items(), key=lambda one: (-len(one[1]), one[0])):
        near = (name for one in sorted(who) for name in of_source.get(one, ()))
        name = next((name for name in near if have_same_sources(who, circles[name])), "")
        if not name:
            name = short_digest(pattern)
            circles[name] = who
            for one in who:
                of_source.setdefault(one, []).append(name)
        found[pattern] = name
    return found


def circles_of(candidates: Iterable[ExampleCandidate], sessions: Mapping[str, Sequence[FormSession]]) -> dict[str, str]:
    """For each pattern that only few sources use in every scope with enough sources, a name for those sources."""
    by_scope: dict[str, dict[str, bool]] = {}
    for one in candidates:
        by_scope.setdefault(one.scope, {})[one.pattern] = one.command is not None
    found: dict[str, str] = {}
    usual: set[str] = set()
    for scope, patterns in by_scope.items():
        known = _Scope(sessions.get(scope, ()))
        if known.is_known:
            circles = known.circles(patterns)
            usual.update(pattern for pattern in patterns if pattern not in circles)
            found |= circles
    return {pattern: name for pattern, name in found.items() if pattern not in usual}


# Every lineage may supply this many examples, however small the template is.
FEWEST = 2


class ShareLimits:
    """Counts how many examples each lineage and each folder of histories has supplied, and limits them."""

    def __init__(
        self,
        options: MiningOptions,
        sources: int,
        of_lineage: int | None = None,
        *,
        steps: Mapping[tuple[str, str], SourcedItem] | None = None,
        kept: Mapping[str, int] | None = None,
        others: Mapping[str, float] | None = None,
        circles: Mapping[str, str] | None = None,
        replaced: Collection[tuple[str, str]] = (),
    ) -> None:
        """`steps`: the sources that know each step of a scope; they share the `kept` examples of that scope.

        `circles`: patterns that few sources use, with a name for them; together they get the share of one lineage.
        `replaced`: scopes and steps for which no common way works any more, so that a rare one replaces it.
        """
        most = max(FEWEST, int(options.max_share * options.max_examples))
        self.of_lineage = most if of_lineage is None else of_lineage
        # A single folder may supply everything.
        share = options.max_source_share if sources > 1 else 1.0
        self.of_source = max(1, int(share * options.max_examples))
        self._lineages: Counter[str] = Counter()
        self._sources: Counter[str] = Counter()
        self._circles = circles or {}
        self._of_circle: Counter[str] = Counter()
        self._replaced = set(replaced)
        self._steps = steps or {}
        self._shares = {
            scope: _share(
                [one for key, one in self._steps.items() if key[0] == scope], number, (others or {}).get(scope)
            )
            for scope, number in (kept or {}).items()
        }
        self.by_scope: Counter[str] = Counter()

    @property
    def most(self) -> int:
        """How many examples the largest supplier among lineages and circles has supplied."""
        return max(*self._lineages.values(), *self._of_circle.values(), 0, 0)

    def has_room(self, candidate: ExampleCandidate, exempt: str | None = None) -> bool:
        """Whether its folder and its lineage may supply one more; the lineage `exempt` always may."""
        if self._sources[candidate.source] >= self.of_source:
            return False
        share = self._shares.get(candidate.scope)
        if share is not None and not share.allows(self._steps[candidate.scope, candidate.step]):
            return False
        circle = self._circles.get(candidate.pattern, "")
        if self._of_circle[circle] >= self.of_lineage and (candidate.scope, candidate.step) not in self._replaced:
            return False
        root = candidate.track.root
        return root == exempt or self._lineages[root] < self.of_lineage

    def least_supplied(self, one: CandidateGroup) -> str | None:
        """Of several lineages behind a group, the one that supplied least, if all have used up their share.

        Right after a convention changed, few lineages know the new one, and no tool should go without it.
        """
        roots = {candidate.track.root for candidate in one.candidates if not candidate.is_doubtful}
        if len(roots) < 2 or any(self._lineages[root] < self.of_lineage for root in roots):
            return None
        return min(roots, key=lambda root: (self._lineages[root], root))

    def take(self, candidate: ExampleCandidate) -> None:
        self._lineages[candidate.track.root] += 1
        self._sources[candidate.source] += 1
        self.by_scope[candidate.scope] += 1
        circle = self._circles.get(candidate.pattern)
        if circle is not None and (candidate.scope, candidate.step) in self._replaced:
            self._replaced.remove((candidate.scope, candidate.step))
        elif circle is not None:
            self._of_circle[circle] += 1
        if (share := self._shares.get(candidate.scope)) is not None:
            share.take(self._steps[candidate.scope, candidate.step])

    def ordered(self, one: CandidateGroup) -> Iterator[ExampleCandidate]:
        """The candidates of a group, the best first."""
        return best_first(one.kind, one.candidates, self._lineages, one.common)


def _share(steps: Sequence[SourcedItem], kept: int, times: float | None) -> SourceShare:
    """The shares in one scope, which has `times` as many lineages as know these steps."""
    lineages = len(frozenset[str]().union(*(one.sources for one in steps)))
    return SourceShare(steps, kept, total=round(lineages * (times or 1.0)))


def sourced_steps(candidates: Iterable[ExampleCandidate]) -> dict[tuple[str, str], SourcedItem]:
    """The lineages that know each step, by scope and step."""
    roots: dict[tuple[str, str], set[str]] = {}
    for candidate in candidates:
        roots.setdefault((candidate.scope, candidate.step), set()).add(candidate.track.root)
    return {key: SourcedItem(key[1], frozenset(known)) for key, known in roots.items()}


def fair_share(options: MiningOptions, lineages: int, kept: int) -> int:
    """How many of the kept examples one lineage may supply; if there are few lineages, an equal part each."""
    share = max(options.max_share, 1 / max(1, lineages))
    return max(FEWEST, int(share * kept + 1e-9))
