"""Finds what was known before a compression and not used after: commands, paths, argument shapes, repaired mistakes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.translate import argument_names
from seasoned.insight.mistake.call_target import NO_PATH, CallTarget, target_of
from seasoned.insight.mistake.repair import repairs
from seasoned.insight.mistake.signature import signature
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex

State = Literal["made again", "failed after", "not used"]
Outcome = Literal["ok", "failed", "used"]
FEWEST_USES = 2  # once may have been luck
_ORDER: tuple[State, ...] = ("made again", "failed after", "not used")


class LostKnowledge(msgspec.Struct, frozen=True):
    """One thing that was known. `not used` may just mean that the work moved on."""

    what: str
    state: State
    before: int  # how often it worked before; for a mistake, how often it was made
    after: int  # how often it was used after; for a mistake, how often it was made
    failed_after: int


class Topic(msgspec.Struct, frozen=True):
    """How much of one kind was known before, and what of it was lost, most important first."""

    known: int
    lost: tuple[LostKnowledge, ...]

    def count(self, state: State) -> int:
        return sum(one.state == state for one in self.lost)


class Knowledge(msgspec.Struct, frozen=True):
    """What was known before and what of it was lost."""

    commands: Topic
    paths: Topic
    shapes: Topic
    mistakes: Topic  # repaired before; lost if they were made again


class _Uses(msgspec.Struct):
    """Uses of one thing on one side. A failed compound command says nothing about its parts."""

    ok: int = 0
    failed: int = 0
    all: int = 0

    def add(self, outcome: Outcome) -> None:
        self.all += 1
        self.ok += outcome == "ok"
        self.failed += outcome == "failed"

    def __iadd__(self, other: _Uses) -> _Uses:
        self.ok, self.failed, self.all = self.ok + other.ok, self.failed + other.failed, self.all + other.all
        return self


Find = Callable[[JudgedCall], Iterator[tuple[str, Outcome]]]
Lookup = Callable[[str], _Uses]


def lost_knowledge(before: Sequence[JudgedCall], after: Sequence[JudgedCall]) -> Knowledge:
    """Compare both sides. Known: worked at least twice and mostly. Lost: unused, or failed half of the time or more."""
    return Knowledge(
        commands=_topic(before, after, _commands, _by_name),
        paths=_topic(before, after, _paths, _by_path),
        shapes=_topic(before, after, _shapes, _by_name),
        mistakes=_mistakes(before, after),
    )


def _topic(
    before: Sequence[JudgedCall],
    after: Sequence[JudgedCall],
    find: Find,
    by: Callable[[Mapping[str, _Uses]], Lookup],
) -> Topic:
    then, uses_of = _tally(before, find), by(_tally(after, find))
    known = {what: uses for what, uses in then.items() if uses.ok >= FEWEST_USES and uses.ok > uses.failed}
    lost = []
    for what, uses in known.items():
        here = uses_of(what)
        if not here.all:
            lost.append(LostKnowledge(what, "not used", uses.ok, 0, 0))
        elif here.failed and here.failed >= here.ok:
            lost.append(LostKnowledge(what, "failed after", uses.ok, here.all, here.failed))
    return Topic(len(known), _most_telling_first(lost))


def _tally(calls: Sequence[JudgedCall], find: Find) -> dict[str, _Uses]:
    uses: dict[str, _Uses] = {}
    for call in calls:
        if call.is_counted:
            # A command that names a file five times has used it once.
            for what, outcome in dict(find(call)).items():
                uses.setdefault(what, _Uses()).add(outcome)
    return uses


def _most_telling_first(lost: Sequence[LostKnowledge]) -> tuple[LostKnowledge, ...]:
    return tuple(sorted(lost, key=lambda one: (_ORDER.index(one.state), -one.failed_after, -one.before, one.what)))


def _by_name(now: Mapping[str, _Uses]) -> Lookup:
    return lambda what: now.get(what) or _Uses()


def _mistakes(before: Sequence[JudgedCall], after: Sequence[JudgedCall]) -> Topic:
    """Failures that were repaired before and happen again after, without those of the environment or of checks."""
    repaired = {signature(before[one.failed]) for one in repairs(before) if _is_mistake(before[one.failed])}
    then, now = (Counter([signature(call) for call in calls if _is_mistake(call)]) for calls in (before, after))
    lost = [LostKnowledge(what, "made again", then[what], now[what], now[what]) for what in repaired if now[what]]
    return Topic(len(repaired), _most_telling_first(lost))


def _is_mistake(call: JudgedCall) -> bool:
    return call.has_failed and call.fault != "environment" and not _only_finds(target_of(call))


_WRONG_USE = LazyRegex(
    r"command not found|unknown|unrecogni[sz]ed|no rule to make|usage:|invalid option|missing script|no such option"
    r"|missing (?:(?:required )?(?:option|flag|argument)s?:? )?['\"`]?-{1,2}[a-z]|required\b[^\n]{0,40}\s['\"`]?--[a-z]"
    r"|--[a-z][\w-]*['\"`]? (?:is|are) (?:required|missing)",
    re.IGNORECASE,
)


def _commands(call: JudgedCall) -> Iterator[tuple[str, Outcome]]:
    """Program and subcommand of what a shell call was about."""
    if call.command is None:
        return
    target = target_of(call)
    guilty = {run.label for run in target.blamed} if call.has_failed and not _only_finds(target) else set()
    for run in target.runs:
        outcome: Outcome = "used"
        if not call.has_failed:
            outcome = "ok" if run.decides else "used"
        # Several programs may have failed here; none of them is blamed without knowing which.
        elif guilty == {run.label}:
            outcome = "failed"
        yield run.label, outcome


def _only_finds(target: CallTarget) -> bool:
    """A check that reports a finding worked, unless it complains about its own usage."""
    checks = bool(target.runs) and all(run.is_check for run in target.blamed)
    return checks and not _WRONG_USE.compiled.search(target.complaint)


_READERS = names("cat head tail nl wc less more bat sed")
_PATH = LazyRegex(r"(?:~?/|\.{1,2}/)?(?:[\w.@+-]{1,80}/){0,20}[\w.@+-]{0,80}[\w+-]\.\w{1,8}\Z")


def _paths(call: JudgedCall) -> Iterator[tuple[str, Outcome]]:
    """Files that a call names, and those that a shell call only reads; failed if the path was wrong."""
    outcome: Outcome = "ok"
    if call.has_failed:
        complaint = f"{call.reason} {(call.result or '')[:600]}"
        outcome = "failed" if NO_PATH.compiled.search(complaint) else "used"
    command = call.command
    if command is None:
        for name, value in call.arguments.items():
            if name in argument_names("path") and isinstance(value, str) and value:
                yield _tidy(value), outcome
        return
    steps = parse(command)
    if call.has_failed and len(steps) > 1:
        outcome = "used"
    for step in steps:
        if step.program in _READERS:
            yield from [(_tidy(word), outcome) for word in step.words if _PATH.compiled.match(word)]


def _tidy(path: str) -> str:
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/") or path


def _by_path(now: Mapping[str, _Uses]) -> Lookup:
    """Join uses of one file under different paths: `src/a.py` and `/home/x/src/a.py`."""
    by_end: dict[str, list[str]] = {}
    for path in now:
        by_end.setdefault(path.rpartition("/")[2], []).append(path)

    def look_up(what: str) -> _Uses:
        uses = _Uses()
        for path in by_end.get(what.rpartition("/")[2], ()):
            if path == what or path.endswith(f"/{what}") or what.endswith(f"/{path}"):
                uses += now[path]
        return uses

    return look_up


def _shapes(call: JudgedCall) -> Iterator[tuple[str, Outcome]]:
    """A tool with the names of its arguments."""
    yield f"{call.tool}({', '.join(sorted(call.arguments))})", "failed" if call.has_failed else "ok"
