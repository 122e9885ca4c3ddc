"""What a session can be told: lines of a sheet, and hints at a call."""

from __future__ import annotations

from typing import Literal

import msgspec

from seasoned.command.written import Purpose
from seasoned.digest import short_digest

WayKind = Literal[
    "form", "folder", "option", "value", "variable", "before", "read", "argument", "path", "exact", "again", "other"
]
# Ways that tell nothing to another session.
EMPTY_WAYS: frozenset[str] = frozenset({"again", "other"})
MOST_COMMANDS = 5
_MARK = "digest:"
MOST_CORRECTIONS = 3


class Way(msgspec.Struct, frozen=True):
    """How a mistake was repaired, without what differs from case to case."""

    kind: WayKind
    value: str = ""

    @property
    def is_empty(self) -> bool:
        return self.kind in EMPTY_WAYS


# An edit that worked when every occurrence was replaced; each agent has its own name for that argument.
EVERYWHERE = Way("argument", "replace_all")


def kind_mark(kind: tuple[str, str, str]) -> tuple[str, str, str]:
    """A kind of failure with a digest in the place of its error: only equality matters, and a team shares no words."""
    tool, form, signature = kind
    return tool, form, signature if signature.startswith(_MARK) else f"{_MARK}{short_digest(signature, size=12)}"


class Line(msgspec.Struct, frozen=True):
    """One line of a project sheet."""

    form: str
    text: str
    purpose: Purpose
    share: float  # the estimated share of sessions that use it
    lineages: int
    last: float
    is_correction: bool = False  # sessions first get it wrong
    sessions: tuple[str, ...] = ()  # some that show it, newest first


class Hint(msgspec.Struct, frozen=True):
    """What worked where a call of this kind failed."""

    way: Way
    text: str  # the call that worked, or the path
    lineages: int
    last: float
    purpose: Purpose = "other"
    sessions: tuple[str, ...] = ()
