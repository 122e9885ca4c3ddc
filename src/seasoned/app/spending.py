"""What was spent today and this month, and the budgets for it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from seasoned.config import Config
from seasoned.store import Store


class BudgetState(msgspec.Struct, frozen=True):
    """A budget, and what was spent of it."""

    period: Literal["day", "month"]
    budget_usd: float
    spent_usd: float

    @property
    def is_over(self) -> bool:
        return self.spent_usd > self.budget_usd


def spent_today(store: Store, session: str | None = None, live_usd: float | None = None) -> float | None:
    """What all sessions cost since midnight here; None if nothing is known.

    `live_usd` is what an agent says of a session of its own that still runs: the store knows it up to its last turn.
    """
    row = store.row("usage.since_hour", {"first_hour": _first_hour("day"), "session": session})
    known = None if row is None else row["usd"]
    own = 0.0 if row is None else row["own"] or 0.0
    if live_usd is None or live_usd <= own:
        return known
    return (known or 0.0) - own + live_usd


def budgets(config: Config, store: Store, *, today: float | None = None) -> list[BudgetState]:
    """The budgets that are set, by the user's own calendar."""
    found = []
    if config.budget_usd_per_day is not None:
        spent = spent_today(store) if today is None else today
        found.append(BudgetState("day", config.budget_usd_per_day, spent or 0.0))
    if config.budget_usd_per_month is not None:
        row = store.row("usage.since_hour", {"first_hour": _first_hour("month"), "session": None})
        found.append(BudgetState("month", config.budget_usd_per_month, (row["usd"] if row else None) or 0.0))
    return found


def _first_hour(period: Literal["day", "month"]) -> int:
    now = datetime.now().astimezone()
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return int((start if period == "day" else start.replace(day=1)).timestamp() // 3600)
