"""What a rule found: one action, and why. Every part of the mapping gives these."""

from __future__ import annotations

import msgspec


class Finding(msgspec.Struct, frozen=True):
    """An action that something written needs; `why` continues a sentence that begins with "it"."""

    action: str
    why: str
    row: str
    """The row of the table, or the rule, that found it."""
