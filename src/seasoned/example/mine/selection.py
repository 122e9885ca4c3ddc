"""Which sessions are experienced enough to learn from, and which of their calls worked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.tool import TaskType, is_trivial, tool_of
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import is_retry
from seasoned.lesson.failure.repair import CallTargets
from seasoned.lesson.failure.similarity import TRUNCATION_MARK
from seasoned.outcome.track import JudgedCall, Track
from seasoned.store import Store
from seasoned.text import plural

_NOTHING = LazyRegex(
    r"(?i)\s*(?:no (?:files?|matches|results?)(?: (?:were )?found)?\.?|found 0 files|\[\]|\{\}|null|none|\"\"|0)?\s*\Z",
)
_ESCALATED = ("with_escalated_permissions", "dangerouslyDisableSandbox", "require_escalated", "elevated")
# A call that is repeated in another form within this many calls did not succeed.
_REDONE_WITHIN = 6
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


class WorkedCalls:
    """The calls of one session that worked, and the targets of all, each computed when it is first needed."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.targets = CallTargets(track.calls)
        self.positions = tuple(at for at in range(len(track.calls)) if self._has_worked(at))

    def _has_worked(self, at: int) -> bool:
        call = self.track.calls[at]
        if call.counts_as != "ok" or call.is_corrected or call.is_foreign or not is_minable(call.tool):
            return False
        is_shell = tool_of(call.tool).form == "shell"
        if call.result is None or (call.command is None and (is_shell or _NOTHING.compiled.match(call.result[:60]))):
            return False
        return not self._is_redone(at)

    def _is_redone(self, at: int) -> bool:
        """Whether the agent soon repeated the call in another form, although nothing had failed in between."""
        call = self.track.calls[at]
        for later, other in enumerate(self.track.calls[at + 1 : at + 1 + _REDONE_WITHIN], at + 1):
            if other.counts_as == "failed" or call.command is not None:
                return False
            if other.tool != call.tool or other.counts_as != "ok" or other.message <= call.message:
                continue
            if other.raw_arguments != call.raw_arguments and is_retry(self.targets[at], self.targets[later]):
                return True
        return False


def is_whole(call: JudgedCall) -> bool:
    """Whether the arguments were kept in full: a call that is cut off cannot be shown."""
    return "… [" not in call.raw_arguments or not any(
        TRUNCATION_MARK.compiled.search(text) for text in _texts(call.arguments)
    )


def _texts(value: object, depth: int = 8) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth - 1)


def is_escalated(arguments: Mapping[str, Any]) -> bool:
    """Whether a call asked for rights that a person had to grant, which another session does not have."""
    return any(bool(arguments.get(name)) for name in _ESCALATED) or (
        arguments.get("sandbox_permissions") not in (None, "", "use_default")
    )
