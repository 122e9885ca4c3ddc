"""The sessions of a running experiment, with their calls up to the moment when their outcome is final."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.live.assignment import Split, load_split
from seasoned.report.profile import SessionMeasures, measures_of
from seasoned.store import Database, DatabaseRow, Store

# After so long without a call, later calls of a session no longer count. Mining uses the same pause.
PAUSE_SECONDS = 3600.0
WINDOW_SECONDS = 24 * 3600.0  # after its assignment; later calls do not count
_strings = msgspec.json.Decoder(tuple[str, ...]).decode


class LiveSession(msgspec.Struct, frozen=True, kw_only=True):
    """One assigned session: its arm, what it was shown or would have been, and its calls that count."""

    session: str
    arm: str
    at: float  # when it was assigned
    is_settled: bool = True  # later calls no longer count
    exposed_arm: str | None = None
    shown: tuple[str, ...] = ()  # the examples in its block
    # By arm: the examples that a session of the control would have been shown there.
    foregone: dict[str, tuple[str, ...]] = {}
    tools: dict[str, tuple[int, int]] = {}  # by tool: calls that worked and calls that failed
    measures: SessionMeasures | None = None  # None without a call that counts
    seconds_to_success: float | None = None  # since its assignment; None if no call worked, or its time is unknown

    @property
    def ok(self) -> int:
        return sum(ok for ok, _ in self.tools.values())

    @property
    def failed(self) -> int:
        return sum(failed for _, failed in self.tools.values())


class SharedOutcome(msgspec.Struct, frozen=True):
    """The outcome of a session for other machines: counts by tool, no text."""

    is_settled: bool
    tools: dict[str, tuple[int, int]]
    measures: SessionMeasures | None
    seconds_to_success: float | None


_outcome = msgspec.json.Decoder(SharedOutcome).decode


def load_live(
    database: Database,
    split: Split,
    *,
    now: float,
    history: Store | None = None,
) -> list[LiveSession]:
    """The sessions that this split assigned, in order of arrival.

    What counts of a session ends with the first hour without a call, or with its window. `history` is the store that
    has the calls, where assignments are shared in another database; what is not in it comes from the outcomes that
    other machines shared.
    """
    calls = history or database
    if not isinstance(calls, Store):
        raise UsageError("PostgreSQL holds the assignments but not the calls. Give the store with the histories.")
    foregone: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in database.rows("experiment.foregone", {"experiment": split.experiment}):
        foregone.setdefault(row["session"], {})[row["arm"]] = _strings(row["example_ids"])
    shared = {row["session"]: row for row in database.rows("experiment.outcomes", {"experiment": split.experiment})}
    found = []
    for row in database.rows("experiment.assignments", {"experiment": split.experiment}):
        if row["split"] != split.digest:
            continue
        name = row["session"]
        one = LiveSession(
            session=name,
            arm=row["arm"],
            at=row["at"],
            is_settled=False,
            exposed_arm=row["exposed_arm"],
            shown=() if row["example_ids"] is None else _strings(row["example_ids"]),
            foregone=foregone.get(name, {}),
        )
        if name not in shared or calls.row("session.find_ref", _key(name)) is not None:
            one = _with_outcome(calls, one, now=now)
        else:
            one = msgspec.structs.replace(one, **msgspec.structs.asdict(_outcome(shared[name]["document"])))
        found.append(one)
    return found


def _with_outcome(store: Store, one: LiveSession, *, now: float) -> LiveSession:
    key = _key(one.session)
    rows = store.rows("call.of_lineage", key)
    window_end = one.at + WINDOW_SECONDS
    last = _last_before_pause(one.at, [row["time"] for row in rows if row["time"] is not None])
    # A session that was assigned but never read may still come with a later scan.
    is_heard = bool(rows) or store.row("session.find_ref", key) is not None
    end = min(window_end, last + PAUSE_SECONDS) if is_heard else window_end
    counted = [row for row in rows if row["time"] is None or row["time"] <= min(window_end, last)]
    tools: dict[str, tuple[int, int]] = {}
    for row in counted:
        ok, failed = tools.get(row["tool"], (0, 0))
        has_failed = row["counts_as"] == "failed"
        tools[row["tool"]] = (ok + (not has_failed), failed + has_failed)
    return msgspec.structs.replace(
        one,
        is_settled=end <= now,
        tools=tools,
        measures=_measures(counted),
        seconds_to_success=_seconds_to_success(one, counted),
    )


class _MeasuredRow(msgspec.Struct, frozen=True):
    tool: str
    counts_as: str


def _measures(rows: Sequence[DatabaseRow]) -> SessionMeasures | None:
    """A turn is an answer of the model that made calls."""
    turns: dict[tuple[int, int], int] = {}
    calls = [_MeasuredRow(row["tool"], row["counts_as"]) for row in rows]
    numbers = [turns.setdefault((row["session_id"], row["message"]), len(turns) + 1) for row in rows]
    return measures_of(calls, numbers) if calls else None


def _seconds_to_success(one: LiveSession, rows: Sequence[DatabaseRow]) -> float | None:
    first = next((row["time"] for row in rows if row["counts_as"] == "ok"), None)
    return None if first is None else max(0.0, first - one.at)


def _key(session: str) -> dict[str, str]:
    agent, _, native_id = session.partition(":")
    return {"agent": agent, "native_id": native_id}


def share_outcomes(database: Database, history: Store, *, now: float) -> int:
    """Share the outcomes of this machine's assigned sessions; returns how many are new or changed."""
    news = []
    for row in database.rows("experiment.names"):
        split = load_split(database, row["experiment"])
        known = {one["session"]: one for one in database.rows("experiment.outcomes", {"experiment": split.experiment})}
        # Settled outcomes never change.
        for session in load_live(database, split, now=now, history=history):
            shared = known.get(session.session)
            if shared is not None and shared["is_settled"]:
                continue
            if history.row("session.find_ref", _key(session.session)) is None:
                continue
            outcome = SharedOutcome(session.is_settled, session.tools, session.measures, session.seconds_to_success)
            document = msgspec.json.encode(outcome).decode()
            if shared is None or shared["document"] != document:
                key = {"experiment": split.experiment, "session": session.session}
                news.append({**key, "document": document, "is_settled": int(session.is_settled), "at": now})
    if news:
        with database.write():
            database.run_many("experiment.keep_outcome", news)
    return len(news)


def _last_before_pause(begun: float, times: Iterable[float]) -> float:
    """The time of the last call before the first long silence."""
    last = begun
    for time in sorted(times):
        if time > last + PAUSE_SECONDS:
            break
        last = max(last, time)
    return last
