"""Builds the gateway from its settings and from what the command line overrides, and sums up what was used."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.app.stores import shared_database, user_store
from seasoned.config import Config, command_environment
from seasoned.gateway.accounting import GroupBy, UsageTotal, totals
from seasoned.gateway.history_usage import HistoryGroup, HistoryTotal, fill_prices, history_totals
from seasoned.gateway.settings import FILE, load_settings

if TYPE_CHECKING:
    from seasoned.gateway.service import GatewayService


def build_gateway(
    config: Config,
    *,
    settings_file: Path | None = None,
    upstream: str | None = None,
    keys: bool = False,
    record: bool = True,
    warm: bool = True,
) -> GatewayService:
    """The gateway of this configuration; `record` and `warm` can only switch off what the settings allow."""
    # Imported here: its libraries come with an extra.
    from seasoned.gateway.service import GatewayService

    settings = load_settings(settings_file or config.home / FILE, upstream_url=upstream)
    # Flags only restrict: `--keys` adds a check, --no-record and --no-warm take away. None can widen the settings.
    settings = msgspec.structs.replace(
        settings,
        mode="keys" if keys else settings.mode,
        record=settings.record and record,
        warm=settings.warm and warm,
    )
    return GatewayService(config, settings, environment=command_environment())


def first_moment(days: int | None) -> float:
    """When the last so many days began: today counts as one, and days are those of UTC, as usage is summed by them."""
    if days is None:
        return 0.0
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (today - timedelta(days=days - 1)).timestamp()


def gateway_usage(
    config: Config, by: GroupBy, *, since: float, only: Collection[str] | None = None
) -> list[UsageTotal]:
    """What went through the gateway; `only` are the sessions to count."""
    with shared_database(config) as database:
        return totals(database, by, since=since, only=only)


def history_usage(config: Config, by: HistoryGroup, *, since: float, project: str | None = None) -> list[HistoryTotal]:
    """What histories say was used, without the sessions that went through the gateway."""
    # Of all time and not only since: what the gateway counted is never counted again from a history.
    known = {one.name for one in gateway_usage(config, "session", since=0.0) if one.name is not None}
    with user_store(config) as store:
        fill_prices(store)
        return history_totals(store, by, since=since, without=known, project=project)
