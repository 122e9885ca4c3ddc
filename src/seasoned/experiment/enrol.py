"""Enrolling: the arm of a conversation that begins now, and what it is shown. Every door asks here."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from seasoned.experiment.assign import HOLDOUT, Split, assign_logged, find_assignment, load_split
from seasoned.store import Database

_TEMPLATE = "template:"
_COLD = "cold"


class Enrolled(msgspec.Struct, frozen=True):
    """The arm of a conversation, and what that means for its beginning."""

    experiment: str
    arm: str
    template: str | None
    """A template's name, an empty text for the one that fits, None for nothing."""
    foregone: Mapping[str, str] = {}
    """By arm: what a conversation of the control would be shown there."""

    @property
    def is_warm(self) -> bool:
        return self.template is not None


def enrol(database: Database, experiment: str, session: str, *, now: float, begins: bool = True) -> Enrolled | None:
    """The arm that a conversation was first given; None for one that `begins` no more and has none.

    `session` is the root of its lineage. Reviews are never asked about.
    """
    split = load_split(database, experiment)
    if begins:
        found = assign_logged(database, split, session, now=now)
    else:
        # It began before the experiment did: whatever it was shown or not shown was not left to chance.
        found = find_assignment(database, experiment, session)
    if found is None:
        return None
    others = {one.arm: template for one in split.arms if (template := shown_by(split, one.arm)) is not None}
    is_compared = begins and found.arm == split.control
    return Enrolled(experiment, found.arm, shown_by(split, found.arm), others if is_compared else {})


def shown_by(split: Split, arm: str) -> str | None:
    """What an arm shows: a template's name, an empty text for the one that fits, None for nothing."""
    if arm in (HOLDOUT, split.control, _COLD) or arm.startswith(f"{_COLD}-"):
        return None
    return arm.removeprefix(_TEMPLATE) if arm.startswith(_TEMPLATE) else ""
