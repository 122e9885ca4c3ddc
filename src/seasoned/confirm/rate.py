"""How often something may be asked: for one action by one requester, by all of them, and by one for everything."""

from __future__ import annotations

from seasoned.confirm.credential import Credential
from seasoned.confirm.policy import Limit, Policy
from seasoned.errors import TooMany
from seasoned.store import Database


def check_rate(
    database: Database, policy: Policy, who: Credential, action: str, *, asked_so_far: int, now: float
) -> None:
    """Nothing, or TooMany that says which limit is reached. `asked_so_far`: at least as many requests as there are."""
    for limit in policy.rate_limits(action):
        # Counting takes longer the more there are, and fewer than the limit cannot reach it.
        if asked_so_far < limit.most:
            continue
        since = now - limit.window_seconds
        if _count(database, limit, who, action, since) >= limit.most:
            raise TooMany(_sentence(limit, who, action), remaining=0, window_seconds=limit.window_seconds)


def _count(database: Database, limit: Limit, who: Credential, action: str, since: float) -> int:
    bounds = {"since": since, "most": limit.most}
    if limit.of_action and limit.of_requester:
        row = database.row("confirm.recent_of_both", {"action": action, "requester": who.id, **bounds})
    elif limit.of_action:
        row = database.row("confirm.recent", {"action": action, **bounds})
    else:
        row = database.row("confirm.recent_of_requester", {"requester": who.id, **bounds})
    return 0 if row is None else int(row["count"])


def _sentence(limit: Limit, who: Credential, action: str) -> str:
    often = f"{limit.most} times in {limit.window_seconds:g} seconds"
    if limit.of_action and limit.of_requester:
        return f"{who.name!r} asked for {action!r} {often}: wait, or put several into one request"
    if limit.of_action:
        return f"all requesters together asked for {action!r} {often}: wait, so that people can keep up"
    return f"{who.name!r} asked for anything at all {often}: wait, or put several into one request"
