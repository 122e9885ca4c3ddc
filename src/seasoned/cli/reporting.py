"""Makes the report of a store for the commands that show it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from seasoned.errors import NotFound, UsageError
from seasoned.insight.load import compressed, tracks
from seasoned.insight.report import Report, report
from seasoned.outcome.rate import Include
from seasoned.store import Store


def report_on(
    store: Store,
    *,
    paths: Sequence[Path] = (),
    agent: str | None = None,
    lengths: str = "50,100",
    include: Sequence[str] = (),
) -> Report:
    """The report on what a store holds."""
    switches = Include(**dict.fromkeys(include, True))
    ends = _ends(lengths)
    agents = [row["agent"] for row in store.rows("session.totals")]
    if not agents:
        raise NotFound("There are no sessions to report on: give a path with histories, or run `seasoned scan` first.")
    if agent is not None and agent not in agents:
        raise NotFound(f"No sessions of {agent!r}: there are {', '.join(agents)}.")
    return report(
        tracks(store, include=switches, agent=agent),
        compressed=compressed(store, include=switches, agent=agent),
        made_at=time.time(),
        title=f"Sessions of {agent}" if agent else f"Sessions of {', '.join(agents)}",
        sources=[str(path) for path in paths],
        include=switches,
        lengths=ends,
    )


def _ends(lengths: str) -> list[int]:
    try:
        return [int(part) for part in lengths.split(",")]
    except ValueError:
        raise UsageError(f"--lengths are numbers of messages such as 50,100, not {lengths!r}") from None
