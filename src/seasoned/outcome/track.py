"""A session as insight uses it: its own calls in order, each with its judgement."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from seasoned.command.tool import TaskType, command_of, kind_of, task_type_of
from seasoned.lazy_regex import lazy_property
from seasoned.outcome.error_rate import NOTHING_MORE, Counts, Include, count_name, counts_as
from seasoned.project import project_of
from seasoned.session import Relation, Session, SessionRef, ToolCall, Usage
from seasoned.store import Store

decode_arguments = msgspec.json.Decoder(dict[str, Any]).decode
# What enters the error rate. Everything else is reported separately.
COUNTED = ("ok", "failed")


class JudgedCall(msgspec.Struct, frozen=True, dict=True):
    """One call with its judgement."""

    # Among the session's own calls, from 0, without copies and synthetic calls.
    position: int
    message: int
    tool: str
    kind: str
    # Where the call is counted: ok, failed, unclear, declined, cancelled, …
    counts_as: str
    verdict: str
    fault: str
    time: float | None = None
    raw_arguments: str = "{}"
    result: str | None = None
    reason: str = ""
    intent: str | None = None  # the words that led to it
    is_corrected: bool = False  # the user then corrected it
    is_foreign: bool = False  # it repeats a sentence of an earlier result, so its words are not the agent's
    call_id: str = ""
    evidence: str = ""  # how its outcome is known: flag, exit_code, structure, wording, none; empty if not read

    @property
    def is_counted(self) -> bool:
        return self.counts_as in COUNTED

    @property
    def has_failed(self) -> bool:
        return self.counts_as == "failed"

    @lazy_property
    def arguments(self) -> dict[str, Any]:
        """Decoded on first use and cached, since most calls never need them. Do not change the dict."""
        return decode_arguments(self.raw_arguments)

    @lazy_property
    def command(self) -> str | None:
        """The shell command that it ran; None if it is not a shell call."""
        return command_of(ToolCall("", self.tool, self.arguments))


class Track(msgspec.Struct, frozen=True):
    """A session's facts and its own calls in order."""

    ref: SessionRef
    messages: int
    calls: tuple[JudgedCall, ...]
    # The lineage it belongs to: its sessions resemble each other and form one cluster.
    root: str
    task_type: TaskType | None = None
    title: str | None = None
    model: str | None = None
    started: float | None = None
    ended: float | None = None
    parent: SessionRef | None = None
    relation: Relation | None = None
    compactions: tuple[int, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = None
    copies: int = 0
    cwd: str | None = None
    # The key of its project; None if the session belongs to none.
    project: str | None = None
    has_ended: bool = False  # its agent said so, and it did not go on since
    platform: str | None = None

    @property
    def counts(self) -> Counts:
        return counts_of(self.calls)

    def counted(self) -> Iterator[JudgedCall]:
        """The calls that enter the error rate."""
        return (call for call in self.calls if call.is_counted)


def counts_of(calls: Iterable[JudgedCall]) -> Counts:
    """Count calls by outcome."""
    return Counts(**Counter(call.counts_as for call in calls))


def track_of(session: Session, *, include: Include = NOTHING_MORE) -> Track:
    """Judge a session that was read. Nothing is truncated or redacted: keep it in memory only."""
    # Imported here: most tracks come from the store, already judged, and the judge is slow to import.
    from seasoned.outcome.judge import judge_session

    calls = []
    kinds: dict[str, int] = {}
    for position, (call, verdict) in enumerate(judge_session(session)):
        kind, counts_as = kind_of(call), count_name(call, verdict, include)
        if counts_as != "trivial":
            kinds[kind] = kinds.get(kind, 0) + 1
        calls.append(
            JudgedCall(
                position=position,
                message=call.message,
                tool=call.tool,
                kind=kind,
                counts_as=counts_as,
                verdict=verdict.verdict,
                fault=verdict.fault,
                time=call.time,
                raw_arguments=msgspec.json.encode(call.arguments).decode("utf-8", "replace"),
                result=None if call.result is None else call.result.text,
                reason=verdict.reason,
                evidence=verdict.evidence,
            )
        )
    project = project_of(session.cwd, remote=session.remote, application=session.application)
    return Track(
        ref=session.ref,
        messages=session.message_count,
        calls=tuple(calls),
        root=str(session.parent or session.ref),
        task_type=task_type_of(kinds),
        title=session.title,
        model=session.model,
        started=session.started,
        ended=session.ended,
        parent=session.parent,
        relation=session.relation,
        compactions=session.compactions,
        usage=session.usage or Usage(),
        cost_usd=session.cost_usd,
        cwd=session.cwd,
        project=None if project is None else project.key,
        platform=session.platform,
    )


_compactions = msgspec.json.Decoder(tuple[int, ...]).decode


def tracks(
    store: Store,
    *,
    include: Include = NOTHING_MORE,
    agent: str | None = None,
    project: str | None = None,
    sessions: Iterable[int] | None = None,
) -> Iterator[Track]:
    """Sessions of the store in the order of row ids: all, those of an agent or project, or those with these ids."""
    if sessions is not None:
        for session_id in sorted(sessions):
            row = store.row("session.track", {"id": session_id})
            if row is not None:
                calls = map(tuple, store.rows("call.of_track", {"session_id": session_id}))
                yield make_track(row, calls, include)
        return
    chosen = {"agent": agent, "project": project}
    by_session = groupby(store.each("call.of_tracks", chosen), key=itemgetter(0))
    following = next(by_session, None)
    for row in store.each("session.tracks", chosen):
        # Both queries are ordered by session id; a session without own calls has no group.
        if following is not None and following[0] == row["id"]:
            yield make_track(row, (tuple(call)[1:] for call in following[1]), include)
            following = next(by_session, None)
        else:
            yield make_track(row, (), include)


def compressed(
    store: Store, *, include: Include = NOTHING_MORE, agent: str | None = None, project: str | None = None
) -> Iterator[Track]:
    """The sessions with a compressed context, and those that they continue."""
    rows = store.rows("session.compressed", {"agent": agent, "project": project})
    return tracks(store, include=include, sessions=[row["id"] for row in rows])


def make_track(row: sqlite3.Row | dict[str, Any], calls: Iterable[Sequence[Any]], include: Include) -> Track:
    """A session from its row and the rows of its calls without copies, in the order of `call.of_track`."""
    ref = SessionRef(row["agent"], row["native_id"])
    return Track(
        ref=ref,
        messages=row["messages"],
        calls=tuple([_call(position, call, include) for position, call in enumerate(calls)]),
        root=row["root"],
        task_type=row["task_type"],
        title=row["title"],
        model=row["model"],
        started=row["started"],
        ended=row["ended"],
        parent=SessionRef(row["parent_agent"], row["parent_native_id"]) if row["parent_agent"] else None,
        relation=row["relation"],
        compactions=_compactions(row["compactions"]),
        usage=Usage(*[row[f"{name}_tokens"] for name in Usage.__struct_fields__]),
        cost_usd=row["cost_usd"],
        copies=row["copies"],
        cwd=row["cwd"],
        project=row["project"],
        has_ended=bool(row["has_ended"]),
        platform=row["platform"],
    )


def _call(position: int, row: Sequence[Any], include: Include) -> JudgedCall:
    # By position: a report reads millions of calls, and looking up columns by name would dominate its time.
    message, tool, kind, counted, verdict, fault, at, arguments, result, reason, intent, corrected, foreign, *last = row
    if include != NOTHING_MORE:
        # The store holds the default count; only other settings need computing.
        counted = counts_as(tool, verdict, fault, include)
    said = (arguments, result, reason, intent, bool(corrected), bool(foreign), *last)
    return JudgedCall(position, message, tool, kind, counted, verdict, fault, at, *said)
