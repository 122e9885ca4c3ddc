"""Builds the gateway; sums up usage, also by commit, branch and pull request; and checks budgets."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from seasoned.app.stores import shared_database
from seasoned.command.tool import command_of, commits_of
from seasoned.config import Config, command_environment
from seasoned.gateway.accounting import GroupBy, UsageTotal, totals
from seasoned.gateway.history_usage import (
    HistoryGroup,
    HistoryTotal,
    WorkGroup,
    fill_prices,
    history_totals,
    price_source,
)
from seasoned.gateway.settings import FILE, load_settings
from seasoned.session import Result, ToolCall, Usage, sum_usage
from seasoned.store import DatabaseRow, Store
from seasoned.text import dollars, plural

if TYPE_CHECKING:
    from seasoned.gateway.service import GatewayService

WORK: tuple[WorkGroup, ...] = get_args(WorkGroup)
_PULL_REQUEST = re.compile(r"https?://[\w.-]+/([\w.-]+/[\w.-]+)/pull/(\d+)")
_OF_BRANCH = re.compile(r"(?:--head|-H)[ =](?:[\w.-]+:)?([\w./-]+)")
# All work ends there: what follows a pull request of it belongs to the next one.
_MAIN = ("main", "master", "trunk")


def build_gateway(config: Config, upstream: str | None = None) -> GatewayService:
    """The gateway of this configuration."""
    # Imported here: its libraries come with an extra.
    from seasoned.gateway.service import GatewayService

    settings = load_settings(config.home / FILE, upstream_url=upstream)
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
    config: Config, store: Store, by: HistoryGroup, part: HistoryGroup | None, *, since: float, project: str | None
) -> list[HistoryTotal]:
    """What histories say was used, without the sessions that went through the gateway.

    Those count by branch, commit and pull request, of which the gateway knows nothing.
    """
    fill_prices(store)
    if by in WORK or part in WORK:
        return work_totals(store, by, part, since=since, project=project)
    return history_totals(store, by, since=since, without=gateway_sessions(config), project=project, part=part)


class BudgetState(msgspec.Struct, frozen=True):
    """A budget, and what was spent of it."""

    period: Literal["day", "month"]
    budget_usd: float
    spent_usd: float | None
    unpriced: int = 0

    @property
    def is_over(self) -> bool:
        return self.spent_usd is not None and self.spent_usd > self.budget_usd

    @property
    def sentence(self) -> str:
        """What to know about it; a budget that cannot hold says so."""
        spent = "an unknown part" if self.spent_usd is None else f"${self.spent_usd:,.2f}"
        said = f"Budget of this {self.period}: {spent} of ${self.budget_usd:,.2f} spent."
        if not self.unpriced:
            return said
        have = plural(self.unpriced, "session has", "sessions have")
        return f"{said} It cannot be enforced: {have} no known price."


class MonthForecast(msgspec.Struct, frozen=True):
    """What this month cost so far, and what it will have cost at the pace of the last two weeks."""

    spent_usd: float
    expected_usd: float
    unpriced: int


_PACE_DAYS = 14  # as near as the pace of the month itself, and known on its first days too


def month_forecast(store: Store, *, now: datetime | None = None) -> MonthForecast | None:
    """What this month will cost; None if nothing of the last two weeks has a known price."""
    now = now or datetime.now().astimezone()
    spent, unpriced = _spent(store, _first_hour("month", now))
    recent, _ = _spent(store, int(now.timestamp() // 3600) - 24 * _PACE_DAYS)
    if recent is None:
        return None
    end = (now.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    expected = (spent or 0.0) + recent / _PACE_DAYS * ((end - now) / timedelta(days=1))
    return MonthForecast(spent or 0.0, expected, unpriced)


def _spent(store: Store, first_hour: int) -> tuple[float | None, int]:
    """What all sessions cost since an hour, None if no price is known; and how many have a part without a price."""
    row = store.row("usage.since_hour", {"first_hour": first_hour, "session": None})
    return (None, 0) if row is None else (row["usd"], int(row["unpriced"]))


def budget_words(config: Config, store: Store, session: str | None = None, live_usd: float | None = None) -> list[str]:
    """What a status line says of today's cost and of the budgets.

    `live_usd` is what an agent itself says of a session that still runs: the store knows it up to its last turn.
    """
    now = datetime.now().astimezone()
    row = store.row("usage.since_hour", {"first_hour": _first_hour("day", now), "session": session})
    known, own = (None, 0.0) if row is None else (row["usd"], row["own"] or 0.0)
    today = known if live_usd is None or live_usd <= own else (known or 0.0) - own + live_usd
    limits = {one.period: one for one in budgets(config, store)}
    day, month = limits.get("day"), limits.get("month")
    said = "cost today unknown" if today is None else f"{dollars(today)} today"
    words = [f"{said} of {dollars(day.budget_usd)}" if day and today is not None else said]
    if day is not None and today is not None and today > day.budget_usd:
        words.append("over the budget of this day")
    if month is None:
        return words
    forecast = month_forecast(store, now=now)
    if month.is_over:
        words.append("over the budget of this month")
    elif forecast is not None and forecast.expected_usd > month.budget_usd:
        words.append(f"about {dollars(forecast.expected_usd)} of {dollars(month.budget_usd)} this month")
    if month.unpriced:
        words.append(f"{plural(month.unpriced, 'session')} of this month without a price")
    return words


def budgets(config: Config, store: Store) -> list[BudgetState]:
    """The budgets that are set, by the user's own calendar."""
    found = []
    now = datetime.now().astimezone()
    periods: tuple[tuple[Literal["day", "month"], float | None], ...] = (
        ("day", config.budget_usd_per_day),
        ("month", config.budget_usd_per_month),
    )
    for period, budget in periods:
        if budget is not None:
            found.append(BudgetState(period, budget, *_spent(store, _first_hour(period, now))))
    return found


