"""The templates that arms show, by digest.

Several machines may share an experiment. An arm that named its template by name alone would show something else on each
of them, or nothing. A machine without the template of some arm assigns no session to any arm: otherwise its sessions
would be missing in that arm only.
"""

from __future__ import annotations

import msgspec

from seasoned.errors import NotFound
from seasoned.experiment.live.assignment import TEMPLATE, Enrolled, Split, enrol, load_split
from seasoned.store import Database, Store
from seasoned.template.example import content_digest
from seasoned.template.library.storage import Library, cached_library


def enrol_here(
    database: Database, store: Store, experiment: str, session: str, *, now: float, begins: bool = True
) -> Enrolled | None:
    """The arm of a session, with the names that templates have on this machine.

    A new session is assigned only if every arm can be shown here; otherwise NotFound.
    """
    split = load_split(database, experiment)
    try:
        names = _local_names(cached_library(store, now=now), split)
    except NotFound:
        # A session under way keeps its arm, and its block is stored with it.
        if begins:
            raise
        names = {}
    found = enrol(database, experiment, session, now=now, begins=begins)
    if found is None:
        return None
    foregone = {arm: names.get(arm, template) for arm, template in found.foregone.items()}
    template = names.get(found.arm, found.template) if found.template is not None else None
    return msgspec.structs.replace(found, template=template, foregone=foregone)


def _local_names(library: Library, split: Split) -> dict[str, str]:
    """By arm: the name of its template on this machine. NotFound if one is not here, or was rebuilt since."""
    found = {}
    for one in split.arms:
        if one.arm.startswith(TEMPLATE):
            wanted = one.arm.removeprefix(TEMPLATE) if one.template is msgspec.UNSET else one.template
            names = [each.name for each in library.templates if wanted in (content_digest(each), each.name)]
            if not names:
                raise NotFound(
                    f"The arm {one.arm!r} shows nothing here, because its template is not on this machine or was "
                    "changed. Import it with `seasoned template import`, or run `seasoned experiment begin` again."
                )
            found[one.arm] = names[0]
    return found
