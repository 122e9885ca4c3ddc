"""A stretch of text that holds a secret."""

from __future__ import annotations

from typing import NamedTuple


class Hit(NamedTuple):
    """What kind of secret it looks like, and where it stands."""

    kind: str
    start: int
    end: int
