"""Which sessions are experienced enough to learn from, and which of their calls worked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, zip_longest
from pathlib import PurePosixPath
from typing import Any

import msgspec

from seasoned.command.tool import TaskType, argument, is_trivial, tool_of
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import CallTarget, is_retry
from seasoned.lesson.failure.repair import CallTargets
from seasoned.lesson.failure.similarity import TRUNCATION_MARK
from seasoned.outcome.track import JudgedCall, Track
from seasoned.store import Store
from seasoned.text import plural

# At most this many sessions are compared with each other, so that the cost does not grow with the store. If more are
# wanted, the newest of every folder are taken.
_COMPARED = 400
_NOTHING = LazyRegex(
    r"(?i)\s*(?:no (?:files?|matches|results?)(?: (?:were )?found)?\.?|found 0 files|\[\]|\{\}|null|none|\"\"|0)?\s*\Z",
)
_NOTHING_MATCHED = "Exit code 1: "
_COMPLAINS = LazyRegex(
    r"(?im)^(?:\S{2,61}+(?<=:) ){0,3}(?:fatal|error|panic|traceback|usage)\b[:( ]|^--- FAIL|^FAIL\b|^\d+ failed"
    r"|\b(?:command not found|no such file or directory|permission denied)$"
    r"|^Process running with session|^Command running in (?:the )?background"
)
# Every complaint holds one of these words.
_COMPLAINT = ("error", "fail", "fatal", "panic", "traceback", "usage", "not found", "no such", "denied", "running")
_ESCALATED = ("with_escalated_permissions", "dangerouslyDisableSandbox", "require_escalated", "elevated")


class MiningOptions(msgspec.Struct, frozen=True):
    """The options of mining."""

    min_messages: int = 30
    max_sessions: int = 30
    max_error_rate: float = 0.5
    # When a convention changed: since then, good sessions fail more often before they find the new one.
    changed_since: float | None = None
    changed_error_rate: float = 0.8
    agent: str | None = None
    source: str | None = None  # where sessions took place, as recorded by their agent (cli, telegram …), or the agent
    task_type: TaskType | None = None
    project: str | None = None  # the key of the project to learn from
    max_examples: int = 40
    # Examples of one pattern, each of another lineage, for tools that sometimes fail; others need only one.
    of_pattern: int = 3
    # A session is finished when its agent says so, or after so long without a new message.
    quiet_seconds: float = 3600.0
    allow_unsuccessful: bool = False  # also mine sessions whose source says that the task failed
    fewest_lineages: int = 2  # a step recurs when this many lineages show it
    redone_within: int = 6  # a call that is repeated in another form within this many calls did not succeed
    max_argument_chars: int = 600
    max_sources: int = 50


class MinableSession(msgspec.Struct, frozen=True):
    """What the selection needs to know about a session that could be mined."""

    key: str
    root: str
    source: str  # the folder of histories that it comes from, or its agent if the folder is unknown
    tools: tuple[tuple[str, int, int], ...]  # name, calls that worked, calls that failed
    ended: float | None = None
    row: int = 0
    written: float = 0.0  # when it ended, or when its file was written if it has no times


def refusal(track: Track, options: MiningOptions, now: float, written: float = 0.0) -> str | None:
    """Why nothing is learned from a session; None if it qualifies."""
    if options.agent is not None and track.ref.agent != options.agent:
        return "another agent's"
    if options.source is not None and options.source not in (track.ref.agent, track.platform):
        return "from elsewhere"
    if options.task_type is not None and track.task_type != options.task_type:
        return "another task type"
    if options.project is not None and track.project != options.project:
        return "another project's"
    if track.messages < options.min_messages:
        return "too short"
    if track.relation == "review":
        return "a review"
    counts = track.counts
    if not counts.ok:
        return "nothing worked"
    ended = written if track.ended is None else track.ended
    is_after = options.changed_since is not None and ended >= options.changed_since
    if counts.failed > (options.changed_error_rate if is_after else options.max_error_rate) * counts.counted:
        return "too many errors"
    if not track.has_ended and track.ended is not None and track.ended > now - options.quiet_seconds:
        return "not finished"
    last = next(call for call in reversed(track.calls) if call.is_counted)
    return "ended in an error" if last.has_failed else None


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
    "agent": ("belongs to another agent", "belong to another agent"),
    "task": ("has another task type", "have another task type"),
    "project": ("belongs to another project", "belong to another project"),
}


def why_nothing(store: Store, options: MiningOptions, now: float, *, among: Collection[int] | None = None) -> str:
    """Why nothing can be learned: sessions counted by reason, as a sentence that says what to do."""
    given = {name: getattr(options, name) for name in ("agent", "task_type", "project", "min_messages")}
    given |= {"max_error_rate": options.max_error_rate, "latest": now - options.quiet_seconds}
    rows = store.rows("mining.refused", {**given, "allow_unsuccessful": int(options.allow_unsuccessful)})
    counts = Counter(row["reason"] for row in rows if among is None or row["id"] in among)
    if not counts:
        return "No session has been read yet. Sessions are read when they end, or by `seasoned scan`."
    parts = [
        f"{counts[reason]} {words[counts[reason] > 1].format(min_messages=options.min_messages)}"
        for reason, words in _REASONS.items()
        if counts[reason]
    ]
    said = f"Of {plural(counts.total(), 'session')}, {', '.join(parts)}."
    if counts["short"]:
        return f"{said} Try a lower minimum of messages."
    if counts["open"]:
        said += " A session is finished when its agent says so, or after an hour of quiet."
    return said


def minable_session_of(track: Track, source: str | None = None) -> MinableSession:
    """What the selection needs to know about a track."""
    ok = Counter(call.tool for call in track.calls if call.counts_as == "ok")
    failed = Counter(call.tool for call in track.calls if call.has_failed)
    tools = tuple((tool, ok[tool], failed[tool]) for tool in sorted(ok | failed))
    folder = source or track.ref.agent
    return MinableSession(str(track.ref), track.root, folder, tools, track.ended)


def select(experiences: Iterable[MinableSession], limit: int) -> list[MinableSession]:
    """The most useful sessions: with many tools, also tools that failed at first, of many lineages and folders.

    Of equally useful ones, every second is the newest; the others are spread over the time before.
    """
    left = sorted(experiences, key=_newest)
    if len(left) <= limit:
        return left
    left = _spread(left, limit)
    if len(left) <= limit:
        return left
    left = _also_earlier(left)
    chosen: list[MinableSession] = []
    tools: Counter[str] = Counter()
    roots: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    worth = [_worth(one) for one in left]
    while left and len(chosen) < limit:
        best, best_gain = 0, -1.0
        for at, one in enumerate(left):
            gain = sum(weight / (1 + tools[tool]) for tool, weight in worth[at])
            gain /= (1 + roots[one.root]) * (1 + sources[one.source]) ** 0.5
            if gain > best_gain:
                best, best_gain = at, gain
        one = left.pop(best)
        worked = worth.pop(best)
        tools.update(tool for tool, _ in worked)
        roots[one.root] += 1
        sources[one.source] += 1
        chosen.append(one)
    return chosen


def _newest(one: MinableSession) -> tuple[float, str]:
    return -(one.ended or one.written), one.key


def _spread(experiences: Sequence[MinableSession], limit: int) -> list[MinableSession]:
    """The newest sessions of every folder in turn, until there are enough to compare."""
    by_source: dict[str, list[MinableSession]] = {}
    for one in experiences:
        by_source.setdefault(one.source, []).append(one)
    turns = zip_longest(*[by_source[source] for source in sorted(by_source)])
    return list(islice((one for turn in turns for one in turn if one is not None), max(limit, _COMPARED)))


def _also_earlier(newest_first: list[MinableSession]) -> list[MinableSession]:
    """Alternates between the newest and older ones, spread evenly: the newest are easily planted."""
    count, step = len(newest_first), len(newest_first)
    earlier: list[int] = []
    while step > 1:
        # Halves, then quarters and so on, so that any beginning of the list is spread over all.
        earlier += range(step // 2, count, step)
        step //= 2
    turns = zip_longest(range(count), earlier)
    order = dict.fromkeys(at for turn in turns for at in turn if at is not None)
    return [newest_first[at] for at in order]


def _worth(one: MinableSession) -> list[tuple[str, float]]:
    """What each tool of a session adds; a tool that failed and then worked is worth more."""
    worth = []
    for tool, ok, failed in one.tools:
        if ok and is_minable(tool):
            worth.append((tool, 1.0))
            if failed:
                worth.append((f"repaired {tool}", 2.0))
    return worth


def _session_filter(options: MiningOptions) -> dict[str, str | None]:
    """Which sessions are considered, as parameters of a query."""
    return {name: getattr(options, name) for name in ("agent", "source", "task_type", "project")}


def sessions_scanned(store: Store, options: MiningOptions) -> int:
    """How many sessions were considered."""
    row = store.row("mining.scanned", _session_filter(options))
    return 0 if row is None else int(row["sessions"])


def minable(store: Store, options: MiningOptions, now: float) -> list[MinableSession]:
    """All sessions of a store that could be mined, without their tools."""
    rows = store.rows(
        "mining.sessions",
        {
            **_session_filter(options),
            "min_messages": options.min_messages,
            "max_error_rate": options.max_error_rate,
            "changed_since": options.changed_since,
            "changed_error_rate": options.changed_error_rate,
            "latest": now - options.quiet_seconds,
            "allow_unsuccessful": int(options.allow_unsuccessful),
        },
    )
    found = []
    for row in rows:
        key = f"{row['agent']}:{row['native_id']}"
        source = source_of(row["agent"], row["path"])
        found.append(MinableSession(key, row["root"], source, (), row["ended"], row["id"], row["written"]))
    return found


def choose(store: Store, found: Sequence[MinableSession], limit: int) -> list[MinableSession]:
    """The most useful of these sessions; tools are looked up only for those that are compared."""
    if len(found) > limit:
        found = _spread(sorted(found, key=_newest), limit)
    return select([msgspec.structs.replace(one, tools=_tools(store, one.row)) for one in found], limit)


def _tools(store: Store, row: int) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (tool["tool"], tool["ok"], tool["failed"]) for tool in store.rows("mining.tools_of", {"session_id": row})
    )


def source_of(agent: str, path: str | None) -> str:
    """The folder of histories that a file belongs to; folders named by date count as one."""
    if not path:
        return agent
    folder = PurePosixPath(path.replace("\\", "/")).parent
    while folder.name.isdigit():
        folder = folder.parent
    return f"{agent}:{folder}"


@lru_cache(maxsize=1024)
def is_minable(tool: str) -> bool:
    """Whether calls of a tool show skill: plans, thoughts and questions to the user do not."""
    return not is_trivial(tool) and tool_of(tool).kind != "meta"


class WorkedCalls:
    """The calls of one session that worked, and the targets of all, each computed when it is first needed."""

    def __init__(self, track: Track, options: MiningOptions) -> None:
        self.track = track
        self._options = options
        self.targets = CallTargets(track.calls)
        self.positions = tuple(at for at in range(len(track.calls)) if self._has_worked(at))

    def _has_worked(self, at: int) -> bool:
        call = self.track.calls[at]
        if call.counts_as != "ok" or call.is_corrected or call.is_foreign or not is_minable(call.tool):
            return False
        return bool(call.result is not None) and not _found_nothing(call) and not self.is_redone(at)

    def is_redone(self, at: int) -> bool:
        """Whether the agent soon repeated the call in another form, although nothing had failed in between."""
        call = self.track.calls[at]
        if tool_of(call.tool).form == "file_read":
            return False  # Reading on is not reading again.
        for later, other in enumerate(self.track.calls[at + 1 : at + 1 + self._options.redone_within], at + 1):
            if other.counts_as == "failed":
                return False
            if other.tool != call.tool or other.counts_as != "ok" or other.message <= call.message:
                continue
            if other.raw_arguments != call.raw_arguments and _redoes(self.targets[at], self.targets[later]):
                return True
        return False


def _found_nothing(call: JudgedCall) -> bool:
    """Whether a call that did not fail found nothing, is still running, or printed an error that a pipe let through."""
    speaks = tool_of(call.tool).form
    if speaks in ("search", "web", "api", "python", "file_read"):
        return bool(_NOTHING.compiled.match((call.result or "")[:60]))
    return call.reason.startswith(_NOTHING_MATCHED) or _complains((call.result or "")[:1000])


def _complains(said: str) -> bool:
    low = said.lower()
    # Case folding maps some letters outside ASCII to these.
    return (not low.isascii() or any(word in low for word in _COMPLAINT)) and bool(_COMPLAINS.compiled.search(said))


def _redoes(first: CallTarget, later: CallTarget) -> bool:
    """Whether a second call replaces the first; running a check again does not."""
    if first.runs:
        return _amends(first, later)
    if first.form == "file_write":
        return first.path == later.path and _edits_again(first, later)
    return _refines(first.text, later.text) if first.form == "search" else is_retry(first, later)


def _refines(first: str, later: str) -> bool:
    """Whether a search is repeated with more or fewer of the same words."""
    short, long = sorted((first.casefold(), later.casefold()), key=len)
    return len(short) > 3 and short in long


def _edits_again(first: CallTarget, later: CallTarget) -> bool:
    """Whether an edit rewrites the whole file, or replaces what the first one replaced or wrote."""
    if first.writes_whole_file or later.writes_whole_file:
        return first.writes_whole_file and later.writes_whole_file
    replaced = argument(later.arguments, "old")
    return bool(replaced) and replaced in (argument(first.arguments, "old"), argument(first.arguments, "new"))


def _amends(first: CallTarget, later: CallTarget) -> bool:
    """The same program on the same things with other options, or a commit that replaces the last one."""
    for run in later.runs:
        if run.label == "git commit" and "--amend" in run.options:
            return any(other.label == "git commit" for other in first.runs)
    return (
        [(run.label, run.operands) for run in first.runs] == [(run.label, run.operands) for run in later.runs]
        and [run.options for run in first.runs] != [run.options for run in later.runs]
        and not any(run.is_check or run.is_inline for run in first.runs)
    )


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
