"""Taking back one change of a text that was changed again since, where the two do not touch the same lines."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

_Edit = tuple[int, int, list[bytes]]
"""Lines from, lines to, and what stands there instead."""


def take_back(*, before: bytes, after: bytes, present: bytes) -> bytes | None:
    """What is present without the step from `before` to `after`; None where both changed the same place."""
    base = after.splitlines(keepends=True)
    edits = sorted(
        [*_edits(base, before.splitlines(keepends=True)), *_edits(base, present.splitlines(keepends=True))],
        key=lambda one: (one[0], one[1]),
    )
    made: list[bytes] = []
    place = 0
    last: _Edit | None = None
    for edit in edits:
        start, end, lines = edit
        if edit == last:
            continue  # somebody took it out by hand
        if start < place or (last is not None and start == last[0] and end == last[1]):
            return None
        made += [*base[place:start], *lines]
        place, last = end, edit
    return b"".join([*made, *base[place:]])


def _edits(old: list[bytes], new: list[bytes]) -> Iterator[_Edit]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            yield start, end, new[new_start:new_end]
