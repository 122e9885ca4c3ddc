"""What entries cost: by the word of their upstream, or by the prices that its address is known for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from seasoned.gateway.account import Price
from seasoned.gateway.journal import Entry
from seasoned.gateway.setting import Settings
from seasoned.gateway.usage import find_cost


def pricing(settings: Settings) -> Callable[[Entry], Price]:
    """What entries cost, by the word of their upstream or by the prices that its address is known for."""
    addresses = {one.name: one.base_url for one in settings.upstream}

    def price(entry: Entry) -> Price:
        found = find_cost(
            entry.usage,
            entry.raw,
            model=entry.model or None,
            base_url=addresses.get(entry.upstream),
            now=datetime.fromtimestamp(entry.at, UTC),
        )
        if found is None:
            return Price()
        return Price(float(found.usd), " ".join([found.source, *([found.version] if found.version else [])]))

    return price
