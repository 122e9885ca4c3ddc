"""Wording rules: how a text is searched for the words by which tools say that something failed or worked.

The rules are in `programs.py` and `tools.py`, their examples in `tests/outcome/rule_examples.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

import msgspec

from seasoned.lazy_regex import LazyRegex, lazy_property
from seasoned.outcome.verdict import Fault, Outcome, Verdict

# Where the words must stand: the very start; among the first or last lines; among the last lines; in the unbroken
# end; on a line of their own near either end of a text; the whole of a short text; or in a text of a few lines.
Where = Literal["start", "edge", "end", "tail", "line", "whole", "short"]

# How far from either end words may stand to count, in lines and characters.
# Few lines at the start: a program that fails at once says so there, and further down is content.
# More at the end, because summaries and hints follow the line that tells.
_FIRST_LINES = 4
_LAST_LINES = 10
_WINDOW = 6000
# A tool that answers with a complaint and nothing else is short; a longer text is content that mentions one.
_WHOLE = 600
# A program that refuses says so in a line or two, perhaps with a hint what to do.
_SHORT_LINES = 6
_ESCAPES = LazyRegex(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class WordingRule(msgspec.Struct, frozen=True):
    """One way in which tools say that something failed or worked."""

    name: str
    where: Where
    pattern: str
    reason: str
    verdict: Outcome = "failed"
    fault: Fault = "call"
    needle: str | tuple[str, ...] = ""
    """Text of which at least one piece must be there before the pattern is tried. Only for speed."""

    def says(self) -> Verdict:
        """The verdict of this rule."""
        return Verdict(self.verdict, "wording", self.fault, self.reason)


class OutputText:
    """What a tool said, cut into the places where rules look, each made when it is first needed."""

    def __init__(self, text: str) -> None:
        if "\x1b" in text:
            # Colours stand between the words of a summary. Only the ends are cleaned: no rule looks at the middle.
            text = _ESCAPES.compiled.sub("", text[:_WINDOW] + text[-_WINDOW:] if len(text) > 2 * _WINDOW else text)
        self.text = text

    @lazy_property
    def start(self) -> str:
        return self.text[:_WINDOW].lstrip()

    @lazy_property
    def line(self) -> str:
        """The text, or its beginning and end where it is long."""
        if len(self.text) <= 2 * _WINDOW:
            return self.text
        return self.text[:_WINDOW] + "\n" + self.text[-_WINDOW:]

    @lazy_property
    def end(self) -> str:
        return "\n".join(_filled(self.text[-_WINDOW:])[-_LAST_LINES:])

    @lazy_property
    def tail(self) -> str:
        return self.text[-_WINDOW:].rstrip()

    @lazy_property
    def first_lines(self) -> str:
        return "\n".join(_filled(self.text[:_WINDOW])[:_FIRST_LINES])

    @lazy_property
    def edge(self) -> str:
        return self.first_lines + "\n" + self.end

    @lazy_property
    def whole(self) -> str:
        return self.text.strip() if len(self.text) <= _WHOLE else ""

    @lazy_property
    def short(self) -> str:
        return self.whole if len(_filled(self.whole)) <= _SHORT_LINES else ""


def _filled(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first used: most runs never need most rules."""
    return re.compile(pattern, re.MULTILINE)


class WordingRules:
    """Rules in the order in which they are asked."""

    def __init__(self, *rules: WordingRule) -> None:
        self.rules = rules
        self._others = tuple([rule for rule in rules if rule.where != "start"])

    def __iter__(self) -> Iterator[WordingRule]:
        return iter(self.rules)

    @lazy_property
    def _starts(self) -> re.Pattern[str] | None:
        """One pattern for all rules about the start of a text."""
        starts = [rule.pattern for rule in self.rules if rule.where == "start"]
        return _compiled("|".join([f"(?:{start})" for start in starts])) if starts else None

    def worth_asking(self, speech: OutputText) -> tuple[WordingRule, ...]:
        """Nearly every text fails every rule: one look tells it for all rules about its start."""
        starts = self._starts
        return self._others if starts is None or starts.match(speech.start) is None else self.rules


def _has_needle(needle: str | tuple[str, ...], text: str) -> bool:
    if isinstance(needle, str):
        return needle in text
    # A plain loop: this is asked more often than anything else about a text.
    for piece in needle:  # noqa: SIM110
        if piece in text:
            return True
    return False


def find(rule: WordingRule, speech: OutputText) -> re.Match[str] | None:
    """The place where a rule's words stand, None when they do not."""
    # The pieces are tested first because `in` is many times cheaper than cutting out lines and searching them.
    if rule.needle and not _has_needle(rule.needle, speech.line):
        return None
    text = getattr(speech, rule.where)
    pattern = _compiled(rule.pattern)
    if rule.where == "start":
        return pattern.match(text)
    return pattern.fullmatch(text) if rule.where == "whole" else pattern.search(text)


def find_all(rule: WordingRule, speech: OutputText) -> Iterator[re.Match[str]]:
    """Every place where a rule's words stand."""
    if not rule.needle or _has_needle(rule.needle, speech.line):
        yield from _compiled(rule.pattern).finditer(getattr(speech, rule.where))


def first(rules: WordingRules, speech: OutputText) -> WordingRule | None:
    """The first rule whose words were said."""
    for rule in rules.worth_asking(speech):
        if find(rule, speech) is not None:
            return rule
    return None
