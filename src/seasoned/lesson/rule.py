"""Rules of the person: what people said in their sessions about how to work here, and what of it a new session sees.

The scan keeps the sentences, see `scan/spoken_rule.py`. Said in two lineages, or found to be a rule by a review, it is
shown at once; otherwise a person accepts it first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any, Literal

import msgspec

from seasoned.admission import is_harmless
from seasoned.errors import NotFound, UsageError
from seasoned.lazy_regex import LazyRegex
from seasoned.store import Store
from seasoned.store.interface import DatabaseRow

State = Literal["candidate", "shown", "accepted", "dropped"]
_MOST_TOLD = 3
_LINEAGES = 2
# What `lasts` is where a review found that a person meant it to last.
REVIEWED = 2
_DECIDED: dict[str, State] = {"accept": "accepted", "drop": "dropped"}
# "Never commit without asking me" protects; "commit without asking me" does not.
_FORBIDS = LazyRegex(
    r"(?i)(?:\b(?:we|you|i)\b(?: \w+)? )?\b(?:never|do not|don['’]?t|avoid|stop|no)\b"
    r"(?! (?:forget|hesitate|worry|fail|omit|miss|mind|bother|be afraid)\b)"
)
_UNASKED = LazyRegex(
    r"(?i)\bwithout (?:\w+ )?(?:asking|confirm\w*|approval|permission|review|checking with|telling)"
    r"(?: (?:me|us|first))*"
)
_ASKS_LESS = LazyRegex(
    r"(?i)\b(?:never|don['’]?t|do not|stop|no|without)\b(?: \S+){0,4}? (?:ask|confirm|approv|permission|consent|prompt"
    r"|question|check(?:ing)? with|request|review|sandbox|(?:git|commit|push)[ -]hook)"
)
_WEAKENS = LazyRegex(
    r"""(?ix)\b(?:skip|bypass|disabl\w+|turn\ off|ignor\w+|suppress|overrid\w+)\b
    | \b(?:always|auto\w*)[\ -](?:approve|accept|allow|confirm|trust|say\ yes|merge|force)\w* | \bapprove\ (?:all|every)
    | \b(?:answer|say)\ yes\b | \bassume\ (?:i|my|you\ (?:have|may))\b
    | --(?:dangerously|no-|force|yolo|allow-all|privileged|insecure|full-auto) | \b(?:yolo|full[\ -]auto)\b
    | \b(?:force[\ -]push|sudo|rm\ -rf?|chmod\ 777|as\ root|(?:push|commit)\w*\ (?:\w+\ )?(?:to\ )?(?:main|master))\b
    | \b(?:deploy\w*|production|prod)\b | \b(?:secrets?|passwords?|credentials?|tokens?|private\ keys?)\b"""
)
_EXCEPT = LazyRegex(r"(?i)\b(?:without|unless)\b")


class ProjectRule(msgspec.Struct, frozen=True):
    """A rule, in the newest words in which a person said it."""

    key: str
    text: str
    project: str
    lineages: int
    sessions: int
    last: float
    state: State


def rules_of(store: Store, project: str) -> tuple[ProjectRule, ...]:
    """The rules of a project, most said and newest first; without texts that hide something or inject an order."""
    decided = {row["key"]: row for row in store.rows("rule.decided", {"project": project})}
    rows = sorted(store.rows("rule.of_project", {"project": project}), key=lambda row: str(row["key"]))
    groups: list[list[DatabaseRow]] = [list(said) for _, said in groupby(rows, key=lambda row: row["key"])]
    found = [rule for said in groups if (rule := _rule(project, said, decided)) is not None and _is_plain(rule.text)]
    return tuple(sorted(found, key=lambda one: (-one.lineages, -one.last)))


def _rule(project: str, said: list[DatabaseRow], decided: Mapping[str, Any]) -> ProjectRule | None:
    # A copy of a session has its times: what was said at the same moment was said once.
    lineages = len(set({row["said_at"]: row["root"] for row in said}.values()))
    newest, lasts = said[-1], any(row["lasts"] for row in said)
    if lineages < _LINEAGES and not lasts:
        return None
    # "Don't change any code" is often repeated, and yet each time about a task: there a person decides.
    is_reviewed = any(row["lasts"] == REVIEWED for row in said)
    is_clear = ((lineages >= _LINEAGES and lasts) or is_reviewed) and not weakens(newest["text"])
    choice = decided.get(newest["key"])
    state: State = "shown" if is_clear else "candidate"
    state = state if choice is None else _DECIDED[choice["choice"]]
    # A person may have accepted it in other words.
    text = newest["text"] if choice is None else choice["text"] or newest["text"]
    return ProjectRule(newest["key"], text, project, lineages, len(said), newest["at"], state)


def told_rules(rules: Iterable[ProjectRule], *, says: Callable[[str], bool]) -> tuple[ProjectRule, ...]:
    """What a new session sees: at most three, without those that the project's instructions say already."""
    open_ones = [one for one in rules if one.state in ("shown", "accepted")]
    told: list[ProjectRule] = []
    for rule in sorted(open_ones, key=lambda one: (-one.lineages, -one.last)):
        if len(told) == _MOST_TOLD:
            break
        if not says(rule.text):
            told.append(rule)
    return tuple(told)


def decide_rule(store: Store, project: str, key: str, choice: str, *, now: float, text: str = "") -> ProjectRule:
    """Accept a rule, in other words if any are given, drop it, or undo that; returns the rule as it is then."""
    if choice not in ("accept", "drop", "undo"):
        raise UsageError(f"A rule is accepted, dropped or undone, not {choice!r}.")
    if not any(one.key == key for one in rules_of(store, project)):
        raise NotFound(f"{project!r} has no rule {key!r}. `seasoned lessons` lists the rules.")
    with store.write():
        if choice == "undo":
            if not store.run("rule.undo", {"project": project, "key": key}):
                raise NotFound(f"Nothing was decided about the rule {key!r}. `seasoned lessons` shows what was.")
        else:
            store.run("rule.decide", {"project": project, "key": key, "choice": choice, "text": text, "at": now})
    return next(one for one in rules_of(store, project) if one.key == key)


def _is_plain(text: str) -> bool:
    return is_harmless(_UNASKED.compiled.sub("", text))


def weakens(text: str) -> bool:
    """Whether a rule may make sessions less careful: a person has to accept it, however often it was said."""
    rest = _UNASKED.compiled.sub("", text)
    if _ASKS_LESS.compiled.search(rest):
        return True
    if _FORBIDS.compiled.match(text) and not _EXCEPT.compiled.search(rest):
        return False  # what a rule forbids may be named
    return rest != text or _WEAKENS.compiled.search(rest) is not None