def _first_hour(period: Literal["day", "month"], now: datetime) -> int:
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return int((start if period == "day" else start.replace(day=1)).timestamp() // 3600)


# -- commits, branches and pull requests -------------------------------------------------------------------------------


class _Work(msgspec.Struct):
    """What the store knows of git, in order of time."""

    commits: dict[int, list[tuple[float, str, str]]]  # of a lineage: time, branch, id and subject
    pull_requests: dict[tuple[str, str], list[tuple[float, str]]]  # of a project's branch: time, name

    def of(self, row: DatabaseRow) -> dict[str, str | None]:
        """What an answer led to: the next commit of its lineage, that one's branch, and the branch's pull request."""
        at, commits = row["at"] or 0.0, self.commits.get(row["root"], [])
        place = bisect_left(commits, (at,))
        commit = commits[place] if place < len(commits) else None
        # What comes after the last commit stays on its branch, unless the agent says where it is.
        branch = commit[1] if commit else row["branch"] or (commits[-1][1] if commits else None)
        opened = self.pull_requests.get((row["project"], branch), []) if branch else []
        place = bisect_left(opened, (at,))
        if place == len(opened) and branch not in _MAIN:
            place -= 1  # what is done after it was opened
        names = {"commit": commit[2] if commit else None, "branch": branch}
        return {**names, "pr": opened[place][1] if 0 <= place < len(opened) else None}


def work_totals(
    store: Store, by: HistoryGroup, part: HistoryGroup | None, *, since: float = 0.0, project: str | None = None
) -> list[HistoryTotal]:
    """What sessions cost by commit, branch or pull request, newest first; also those that went through the gateway."""
    work = _read_work(store, project)
    groups: dict[tuple[Any, ...], list[DatabaseRow]] = defaultdict(list)
    for row in store.rows("usage.answers", {"project": project}):
        if (row["at"] or 0.0) >= since:
            names = work.of(row)
            groups[_name(row, names, by), None if part is None else _name(row, names, part)].append(row)
    source = price_source(store)
    totals = [_total(name, second, rows, source) for (name, second), rows in groups.items()]
    return sorted(totals, key=lambda one: -(one.last_at or 0.0))


def _read_work(store: Store, project: str | None) -> _Work:
    work = _Work(defaultdict(list), defaultdict(list))
    for row in store.rows("usage.git_calls", {"project": project}):
        arguments = msgspec.json.decode(row["arguments"])
        call = ToolCall("", row["tool"], arguments if isinstance(arguments, dict) else {}, Result(row["result"] or ""))
        commits, branch = work.commits[row["root"]], row["branch"]
        for one in commits_of(call):
            commits.append((row["time"], one.branch, f"{one.id[:9]} {one.subject}"))
        command = command_of(call) or ""
        if "gh pr create" not in command and not row["tool"].endswith("create_pull_request"):
            continue
        found, head = _PULL_REQUEST.search(row["result"] or ""), _OF_BRANCH.search(command)
        branch = head[1] if head else call.arguments.get("head") or (commits[-1][1] if commits else branch)
        if found and branch:
            work.pull_requests[row["project"], str(branch)].append((row["time"], f"{found[1]}#{found[2]}"))
    return work


def _name(row: DatabaseRow, names: dict[str, str | None], by: HistoryGroup) -> str | None:
    if by in names:
        return names[by]
    if by == "session":
        return f"{row['agent']}:{row['native_id']}"
    if by in ("project", "agent", "model"):
        return row[by] or None
    if row["at"] is None:
        return None
    day = datetime.fromtimestamp(row["at"])
    if by == "week":
        day -= timedelta(days=day.weekday())
    return f"{day:%Y-%m}" if by == "month" else f"{day:%Y-%m-%d}"


def _total(name: str | None, part: str | None, rows: list[DatabaseRow], source: str | None) -> HistoryTotal:
    def sessions(rows: list[DatabaseRow]) -> int:
        return len({(row["agent"], row["native_id"]) for row in rows})

    estimated = [row for row in rows if row["price_source"]]
    known = [row["usd"] for row in rows if row["usd"] is not None]
    return HistoryTotal(
        name=name,
        part=part,
        sessions=sessions(rows),
        usage=sum_usage(Usage(*[row[figure] for figure in Usage.__struct_fields__]) for row in rows),
        cost_usd=sum(known) if known else None,
        estimated_usd=sum(row["usd"] for row in estimated) if estimated else None,
        estimated=sessions(estimated),
        price_source=source if estimated else None,
        unpriced=sessions([row for row in rows if row["usd"] is None]),
        last_at=max((row["at"] for row in rows if row["at"] is not None), default=None),
    )
