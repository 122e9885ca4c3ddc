"""Merges what was mined of one project: the second of the two functions that every engine runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from seasoned.experience.learner import read_learned
from seasoned.mine.table import CALLS, SESSIONS, flat_calls, sorted_rows
from seasoned.template.admission.call import admit_call
from seasoned.template.admission.injection import is_injection
from seasoned.template.recall.index import SessionIndex

MISTAKES = pa.schema(
    [
        ("project", pa.string()),
        ("signature", pa.string()),
        ("tool", pa.string()),
        ("program", pa.string()),
        ("failures", pa.int64()),
        ("sessions", pa.int64()),
        ("repaired", pa.int64()),
        ("last", pa.float64()),
        # The arguments of the newest call that repaired it; null if that call may not be shown.
        ("repair", pa.string()),
    ]
)
EXAMPLES = pa.schema(
    [
        ("project", pa.string()),
        ("tool", pa.string()),
        ("arguments", pa.string()),
        ("intent", pa.string()),
        ("sessions", pa.int64()),
        ("last", pa.float64()),
        ("agent", pa.string()),
        ("native_id", pa.string()),
        ("call_id", pa.string()),
    ]
)
_Ref = tuple[str, str, str]  # a call: agent, session, id


class ProjectTables(NamedTuple):
    """All that is known of one project."""

    sessions: pa.Table
    calls: pa.Table
    mistakes: pa.Table
    examples: pa.Table


def merge_project(mined: pa.Table) -> ProjectTables:
    """Merge mined tables of one project, put together in any order; what they hold twice counts once."""
    sessions = sorted_rows(mined)
    calls = flat_calls(sessions)
    counts = pc.list_value_length(sessions["calls"])
    # Of the rows of one session, the one that knows most of its messages stands for it.
    of_session = zip(*[sessions[name].to_pylist() for name in ("agent", "native_id")], strict=True)
    known: dict[tuple[str, str], tuple[int, int]] = {}
    for at, (ref, messages) in enumerate(zip(of_session, sessions["messages"].to_pylist(), strict=True)):
        known[ref] = max(known.get(ref, (0, 0)), (messages, at))
    kept = {at for _, at in known.values()}
    sessions = sessions.drop_columns(["calls", "file"])
    sessions = sessions.append_column("calls", pc.cast(counts, pa.int64()))
    sessions = sessions.append_column("is_copy", pa.array([at not in kept for at in range(len(sessions))], pa.bool_()))
    copies, elsewhere = _copies(calls, {ref: most for ref, (most, _) in known.items()}, sessions)
    calls = calls.append_column("is_copy", pa.array([at in copies for at in range(len(calls))], pa.bool_()))
    found = [
        (row["agent"], row["native_id"], read_learned(row["learned"]))
        for row in sessions.select(["agent", "native_id", "learned", "is_copy"]).to_pylist()
        if row["learned"] is not None and not row["is_copy"]
    ]
    project = sessions["project"][0].as_py() if len(sessions) else None
    shown = _Shown(project, calls, found)
    return ProjectTables(
        sessions.select(SESSIONS.names).cast(SESSIONS),
        calls.select(CALLS.names).cast(CALLS),
        pa.Table.from_pylist(list(_mistakes(project, found, elsewhere, shown)), schema=MISTAKES),
        pa.Table.from_pylist(list(_examples(project, found, elsewhere, shown)), schema=EXAMPLES),
    )


def _copies(
    calls: pa.Table, messages: dict[tuple[str, str], int], sessions: pa.Table
) -> tuple[set[int], frozenset[_Ref]]:
    """The rows of calls that repeat another row, and the calls that belong to another session altogether.

    As in the store, a call belongs to the session that began first. Ids that are unique only within a session are
    compared within it.
    """
    within = pc.binary_join_element_wise(calls["agent"], calls["native_id"], calls["call_id"], "\0")
    keys = pc.if_else(pc.equal(calls["unique_id"], 1), calls["call_id"], within)
    keyed = pa.table({"key": keys, "at": pa.array(range(len(calls)), pa.int64())})
    repeated = keyed.group_by("key").aggregate([("at", "count")])
    repeated = repeated.filter(pc.greater(repeated["at_count"], 1))["key"]
    keyed = keyed.filter(pc.is_in(keyed["key"], value_set=repeated.combine_chunks()))
    if not len(keyed):
        return set(), frozenset()
    rows = calls.select(["agent", "native_id", "call_id", "source", "row", "number", "result"]).take(keyed["at"])
    began: dict[tuple[str, str], float | None] = {}
    for agent, native_id, started in zip(
        *[sessions[name].to_pylist() for name in ("agent", "native_id", "started")], strict=True
    ):
        before = began.setdefault((agent, native_id), started)
        began[agent, native_id] = started if before is None else min(before, started or before)
    groups: dict[str, list[tuple[Any, ...]]] = {}
    for key, at, row in zip(keyed["key"].to_pylist(), keyed["at"].to_pylist(), rows.to_pylist(), strict=True):
        ref = row["agent"], row["native_id"]
        first = began[ref]
        order = (first is None, first or 0.0, messages[ref], ref[1], ref[0], row["result"] is None, at)
        groups.setdefault(key, []).append((order, at, (*ref, row["call_id"])))
    copies: set[int] = set()
    elsewhere: set[_Ref] = set()
    for group in groups.values():
        (_, _, owner), *others = sorted(group)
        copies |= {at for _, at, _ in others}
        elsewhere |= {ref for _, _, ref in others if ref != owner}
    return copies, frozenset(elsewhere)


_Found = list[tuple[str, str, SessionIndex]]


class _Shown:
    """The calls that are named as examples or repairs, where they may be shown."""

    def __init__(self, project: str | None, calls: pa.Table, found: _Found) -> None:
        named = {one.call_id for _, _, index in found for one in index.worked}
        named |= {one.repaired_by for _, _, index in found for one in index.failures if one.repaired_by is not None}
        chosen = calls.filter(pc.is_in(calls["call_id"], value_set=pa.array(sorted(named), pa.string())))
        rows = chosen.select(["agent", "native_id", "call_id", "tool", "arguments", "intent", "is_copy"]).to_pylist()
        self._rows = {(row["agent"], row["native_id"], row["call_id"]): row for row in rows}
        self._project = project or ""
        self._admitted: dict[tuple[str, str], bool] = {}

    def row(self, ref: _Ref) -> dict[str, Any] | None:
        """The call; None if it may not be shown to a session."""
        row = self._rows.get(ref)
        return row if row is not None and self._is_admitted(row["tool"], row["arguments"]) else None

    def _is_admitted(self, tool: str, arguments: str) -> bool:
        key = tool, arguments
        if key not in self._admitted:
            given = msgspec.json.decode(arguments)
            self._admitted[key] = isinstance(given, dict) and bool(admit_call(tool, given, project=self._project))
        return self._admitted[key]


def _mistakes(
    project: str | None, found: _Found, elsewhere: frozenset[_Ref], shown: _Shown
) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[str, str, str], list[tuple[Any, ...]]] = {}
    for agent, native_id, index in found:
        for one in index.failures:
            if (agent, native_id, one.call_id) not in elsewhere:
                repair = None if one.repaired_by is None else (agent, native_id, one.repaired_by)
                key = one.signature, one.tool, one.program
                groups.setdefault(key, []).append((one.time, agent, native_id, one.call_id, repair))
    for (signature, tool, program), cases in sorted(groups.items()):
        cases.sort(key=lambda case: case[:4])
        rows = [row for case in reversed(cases) if case[4] is not None and (row := shown.row(case[4])) is not None]
        yield {
            "project": project,
            "signature": signature,
            "tool": tool,
            "program": program,
            "failures": len(cases),
            "sessions": len({case[1:3] for case in cases}),
            "repaired": sum(case[4] is not None for case in cases),
            "last": cases[-1][0],
            "repair": rows[0]["arguments"] if rows else None,
        }


def _examples(
    project: str | None, found: _Found, elsewhere: frozenset[_Ref], shown: _Shown
) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[str, str], list[tuple[float, _Ref, str | None]]] = {}
    for agent, native_id, index in found:
        for one in index.worked:
            ref = agent, native_id, one.call_id
            row = None if ref in elsewhere else shown.row(ref)
            if row is not None:
                groups.setdefault((row["tool"], row["arguments"]), []).append((one.time, ref, row["intent"]))
    for (tool, arguments), cases in sorted(groups.items()):
        last, ref, intent = max(cases, key=lambda case: case[:2])
        yield {
            "project": project,
            "tool": tool,
            "arguments": arguments,
            # The words of a session are data: those that give orders to a reader are left out.
            "intent": None if intent is None or is_injection(intent) else intent,
            "sessions": len({case[1][:2] for case in cases}),
            "last": last,
            **dict(zip(("agent", "native_id", "call_id"), ref, strict=True)),
        }
