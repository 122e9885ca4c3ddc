"""One call that worked, as a candidate for an example."""

from __future__ import annotations

from functools import cached_property

import msgspec

from seasoned.insight.mistake.call_target import CallTarget
from seasoned.insight.mistake.repair import Repair
from seasoned.insight.track import JudgedCall, Track
from seasoned.template.example import ExampleKind
from seasoned.template.mine.intent import stems, vagueness, words_before
from seasoned.template.mine.selection import is_escalated, is_whole
from seasoned.template.risk import is_risky_call


class ExampleCandidate(msgspec.Struct, frozen=True, dict=True):
    """One call that worked, in its session, with what makes it worth keeping; what takes long is found out if asked."""

    track: Track
    call: JudgedCall
    aim: CallTarget
    pattern: str
    step: str
    """Its step: the tool, or for a shell the program as well. Each step gets one example before any gets a second."""
    kinds: frozenset[ExampleKind]
    source: str
    max_argument_chars: int
    is_plain: bool = False
    """Whether anybody could have made it: a look around in a shell."""
    repair: Repair | None = None
    failed: JudgedCall | None = None
    is_rewritten: bool = False
    """Whether the repaired call is written otherwise than the failed one, and not merely about another thing."""

    @property
    def time(self) -> float | None:
        return self.call.time if self.call.time is not None else self.track.ended

    @property
    def command(self) -> str | None:
        """The shell command that it ran; None when it ran none."""
        return self.aim.command

    @cached_property
    def intent(self) -> str:
        """The words before it, as far as they can be shown."""
        return words_before(self.call)

    @cached_property
    def vagueness(self) -> int:
        """How little the words before it say about it: 0 names it, 3 is nothing."""
        return vagueness(self.intent, stems(self.step), self.call.raw_arguments)

    @cached_property
    def can_show(self) -> bool:
        """Whether it may stand for the others: whole, short, and nothing that a person should be asked about."""
        given = self.aim.arguments
        if len(self.call.raw_arguments) > self.max_argument_chars or not is_whole(self.call) or is_escalated(given):
            return False
        if self.command is not None and ("<<" in self.command or self.command.count("\n") > 3):
            return False
        return not is_risky_call(self.aim.tool, given)
