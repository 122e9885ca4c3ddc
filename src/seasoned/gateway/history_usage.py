"""Usage and cost as histories report them: by session, model, agent, project, or by time, or by two of these."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from datetime import datetime
from typing import Literal

import msgspec

from seasoned.price import dated_price_list, price_list, token_prices
from seasoned.session import Usage
from seasoned.store import Store

WorkGroup = Literal["branch", "commit", "pr"]
HistoryGroup = Literal[
    "day", "week", "month", "project", "model", "agent", "session", "branch", "commit", "pr", "block", "key"
]
TIMES: tuple[HistoryGroup, ...] = ("day", "week", "month", "block")
BLOCK_HOURS = 5
_FIGURES = Usage.__struct_fields__


class HistoryTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What the sessions of one model or day used, or one session, as read from histories."""

    # None: the history names no model, no time or no project.
    name: str | None
    # The second name, where it is summed by two things.
    part: str | None = None
    sessions: int
    usage: Usage
    # What agents recorded, and for sessions where they recorded no cost an estimate; None if neither is known.
    cost_usd: float | None
    # The part of the cost that is an estimate, the sessions it is for, and where the prices come from.
    estimated_usd: float | None = None
    estimated: int = 0
    price_source: str | None = None
    # Sessions with a part that has neither; that part is not in the cost.
    unpriced: int
    last_at: float | None
    # Always 0: nothing read from a history is missing.
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
        return self.price_source if self.estimated + self.unpriced >= self.sessions else "several"


def history_totals(
    store: Store,
    by: HistoryGroup,
    *,
    since: float = 0.0,
    without: Collection[str] = frozenset(),
    project: str | None = None,
    part: HistoryGroup | None = None,
) -> list[HistoryTotal]:
    """What histories report since a time, newest first. `without`: sessions that went through the gateway.

    Days, weeks and months are those of this machine's time zone. With `part`, each row is of two things. Histories know
    nothing of gateway keys, so there is nothing by key. Call `fill_prices` before.
    """
    if "key" in (by, part):
        return []
    first_hour = int(since // 3600) if since else -1
    rows = store.rows(
        "usage.totals",
        {
            "by": by,
            "part": part,
            "first_hour": first_hour,
            "blocks": msgspec.json.encode(_blocks(store, first_hour) if "block" in (by, part) else []).decode(),
            "project": project,
            "without": msgspec.json.encode(sorted(without)).decode(),
        },
    )
    return [_total(row, by, part) for row in rows]


def unpriced_models(store: Store, *, since: float = 0.0, project: str | None = None) -> list[str]:
    """Models without a known price, each with its agent; a session that names no model has only the agent."""
    given = {"first_hour": int(since // 3600) if since else -1, "project": project}
    return [f"{row['model'] or 'an unnamed model'} ({row['agent']})" for row in store.rows("usage.unpriced", given)]


def price_source(store: Store) -> str | None:
    """The price list behind the estimates, with the day of its newest price; None if there is no estimate."""
    row = store.row("usage.price_source")
    return None if row is None else str(row["source"])


def fill_prices(store: Store) -> None:
    """Look up what tokens cost where a session has no recorded cost: by agent, model and day, once each.

    Prices are not looked up while scanning: loading them takes as long as a small scan.
    """
    installed = price_list()
    if installed is None:
        return
    known = price_source(store)
    # The day of the prices follows the version; finding it takes loading the whole list.
    is_outdated = known is not None and not known.startswith(f"{installed} (")
    # With another list everything is priced again: it may correct what the old one said.
    if is_outdated:
        with store.write():
            store.run("usage.drop_prices")
    missing = [tuple(row) for row in store.rows("usage.without_price")]
    if not missing:
        return
    rows, source = [], dated_price_list()
    for agent, model, day, is_long in missing:
        prices = token_prices(agent, model, day=day, is_long=bool(is_long))
        figures = (None,) * 5 if prices is None else msgspec.structs.astuple(prices)
        rows.append((agent, model, day, is_long, *figures, source))
    store.run("session.begin_touched")
    with store.write():
        store.run_many("usage.add_price", rows)
        store.run("session.clear_touched")
        days = [(day * 24, day * 24 + 23, model, agent) for agent, model, day, _ in missing]
        store.run_many("usage.touch_day", days)
        store.run("usage.set_cost")


def _total(row: sqlite3.Row, by: HistoryGroup, part: HistoryGroup | None) -> HistoryTotal:
    return HistoryTotal(
        name=_shown(row["name"], by),
        part=_shown(row["part"], part),
        sessions=row["sessions"],
        usage=Usage(*[row[name] for name in _FIGURES]),
        cost_usd=row["usd"],
        estimated_usd=row["estimated_usd"],
        estimated=row["estimated"],
        price_source=row["price_source"],
        unpriced=row["unpriced"],
        last_at=row["last_at"],
        last_prompt=row["last_prompt_tokens"] if by == "session" else None,
    )


def _blocks(store: Store, first_hour: int) -> list[tuple[int, int]]:
    """Each hour with when its block of five hours began: with the first request after the last block."""
    found: list[tuple[int, int]] = []
    begun = -BLOCK_HOURS
    for row in store.rows("usage.hours", {"first_hour": max(first_hour, 0)}):
        begun = row["hour"] if row["hour"] >= begun + BLOCK_HOURS else begun
        found.append((row["hour"], begun))
    return found


def _shown(name: object, by: HistoryGroup | None) -> str | None:
    if by == "block" and name is not None:
        return datetime.fromtimestamp(int(str(name)) * 3600).strftime("%Y-%m-%d %H:%M")
    return None if name is None else str(name)
