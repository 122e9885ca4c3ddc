"""Which sessions are experienced enough to learn from, and which of their calls worked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.tool import TaskType, is_trivial, tool_of
from seasoned.outcome.track import JudgedCall, Track
from seasoned.store import Store
from seasoned.text import plural

_ESCALATED = ("with_escalated_permissions", "dangerouslyDisableSandbox", "require_escalated", "elevated")
# After a convention changed, good sessions fail more often before they find the new one.
_CHANGED_ERROR_RATE = 0.8
# So many sessions are enough for one tool: beyond them, a session with other tools teaches more.
_ENOUGH_OF_A_TOOL = 8
# At most this many of the newest sessions are compared, so that the cost does not grow with the store.
_COMPARED = 400


class MiningOptions(msgspec.Struct, frozen=True):
    """The options of mining."""

    min_messages: int = 30
    max_sessions: int = 30
    max_error_rate: float = 0.5
    changed_since: float | None = None  # when a convention changed
    source: str | None = None  # where sessions took place, as recorded by their agent (cli, telegram …), or the agent
    task_type: TaskType | None = None
    project: str | None = None  # the key of the project to learn from
    max_examples: int = 40
    # A session is finished when its agent says so, or after so long without a new message.
    quiet_seconds: float = 3600.0


class MinableSession(msgspec.Struct, frozen=True):
    """What the selection needs to know about a session that could be mined."""

    row: int
    key: str
    root: str
    written: float  # when it ended, or when its file was written if it has no times
    ended: float | None = None
    project: str | None = None


# As a sentence names them, for one session and for several.
_REASONS = {
    "short": ("has fewer than {min_messages} messages", "have fewer than {min_messages} messages"),
    "open": ("is not finished", "are not finished"),
    "errors": ("has too many failed calls", "have too many failed calls"),
    "ended": ("ended in an error", "ended in an error"),
    "nothing": ("has no call that worked", "have no call that worked"),
    "unsuccessful": ("did not solve its task", "did not solve their task"),
    "unfit": ("has no call that may be shown", "have no call that may be shown"),
    "review": ("is a review", "are reviews"),
    "source": ("did not come from {source!r}", "did not come from {source!r}"),
    "task": ("has another task type", "have another task type"),
    "project": ("belongs to another project", "belong to another project"),
}


def why_nothing(store: Store, options: MiningOptions, now: float, *, among: Collection[int] | None = None) -> str:
    """Why nothing can be learned: sessions counted by reason, as a sentence that says what to do."""
    rows = store.rows("mining.refused", _parameters(options, now))
    counts = Counter(row["reason"] for row in rows if among is None or row["id"] in among)
    if not counts:
        return "No session has been read yet. Sessions are read when they end, or by `seasoned scan`."
    given = {"min_messages": options.min_messages, "source": options.source}
    parts = [
        f"{counts[reason]} {words[counts[reason] > 1].format(**given)}"
        for reason, words in _REASONS.items()
        if counts[reason]
    ]
    said = f"Of {plural(counts.total(), 'session')}, {', '.join(parts)}."
    if counts["short"] and set(counts) <= {"short", "unfit"}:
        return f"{said} Try a lower minimum of messages."
    if counts["open"]:
        said += " A session is finished when its agent says so, or after an hour of quiet."
    return said


def _parameters(options: MiningOptions, now: float) -> dict[str, Any]:
    """Which sessions are wanted, as parameters of a query."""
    names = ("source", "task_type", "project", "min_messages", "max_error_rate", "changed_since")
    given = {name: getattr(options, name) for name in names}
    return {**given, "changed_error_rate": _CHANGED_ERROR_RATE, "latest": now - options.quiet_seconds}


def sessions_scanned(store: Store, options: MiningOptions) -> int:
    """How many sessions were considered."""
    row = store.row("mining.scanned", _parameters(options, 0.0))
    return 0 if row is None else int(row["sessions"])


def minable(store: Store, options: MiningOptions, now: float) -> list[MinableSession]:
    """All sessions of a store that could be mined, the newest first."""
    return [
        MinableSession(
            row["id"],
            f"{row['agent']}:{row['native_id']}",
            row["root"],
            row["written"],
            row["ended"],
            row["project"],
        )
        for row in store.rows("mining.sessions", _parameters(options, now))
    ]


def choose(store: Store, found: Sequence[MinableSession], limit: int) -> list[MinableSession]:
    """The newest sessions that know a tool of which few are taken yet, then the newest others."""
    if len(found) <= limit:
        return list(found)
    taken: Counter[str] = Counter()
    chosen, rest = list[MinableSession](), list[MinableSession]()
    for one in found[: max(limit, _COMPARED)]:
        rows = store.rows("mining.tools_of", {"session_id": one.row})
        tools = [row["tool"] for row in rows if row["ok"] and is_minable(row["tool"])]
        if len(chosen) < limit and any(taken[tool] < _ENOUGH_OF_A_TOOL for tool in tools):
            chosen.append(one)
            taken.update(tools)
        else:
            rest.append(one)
    return [*chosen, *rest[: limit - len(chosen)]]


@lru_cache(maxsize=1024)
def is_minable(tool: str) -> bool:
    """Whether calls of a tool can show how it is called: those of named tools and shells, not what is read or written.

    A search, a page, an edit or a script is one day's content, and every agent knows how to make it.
    """
    known = tool_of(tool)
    # `collaboration__spawn_agent` starts an agent like `spawn_agent`, while `mcp__parcels__find` is the server's own.
    starts_agent = tool_of(tool.rpartition("__")[2]).form in ("agent", "meta")
    return (
        not starts_agent
        and not is_trivial(tool)
        and (known.form == "shell" or (known.form == "api" and known.kind == "general"))
    )


def worked_calls(track: Track) -> tuple[int, ...]:
    """The positions of the calls of a session that worked and can show how a tool is called."""

    def has_worked(call: JudgedCall) -> bool:
        is_done = call.counts_as == "ok" and call.result is not None and not call.is_corrected and not call.is_foreign
        is_shell = tool_of(call.tool).form == "shell"
        return is_done and is_minable(call.tool) and (call.command is not None or not is_shell)

    return tuple(at for at, call in enumerate(track.calls) if has_worked(call))


def is_escalated(arguments: Mapping[str, Any]) -> bool:
    """Whether a call asked for rights that a person had to grant, which another session does not have."""
    return any(bool(arguments.get(name)) for name in _ESCALATED) or (
        arguments.get("sandbox_permissions") not in (None, "", "use_default")
    )
