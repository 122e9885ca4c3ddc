"""Accounting: the journal's entries with their cost into the store; totals by session, model, day and key; budgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from typing import Literal, TypeVar, get_args

import msgspec

from seasoned.gateway.account.journal import UsageEntry
from seasoned.gateway.account.keys import GatewayKey
from seasoned.session import Usage
from seasoned.store import Database, Store

GroupBy = Literal["session", "model", "day", "key"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)
N = TypeVar("N", int, float)
_MOST = 10**15
_MODEL_CHARS = 200
_FIGURES = ("input", "output", "cache_read", "cache_write", "reasoning")


class EntryCost(msgspec.Struct, frozen=True):
    """What a request cost, and who says so; None where nobody knows."""

    usd: float | None = None
    source: str | None = None


Pricing = Callable[[UsageEntry], EntryCost]


class RecordedCounts(msgspec.Struct):
    """What one gateway has counted since it began."""

    cost_usd: float = 0.0
    unpriced: int = 0
    decisions: int = 0
    """About examples, by the watch."""


class UsageTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What all requests of one session, model, day or key took."""

    name: str | None
    """None: no key of the gateway was used, or no model named."""
    requests: int
    usage: Usage
    cost_usd: float | None
    """Of the requests whose price is known; None where none is."""
    unpriced: int
    """Requests whose price nobody knows; they are not in the cost."""
    unrecorded: int
    """Turns of whose words and calls some may be missing in their sessions."""
    last_at: float


def add_entries(database: Database, entries: Iterable[UsageEntry], price: Pricing) -> None:
    """Set what each entry says, in one transaction; an entry that is there already is replaced."""
    rows = [_row(entry, price(entry)) for entry in entries]
    with database.write():
        for row in rows:
            database.run("gateway.add_request", row)


def _row(entry: UsageEntry, price: EntryCost) -> dict[str, object]:
    usage = entry.usage or Usage()
    return {
        **{name: getattr(entry, name) for name in entry.__struct_fields__ if name not in ("usage", "raw")},
        **{f"{name}_tokens": _plausible(getattr(usage, name)) for name in _FIGURES},
        # A name that a database cannot keep would keep all others out with it.
        "model": "".join([c for c in entry.model[:_MODEL_CHARS] if c.isprintable()]),
        "day": day_of(entry.at),
        "cost_usd": _plausible(price.usd),
        "cost_source": price.source,
        "raw": msgspec.json.encode(entry.raw).decode(),
    }


def _plausible(figure: N | None) -> N | None:
    """A figure that can be one; what nobody can have used is as good as none."""
    return figure if figure is not None and 0 <= figure < _MOST else None


def day_of(at: float) -> str:
    """The day of a time, in UTC, where every gateway of a team has the same one."""
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def totals(database: Database, by: GroupBy, *, since: float = 0.0) -> list[UsageTotal]:
    """What was used since a time: sessions and days with the newest first, models and keys with the most requests."""
    return [
        UsageTotal(
            name=row["name"] or None,
            requests=int(row["requests"]),
            usage=Usage(*[None if row[f"{name}_tokens"] is None else int(row[f"{name}_tokens"]) for name in _FIGURES]),
            cost_usd=None if row["cost_usd"] is None else float(row["cost_usd"]),
            unpriced=int(row["unpriced"]),
            unrecorded=int(row["unrecorded"]),
            last_at=float(row["last_at"]),
        )
        for row in database.rows(f"gateway.usage_by_{by}", {"since": since})
    ]


class KeySpending(msgspec.Struct, frozen=True):
    """What a key has taken today, as far as it is in the store."""

    tokens: int
    usd: float


def spent(database: Database, key_name: str, day: str) -> KeySpending:
    """What a key took on a day; a request whose price nobody knows counts by its tokens alone."""
    row = database.row("gateway.spent", {"key_name": key_name, "day": day})
    assert row is not None  # sums give one row, of nothing too
    return KeySpending(int(row["prompt_tokens"] or 0) + int(row["output_tokens"] or 0), float(row["cost_usd"] or 0.0))


class Budgets:
    """Which keys are over their budget today, in memory; loaded anew after every batch."""

    def __init__(self) -> None:
        self._day = ""
        self._over: dict[str, str] = {}

    def load(self, database: Database, keys: Iterable[GatewayKey], *, now: float) -> list[str]:
        """Look again; what is to be said of keys that were not over before."""
        day = day_of(now)
        before = self._over if day == self._day else {}
        over = {
            key.name: why
            for key in keys
            if (key.usd_per_day is not None or key.tokens_per_day is not None)
            and (why := over_budget(key, spent(database, key.name, day))) is not None
        }
        self._day, self._over = day, over
        return [why for name, why in over.items() if name not in before]

    @property
    def over(self) -> int:
        """How many keys have used up their day."""
        return len(self._over)

    def refusal(self, key: GatewayKey, *, now: float) -> str | None:
        """Why a request of this key is refused; None where it may pass."""
        return self._over.get(key.name) if key.stops and day_of(now) == self._day else None


def over_budget(key: GatewayKey, found: KeySpending) -> str | None:
    """What is to be said when a key has used up its day."""
    if key.tokens_per_day is not None and found.tokens >= key.tokens_per_day:
        return f"The key {key.name!r} has used {found.tokens} of its {key.tokens_per_day} tokens for today (UTC)."
    if key.usd_per_day is not None and found.usd >= key.usd_per_day:
        return f"The key {key.name!r} has used ${found.usd:.2f} of its ${key.usd_per_day:.2f} for today (UTC)."
    return None


HistoryBy = Literal["session", "model", "day"]
_HISTORY_FIGURES = ("input", "output", "cache_read", "cache_write", "reasoning")


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
    store: Store, by: GroupBy, *, since: float = 0.0, without: Collection[str] = frozenset()
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
            usage=Usage(*[row[f"{name}_tokens"] for name in _HISTORY_FIGURES]),
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
