"""Accounting: journal entries with their cost go into the store; totals by session, model, day and key come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Literal, TypeVar, get_args

import msgspec

from seasoned.gateway.account.journal import UsageEntry
from seasoned.gateway.settings import GatewaySettings
from seasoned.price import estimate_session, find_cost
from seasoned.session import Usage
from seasoned.store import Database, DatabaseRow, Store

GroupBy = Literal["session", "model", "day", "key"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)
N = TypeVar("N", int, float)
_MOST = 10**15
_MODEL_CHARS = 200
_FIGURES = ("input", "output", "cache_read", "cache_write", "reasoning")


class EntryCost(msgspec.Struct, frozen=True):
    """What a request cost and where the figure comes from; None if no price is known."""

    usd: float | None = None
    source: str | None = None


Pricing = Callable[[UsageEntry], EntryCost]


class RecordedCounts(msgspec.Struct):
    """What one gateway has counted since it started."""

    cost_usd: float = 0.0
    unpriced: int = 0
    # Examples that were suspended, restored or retired.
    decisions: int = 0


class UsageTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What all requests of one session, model, day or key used."""

    # None: no gateway key was used, or no model was named.
    name: str | None
    requests: int
    usage: Usage
    # Of the requests with a known price; None if there are none.
    cost_usd: float | None
    # Requests without a known price; they are not in the cost.
    unpriced: int
    # Turns whose words and calls may be missing from their sessions.
    unrecorded: int
    last_at: float


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


def pricing(settings: GatewaySettings) -> Pricing:
    """How to price entries: by what the upstream says, or by the published prices for its address."""
    addresses = {one.name: one.base_url for one in settings.upstream}

    def price(entry: UsageEntry) -> EntryCost:
        found = find_cost(
            entry.usage,
            entry.raw,
            model=entry.model or None,
            base_url=addresses.get(entry.upstream),
            now=datetime.fromtimestamp(entry.at, UTC),
        )
        return EntryCost() if found is None else EntryCost(float(found.usd), found.full_source)

    return price


def add_entries(database: Database, entries: Iterable[UsageEntry], price: Pricing) -> None:
    """Store entries in one transaction; one that is already there is replaced."""
    rows = [_row(entry, price(entry)) for entry in entries]
    with database.write():
        for row in rows:
            database.run("gateway.add_request", row)


def _row(entry: UsageEntry, price: EntryCost) -> dict[str, object]:
    usage = entry.usage or Usage()
    return {
        **{name: getattr(entry, name) for name in entry.__struct_fields__ if name not in ("usage", "raw")},
        **{f"{name}_tokens": _plausible(getattr(usage, name)) for name in _FIGURES},
        # A name that the database cannot store would keep the whole batch out.
        "model": "".join([c for c in entry.model[:_MODEL_CHARS] if c.isprintable()]),
        "day": day_of(entry.at),
        "cost_usd": _plausible(price.usd),
        "cost_source": price.source,
        "raw": msgspec.json.encode(entry.raw).decode(),
    }


def _plausible(figure: N | None) -> N | None:
    """The figure, or None if it is impossibly large."""
    return figure if figure is not None and 0 <= figure < _MOST else None


def day_of(at: float) -> str:
    """The UTC day of a time, which is the same for every gateway of a team."""
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def totals(
    database: Database, by: GroupBy, *, since: float = 0.0, only: Collection[str] | None = None
) -> list[UsageTotal]:
    """What was used since a time: sessions and days newest first, models and keys by number of requests.

    `only`: the sessions to count. The requests of a team may be in another database than the sessions.
    """
    if only is not None:
        return _totals_of(database, by, since, only)
    rows = database.rows(f"gateway.usage_by_{by}", {"since": since})
    return [_total(row, row["name"]) for row in rows]


def _totals_of(database: Database, by: GroupBy, since: float, only: Collection[str]) -> list[UsageTotal]:
    found: dict[str | None, UsageTotal] = {}
    for row in database.rows("gateway.usage_parts", {"since": since}):
        if row["session"] in only:
            one = _total(row, row["key_name" if by == "key" else by])
            known = found.get(one.name)
            found[one.name] = one if known is None else _added(known, one)
    if by in ("model", "key"):
        return sorted(found.values(), key=lambda one: (-one.requests, one.name or ""))
    return sorted(found.values(), key=lambda one: one.last_at, reverse=True)


def _added(one: UsageTotal, other: UsageTotal) -> UsageTotal:
    return UsageTotal(
        name=one.name,
        requests=one.requests + other.requests,
        usage=one.usage + other.usage,
        cost_usd=_sum(one.cost_usd, other.cost_usd),
        unpriced=one.unpriced + other.unpriced,
        unrecorded=one.unrecorded + other.unrecorded,
        last_at=max(one.last_at, other.last_at),
    )


def _total(row: DatabaseRow, name: str) -> UsageTotal:
    return UsageTotal(
        name=name or None,
        requests=int(row["requests"]),
        usage=Usage(*[None if row[f"{name}_tokens"] is None else int(row[f"{name}_tokens"]) for name in _FIGURES]),
        cost_usd=None if row["cost_usd"] is None else float(row["cost_usd"]),
        unpriced=int(row["unpriced"]),
        unrecorded=int(row["unrecorded"]),
        last_at=float(row["last_at"]),
    )


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
        names = {"session": session, "model": row["model"], "day": None if row["at"] is None else day_of(row["at"])}
        usage = Usage(*[row[f"{name}_tokens"] for name in _FIGURES])
        cost, estimate = row["cost_usd"], None
        if cost is None:
            estimate = estimate_session(row["agent"], row["model"], usage, at=row["at"])
            cost = None if estimate is None else float(estimate.usd)
        one = HistoryTotal(
            name=names[by],
            sessions=1,
            usage=usage,
            cost_usd=cost,
            estimated_usd=None if estimate is None else cost,
            estimated=int(estimate is not None),
            price_source=None if estimate is None else estimate.full_source,
            unpriced=int(cost is None),
            last_at=row["at"],
        )
        known = found.get(one.name)
        found[one.name] = one if known is None else _joined(known, one)
    if by == "day":
        return sorted(found.values(), key=lambda one: one.name or "", reverse=True)
    return list(found.values())


def _joined(one: HistoryTotal, other: HistoryTotal) -> HistoryTotal:
    times = [at for at in (one.last_at, other.last_at) if at is not None]
    return HistoryTotal(
        name=one.name,
        sessions=one.sessions + other.sessions,
        usage=one.usage + other.usage,
        cost_usd=_sum(one.cost_usd, other.cost_usd),
        estimated_usd=_sum(one.estimated_usd, other.estimated_usd),
        estimated=one.estimated + other.estimated,
        price_source=one.price_source or other.price_source,
        unpriced=one.unpriced + other.unpriced,
        last_at=max(times, default=None),
    )


def _sum(one: float | None, other: float | None) -> float | None:
    """The sum of what is known; None if nothing is."""
    known = [figure for figure in (one, other) if figure is not None]
    return sum(known) if known else None
