"""Builds the gateway from its settings and from what the command line overrides; sums up usage, and checks budgets."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from seasoned.app.stores import shared_database, user_store
from seasoned.config import Config, command_environment
from seasoned.gateway.accounting import GroupBy, UsageTotal, totals
from seasoned.gateway.history_usage import HistoryGroup, HistoryTotal, fill_prices, history_totals
from seasoned.gateway.settings import FILE, load_settings
from seasoned.store import Store

if TYPE_CHECKING:
    from seasoned.gateway.service import GatewayService


def build_gateway(
    config: Config,
    *,
    settings_file: Path | None = None,
    upstream: str | None = None,
) -> GatewayService:
    """The gateway of this configuration."""
    # Imported here: its libraries come with an extra.
    from seasoned.gateway.service import GatewayService

    settings = load_settings(settings_file or config.home / FILE, upstream_url=upstream)
    return GatewayService(config, settings, environment=command_environment())


def first_moment(days: int | None) -> float:
    """The start of the last `days` days here, today included."""
    if days is None:
        return 0.0
    today = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return (today - timedelta(days=days - 1)).timestamp()


def gateway_usage(
    config: Config, by: GroupBy, *, since: float, only: Collection[str] | None = None
) -> list[UsageTotal]:
    """What went through the gateway; `only` are the sessions to count."""
    with shared_database(config) as database:
        return totals(database, by, since=since, only=only)


def gateway_sessions(config: Config) -> frozenset[str]:
    """The sessions that went through the gateway, of all time: what it counted is not counted again from a history."""
    with shared_database(config) as database:
        return frozenset(row["session"] for row in database.rows("gateway.sessions"))


def history_usage(
    config: Config, by: HistoryGroup, *, since: float, project: str | None = None, part: HistoryGroup | None = None
) -> list[HistoryTotal]:
    """What histories say was used, without the sessions that went through the gateway."""
    with user_store(config) as store:
        fill_prices(store)
        return history_totals(store, by, since=since, without=gateway_sessions(config), project=project, part=part)


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

    `live_usd` is what an agent itself says of a session that still runs: the store knows it up to its last turn.
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
