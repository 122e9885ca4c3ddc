"""What entries cost: by the word of their upstream, or by the prices that its address is known for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from seasoned.gateway.account.journal import UsageEntry
from seasoned.gateway.account.totals import EntryCost
from seasoned.gateway.settings import GatewaySettings
from seasoned.gateway.wire.usage import find_cost


def pricing(settings: GatewaySettings) -> Callable[[UsageEntry], EntryCost]:
    """What entries cost, by the word of their upstream or by the prices that its address is known for."""
    addresses = {one.name: one.base_url for one in settings.upstream}

    def price(entry: UsageEntry) -> EntryCost:
        found = find_cost(
            entry.usage,
            entry.raw,
            model=entry.model or None,
            base_url=addresses.get(entry.upstream),
            now=datetime.fromtimestamp(entry.at, UTC),
        )
        if found is None:
            return EntryCost()
        return EntryCost(float(found.usd), " ".join([found.source, *([found.version] if found.version else [])]))

    return price
