"""What histories say was used, beside what went through the gateway: sessions that did both count once, there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from seasoned.gateway.account import By, day_of
from seasoned.session import Usage
from seasoned.store import Store

HistoryBy = Literal["session", "model", "day"]
_FIGURES = ("input", "output", "cache_read", "cache_write", "reasoning")


class HistoryTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What the sessions of one model or day took, or one session, as their agents wrote it down."""

    name: str | None
    """None: the history names no model, or no time."""
    sessions: int
    usage: Usage
    cost_usd: float | None
    """As the agents themselves say; None where none does."""
    unpriced: int
    """Sessions whose cost nobody says; they are not in the cost."""
    last_at: float | None
    unrecorded: int = 0
    """Of what is read from histories everything is there."""


def history_totals(
    store: Store, by: By, *, since: float = 0.0, without: Collection[str] = frozenset()
) -> list[HistoryTotal]:
    """What was read since a time; the newest first. `without`: the sessions that went through the gateway.

    No history knows the gateway's keys, so that there is nothing by key.
    """
    if by == "key":
        return []
    found: dict[str | None, HistoryTotal] = {}
    for row in store.each("session.used", {"since": since}):
        session = f"{row['agent']}:{row['native_id']}"
        if session in without:
            continue
        names = {"session": session, "model": row["model"], "day": None if row["at"] is None else day_of(row["at"])}
        one = HistoryTotal(
            name=names[by],
            sessions=1,
            usage=Usage(*[row[f"{name}_tokens"] for name in _FIGURES]),
            cost_usd=row["cost_usd"],
            unpriced=int(row["cost_usd"] is None),
            last_at=row["at"],
        )
        known = found.get(one.name)
        found[one.name] = one if known is None else _joined(known, one)
    if by == "day":
        return sorted(found.values(), key=lambda one: one.name or "", reverse=True)
    return list(found.values())


def _joined(one: HistoryTotal, other: HistoryTotal) -> HistoryTotal:
    costs = [cost for cost in (one.cost_usd, other.cost_usd) if cost is not None]
    times = [at for at in (one.last_at, other.last_at) if at is not None]
    return HistoryTotal(
        name=one.name,
        sessions=one.sessions + other.sessions,
        usage=one.usage + other.usage,
        cost_usd=sum(costs) if costs else None,
        unpriced=one.unpriced + other.unpriced,
        last_at=max(times, default=None),
    )
