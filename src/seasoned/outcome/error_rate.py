"""The error rate: one function, so that every part counts alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from seasoned.command.tool import is_trivial
from seasoned.lazy_regex import LazyRegex
from seasoned.outcome.verdict import Verdict
from seasoned.session import ToolCall


class Include(msgspec.Struct, frozen=True):
    """What is counted although it is left out by default. A rate is shown with the switches that were on."""

    trivial: bool = False
    synthetic: bool = False
    declined: bool = False
    cancelled: bool = False
    interrupted: bool = False

    def names(self) -> tuple[str, ...]:
        """The switches that are on, in words for an output."""
        return tuple(name for name in self.__struct_fields__ if getattr(self, name))


NOTHING_MORE = Include()


class Counts(msgspec.Struct, frozen=True):
    """Calls by outcome. The first two make the rate; the others were left out and are reported beside it."""

    ok: int = 0
    failed: int = 0
    unclear: int = 0
    declined: int = 0
    cancelled: int = 0
    interrupted: int = 0
    trivial: int = 0
    synthetic: int = 0

    @property
    def counted(self) -> int:
        return self.ok + self.failed

    @property
    def total(self) -> int:
        return sum(getattr(self, name) for name in self.__struct_fields__)

    @property
    def error_rate(self) -> float | None:
        """failed / (ok + failed); None when there is nothing to count."""
        return self.failed / self.counted if self.counted else None

    def __add__(self, other: Counts) -> Counts:
        return Counts(*[getattr(self, name) + getattr(other, name) for name in self.__struct_fields__])


def count_name(call: ToolCall, verdict: Verdict, include: Include = NOTHING_MORE) -> str:
    """The name of the count that a call falls into."""
    return counts_as(call.tool, verdict.verdict, verdict.fault, include, synthetic=call.synthetic)


def counts_as(
    tool: str,
    verdict: str,
    fault: str,
    include: Include = NOTHING_MORE,
    *,
    synthetic: bool = False,
) -> str:
    """The name of the count, from the stored fields of a call."""
    # In this order: a call that a warm start made up is never also counted as declined or trivial.
    if synthetic and not include.synthetic:
        return "synthetic"
    if not include.trivial and is_trivial(tool):
        return "trivial"
    if fault == "user_declined" and not include.declined:
        return "declined"
    if fault == "sibling_cancelled" and not include.cancelled:
        return "cancelled"
    if fault == "interrupted" and not include.interrupted:
        return "interrupted"
    return verdict


def count(pairs: Iterable[tuple[ToolCall, Verdict]], *, include: Include = NOTHING_MORE) -> Counts:
    """Count judged calls by outcome; calls that are left out have counts too."""
    counts = dict.fromkeys(Counts.__struct_fields__, 0)
    for call, verdict in pairs:
        counts[count_name(call, verdict, include)] += 1
    return Counts(**counts)


# A correction comes first; what follows later in a message is as often about something new.
_LOOKED_AT = 160
_CORRECTS = LazyRegex(
    r"""\A[^\w#]*(?:(?:hm+|hey|ok(?:ay)?|sorry|wait|oh|ugh)\b[,.!\s…-]*)*(?:
        # A bare "no" as often answers a question of the agent.
        (?:no|nope|non|nein)\b[\s,.!-]+(?:(?!all\b|thank|everything)\S+\s+){0,6}?
          (?:not|wrong|meant|mean|instead|should|shouldn['’]?t|said|asked|isn['’]?t|wasn['’]?t|use|other|undo|revert)\b
      | wrong\b | incorrect\b | stop\b | undo\b | revert\b | roll\s+(?:it|this|that)\s+back
      | (?:that|this|it)(?:['’]?s|\s+is|\s+was)\s+(?:not\s+(?!a\s+problem)|wrong|incorrect|broken)
      | (?:that|this|it)\s+(?:isn|wasn|doesn|didn|does\s+no|did\s+no)['’]?t\b
      | (?:don['’]?t|do\s+not)\s+(?:do|use|change|touch|remove|delete|add|commit|push|edit|run|write|create|make)\b
      | why\s+(?:did|are|would|have)\s+you\b
      | not\s+(?:what|like|that|there|this|right)\b
      | i\s+(?:said|meant|asked|told\s+you|did\s*n['’]?t\s+(?:ask|mean|want|say)|did\s+not\s+(?:ask|mean|want|say))\b
      | (?:i\s+think\s+)?you\s+(?:broke|forgot|missed|misunderstood|should\s*n['’]?t|should\s+not|did\s*n['’]?t
          |did\s+not|were\s+(?:not\s+)?supposed|deleted|removed|ignored)\b
      | (?:the\s+)?(?:it|this|that|tests?|build|ci)\b[^.!?\n]{0,30}
          \b(?:still|now)\s+(?:fail|break|broken|crash|wrong|not)
      | still\s+(?:fail|broken|not|wrong|the\s+same)
      | falsch\b | faux\b | incorrecto\b | errado\b | 不对 | 不是 | 错了 | 違う | 違います
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def corrects(text: str) -> bool:
    """Whether a message of the user begins like a correction of what was just done."""
    return _CORRECTS.compiled.match(text[:_LOOKED_AT]) is not None
