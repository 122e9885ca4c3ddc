"""What histories say was used, by session, model and day. Usage counts for the day on which it was recorded."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection

import msgspec

from seasoned.gateway.accounting import GroupBy, day_of, sum_known
from seasoned.price import estimate_session
from seasoned.session import Usage
from seasoned.store import Store

_DAY_SECONDS = 86_400
_FIGURES = Usage.__struct_fields__
_daily = msgspec.json.Decoder(tuple[tuple[int, Usage], ...]).decode


class HistoryTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What the sessions of one model or day used, or one session, as read from histories."""

    # None: the history names no model, or no time.
    name: str | None
    sessions: int
    usage: Usage
    # What agents recorded, and for sessions where they recorded no cost an estimate; None if neither is known.
    cost_usd: float | None
    # The part of the cost that is an estimate, the sessions it is for, and where the prices come from.
    estimated_usd: float | None = None
    estimated: int = 0
    price_source: str | None = None
    # Sessions with neither; they are not in the cost.
    unpriced: int
    last_at: float | None
    # Nothing that is read from a history is missing.
    unrecorded: int = 0
    # The size of the last prompt, with what came from a cache; only for a session.
    last_prompt: int | None = None

    @property
    def cost_source(self) -> str | None:
        """`recorded` by the agent, where the prices of the estimate come from, or `several`."""
        if self.cost_usd is None:
            return None
        if not self.estimated:
            return "recorded"
        return self.price_source if self.estimated + self.unpriced == self.sessions else "several"


def history_totals(
    store: Store,
    by: GroupBy,
    *,
    since: float = 0.0,
    without: Collection[str] = frozenset(),
    project: str | None = None,
) -> list[HistoryTotal]:
    """What histories report since a time, newest first. `without`: sessions that went through the gateway.

    Histories know nothing of gateway keys, so there is nothing by key. Estimates are made here and not while scanning:
    that costs a scan nothing, covers stores that were filled earlier, and follows the prices that are installed.
    """
    if by == "key":
        return []
    found: dict[str | None, HistoryTotal] = {}
    for row in store.each("session.used", {"since": since, "project": project}):
        session = f"{row['agent']}:{row['native_id']}"
        if session in without:
            continue
        parts = _parts(row, since)
        if by != "day":
            parts = [(parts[-1][0], *_whole(parts))] if parts else []
        for at, usage, share in parts:
            names = {"session": session, "model": row["model"], "day": None if at is None else day_of(at)}
            one = _total(row, names[by], usage, share, at)
            if by == "session":
                one = msgspec.structs.replace(one, last_prompt=row["last_prompt_tokens"])
            known = found.get(one.name)
            found[one.name] = one if known is None else _joined(known, one)
    if by == "day":
        return sorted(found.values(), key=lambda one: one.name or "", reverse=True)
    return list(found.values())


def _parts(row: sqlite3.Row, since: float) -> list[tuple[float | None, Usage, float]]:
    """What a session used on each day since a time: when, how much, and the share of the whole session."""
    at: float | None = row["at"]
    whole = Usage(*[row[f"{name}_tokens"] for name in _FIGURES])
    days = _daily(row["daily_usage"]) if row["daily_usage"] is not None else ()
    # Histories that name no times, and those that tell a total at the end alone, count for the last day.
    if at is None or len(days) < 2:
        return [(at, whole, 1.0)]
    every = sum(usage.total or 0 for _, usage in days)
    found: list[tuple[float | None, Usage, float]] = []
    for day, usage in days:
        moment = at if day < 0 else min(at, (day + 1) * _DAY_SECONDS - 1.0)
        if moment >= since:
            found.append((moment, usage, (usage.total or 0) / every if every else 1 / len(days)))
    return sorted(found, key=lambda one: one[0] or 0.0)


def _whole(parts: list[tuple[float | None, Usage, float]]) -> tuple[Usage, float]:
    usage = parts[0][1]
    for _, more, _ in parts[1:]:
        usage = usage + more
    return usage, math.fsum(share for _, _, share in parts)


def _total(row: sqlite3.Row, name: str | None, usage: Usage, share: float, at: float | None) -> HistoryTotal:
    # An agent records what a session cost as a whole: each day gets its share by tokens.
    cost, estimate = row["cost_usd"], None
    if cost is not None:
        cost *= share
    else:
        estimate = estimate_session(row["agent"], row["model"], usage, at=at)
        cost = None if estimate is None else float(estimate.usd)
    return HistoryTotal(
        name=name,
        sessions=1,
        usage=usage,
        cost_usd=cost,
        estimated_usd=None if estimate is None else cost,
        estimated=int(estimate is not None),
        price_source=None if estimate is None else estimate.full_source,
        unpriced=int(cost is None),
        last_at=at,
    )


def _joined(one: HistoryTotal, other: HistoryTotal) -> HistoryTotal:
    times = [at for at in (one.last_at, other.last_at) if at is not None]
    return HistoryTotal(
        name=one.name,
        sessions=one.sessions + other.sessions,
        usage=one.usage + other.usage,
        cost_usd=sum_known(one.cost_usd, other.cost_usd),
        estimated_usd=sum_known(one.estimated_usd, other.estimated_usd),
        estimated=one.estimated + other.estimated,
        price_source=one.price_source or other.price_source,
        unpriced=one.unpriced + other.unpriced,
        last_at=max(times, default=None),
    )
