"""Makes the report of a store for the commands that show it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from seasoned.errors import UsageError
from seasoned.insight.report import Report
from seasoned.insight.store_report import report_on as report_on_all
from seasoned.outcome.error_rate import Include
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
    return report_on_all(
        store,
        made_at=time.time(),
        paths=paths,
        agent=agent,
        lengths=_ends(lengths),
        include=Include(**dict.fromkeys(include, True)),
    )


def _ends(lengths: str) -> list[int]:
    try:
        return [int(part) for part in lengths.split(",")]
    except ValueError:
        raise UsageError(f"--lengths are numbers of messages such as 50,100, not {lengths!r}") from None
