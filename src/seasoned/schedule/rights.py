"""Which toolsets a scheduled run has: nobody is there to be asked, and nobody looks on."""

from __future__ import annotations

from collections.abc import Sequence

NEVER = ("schedule", "confirm", "messaging")
"""A run plans no further runs, sends nothing but its answer, and asks nobody."""
NOT_IN_THE_CLOUD = ("terminal", "code")
"""What acts on this machine is not for a model elsewhere to use, unless the job says so."""


def allowed_toolsets(
    wanted: Sequence[str], *, is_cloud: bool, allow_terminal: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that the run gets, and those that are left out."""
    off = {*NEVER, *(NOT_IN_THE_CLOUD if is_cloud and not allow_terminal else ())}
    return tuple(one for one in wanted if one not in off), tuple(one for one in wanted if one in off)
