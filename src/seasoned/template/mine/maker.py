"""Who makes which form of call, of all sessions of a project and not only of those that are learned from.

Ten planted sessions can be a third of the thirty that a template is made of, but not of two hundred. A form that few
sources make may be a new convention, an unusual task or a planted call, and nothing tells which. So it is shown, and
what the same few sources make shares one place of a block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from seasoned.digest import blake2b, short_digest
from seasoned.insight.mistake.call_target import CallTarget
from seasoned.store import Store
from seasoned.template.mine.merge import ExampleCandidate, pattern_of_target
from seasoned.template.mine.selection import MinableSession, is_minable, source_of
from seasoned.template.witness import rest_on_same

# Of a project with fewer sources nothing can be said to be unusual.
_FEWEST_SOURCES = 20
# Few are at most this share of the sources of a project,
_FEW = 0.1
# or all that began within this time, if the project is several times as old: a planted series is one source.
_SERIES_SECONDS = 86_400.0
_SERIES_OF_ALL = 0.2
# Of more sessions the newest count.
_MOST_SESSIONS = 3000
_SIZE = 8
# What the sources of a scope make that few of them make, if these are few together.
_TOGETHER = "few"


def forms_of(targets: Iterable[CallTarget]) -> bytes:
    """The forms of calls as the store keeps them: sorted digests, each once."""
    patterns = {pattern_of_target(one) for one in targets if is_minable(one.tool)}
    return b"".join(sorted({_form(one) for one in patterns}))


def _form(pattern: str) -> bytes:
    return blake2b(pattern.encode("utf-8", "replace"), digest_size=_SIZE).digest()


class FormSession(NamedTuple):
    """A session by what it takes to count who makes which form."""

    root: str
    begun: float  # 0 if unknown
    forms: bytes


def form_sessions(store: Store, chosen: Sequence[MinableSession]) -> dict[str, list[FormSession]]:
    """By scope of the sessions that are learned from, all sessions of that scope."""
    found: dict[str, list[FormSession]] = {}
    for project in {one.project for one in chosen}:
        for row in store.rows("mining.forms", {"project": project, "limit": _MOST_SESSIONS}):
            scope = project or source_of(row["agent"], row["path"])
            found.setdefault(scope, []).append(FormSession(row["root"], row["begun"], row["forms"]))
    return found


class _Scope:
    """The sources of one project, and which of its forms few of them make."""

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
        """For patterns that few sources make, a name of those; whether each is of a shell is given."""
        makers: dict[str, set[str]] = {pattern: set() for pattern in patterns}
        by_form = {_form(pattern): makers[pattern] for pattern in patterns}
        for one in self._sessions:
            for at in range(0, len(one.forms), _SIZE):
                known = by_form.get(one.forms[at : at + _SIZE])
                if known is not None:
                    known.add(one.root)
        rare = {pattern: frozenset(who) for pattern, who in makers.items() if who and self._are_few(who)}
        found: dict[str, str] = {}
        # Every session runs commands that no other runs, but hardly any calls a named tool in another way.
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
        # Of logs without times it is not known when they began.
        took = max(begun) - min(begun) if all(begun) else self._age
        return took <= _SERIES_SECONDS and took < _SERIES_OF_ALL * self._age


def _circles(rare: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Patterns that rest on mostly the same sources have one name."""
    found: dict[str, str] = {}
    circles: dict[str, frozenset[str]] = {}
    of_source: dict[str, list[str]] = {}
    for pattern, who in sorted(rare.items(), key=lambda one: (-len(one[1]), one[0])):
        near = (name for one in sorted(who) for name in of_source.get(one, ()))
        name = next((name for name in near if rest_on_same(who, circles[name])), "")
        if not name:
            name = short_digest(pattern)
            circles[name] = who
            for one in who:
                of_source.setdefault(one, []).append(name)
        found[pattern] = name
    return found


def circles_of(candidates: Iterable[ExampleCandidate], sessions: Mapping[str, Sequence[FormSession]]) -> dict[str, str]:
    """For each pattern that few sources make wherever it is made and enough is known, a name of those sources."""
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
