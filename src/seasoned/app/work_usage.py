"""What commits, branches and pull requests cost, from what sessions recorded of git."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any, get_args

import msgspec

from seasoned.command.tool import command_of, commits_of
from seasoned.gateway.history_usage import HistoryGroup, HistoryTotal, WorkGroup, price_source
from seasoned.session import Result, ToolCall, Usage, sum_usage
from seasoned.store import DatabaseRow, Store

WORK: tuple[WorkGroup, ...] = get_args(WorkGroup)
_PULL_REQUEST = re.compile(r"https?://[\w.-]+/([\w.-]+/[\w.-]+)/pull/(\d+)")
_OF_BRANCH = re.compile(r"(?:--head|-H)[ =](?:[\w.-]+:)?([\w./-]+)")
# All work ends there: what follows a pull request of it belongs to the next one.
_MAIN = ("main", "master", "trunk")


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
