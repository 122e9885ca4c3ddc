"""A piece of advice: one imperative sentence, what it rests on, and the one step that does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from seasoned.digest import short_digest

AdviceKind = Literal["mistake", "command", "tool", "slow", "instruction", "cost", "script", "connection"]
StepKind = Literal["instruction", "replace", "pin", "permission", "script", "connect", "manual"]
# What is shown at once: more would not be done.
MOST = 5
# A call counts at least this long when advice is ranked: with what the model thinks and writes.
_MINUTES_OF_A_CALL = 0.5


class AdviceStep(msgspec.Struct, frozen=True):
    """What does it: a line for an instruction file, a pinned command, a rule, a script, a connection."""

    kind: StepKind
    text: str  # the line, command, prefix, name or agent
    agent: str = ""  # whose files it changes
    instead: str = ""  # what it replaces, the name of the script that it makes, or the command to pin in its place
    file: str = ""  # the file in which something is replaced


class AdviceEvidence(msgspec.Struct, frozen=True):
    """What advice rests on. None is unknown."""

    sessions: int  # lineages in which it happened
    among: int  # lineages that were looked at
    calls: int  # calls that it cost
    minutes: float | None = None
    tokens: int | None = None
    last_seen: float | None = None
    refs: tuple[str, ...] = ()  # some of the sessions
    note: str = ""  # what else it rests on


class Advice(msgspec.Struct, frozen=True):
    """One thing that is worth doing."""

    id: str
    kind: AdviceKind
    project: str | None  # None: for all projects
    sentence: str
    evidence: AdviceEvidence
    step: AdviceStep
    subject: str  # what its happening is recognised by later
    # The lineages in which it happened, each with when it last did: for the comparison of before and after.
    happened: Mapping[str, float] = {}
    is_on_sheet: bool = False  # sessions of a connected agent see it at their start already

    @property
    def saves(self) -> float:
        """The minutes that it would have saved, for the order."""
        # Some agents record how long a program ran, and not how long the model then thought about it.
        least = (self.evidence.calls or self.evidence.sessions) * _MINUTES_OF_A_CALL
        return max(self.evidence.minutes or 0.0, least)


def make_advice(
    kind: AdviceKind,
    project: str | None,
    subject: str,
    sentence: str,
    evidence: AdviceEvidence,
    step: AdviceStep,
    happened: Mapping[str, float],
) -> Advice:
    """Advice with its id, which stays the same while the subject does."""
    name = short_digest(kind, project or "", subject)[:8]
    return Advice(name, kind, project, sentence, evidence, step, subject, happened)


def code(text: str) -> str:
    """A text from a session as quoted code on one line."""
    return "`" + "".join([c if c.isprintable() and c != "`" else " " for c in text]) + "`"
