"""A place in a text that looks like a secret."""

from __future__ import annotations

from typing import NamedTuple


class Hit(NamedTuple):
    """The kind of a secret, and where it begins and ends."""

    kind: str
    start: int
    end: int
