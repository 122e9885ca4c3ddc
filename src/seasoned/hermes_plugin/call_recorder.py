"""Records each call that Hermes makes: it is judged and stored at once, in the background.

A later scan of Hermes' own database recognises the same calls by their ids and completes them.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from seasoned.config import Config
from seasoned.example.library.storage import cached_library
from seasoned.example.library.upkeep import watch
from seasoned.hermes_plugin.host import BackgroundThread, log
from seasoned.history.reader.hermes_db import AGENT, NAME
from seasoned.marks import is_synthetic_id
from seasoned.redact.key import Secrecy, load_key
from seasoned.scan.aggregates import update_aggregates
from seasoned.scan.file_reader import FileReader
from seasoned.scan.store_writer import StoreWriter
from seasoned.session import Marks, Message, Relation, Result, Session, SessionRef, ToolCall
from seasoned.store import Store, open_store

_MOST = 2000
# The guard reads all sessions that were shown an example, too much for every turn.
_GUARD_SECONDS = 30.0
_FLUSH_SECONDS = 0.5


class HermesTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, as known when the model is asked. The calls that follow belong to it."""

    said: str = ""  # the user's last words
    messages: int = 0  # before the answer that is asked for now
    model: str | None = None
    parent: str | None = None
    relation: Relation | None = None


class CallRecorder:
    """Receives calls, and has them judged and stored by a background thread."""

    def __init__(
        self,
        config: Config,
        background: BackgroundThread,
        *,
        on_ruling: Callable[[Store], None] = lambda store: None,
    ) -> None:
        self._config = config
        self._on_ruling = on_ruling
        self._background = background
        self._turns: OrderedDict[str, HermesTurn] = OrderedDict()
        self._positions: dict[str, int] = {}
        self._reader: FileReader | None = None
        self._touched: set[int] = set()
        self._has_failures = False
        self._guarded_at = float("-inf")

    def hear(self, session: str, turn: HermesTurn) -> None:
        """Remember the turn that calls belong to from now on."""
        self._turns[session] = turn
        self._turns.move_to_end(session)
        if len(self._turns) > _MOST:
            self._turns.popitem(last=False)

    def called(self, session: str, call_id: str, tool: str, arguments: object, result: object, status: str) -> None:
        """Have a call judged and stored."""
        # Calls inside `execute_code` have no session. Synthetic ids belong to the calls of our own block.
        if not session or not call_id or not tool or is_synthetic_id(call_id):
            return
        text = result if isinstance(result, str) else msgspec.json.encode(result, enc_hook=str).decode()
        now = time.time()
        call = ToolCall(
            id=call_id,
            tool=tool,
            arguments=dict(arguments) if isinstance(arguments, dict) else {},
            result=Result(text, Marks(declined=status == "blocked", interrupted=status == "cancelled"), now),
            time=now,
        )
        turn = self._turns.get(session, HermesTurn())
        self._background.submit("Judging", lambda: self._write(SessionRef(AGENT, session), call, turn))

    def turn_ended(self) -> None:
        """Update totals, check whether shown examples did harm, and wait a moment until everything is stored."""
        self._background.submit("Judging", self._settle)
        # Hermes may exit right after a turn without notice.
        self._background.flush(_FLUSH_SECONDS)

    def _write(self, ref: SessionRef, call: ToolCall, turn: HermesTurn) -> None:
        reader = self._reader = self._reader or FileReader(self._secrecy().redactor())
        # Opened for each call: a connection that is open when Hermes ends cannot be closed by another thread.
        with open_store(self._config.store_path) as store:
            position = self._position(store, ref)
            placed = msgspec.structs.replace(call, index=position, message=turn.messages)
            rows = reader.rows(_session(ref, placed, turn))
            # No messages were read here, so a scan of Hermes' database, which has them, takes precedence.
            rows = msgspec.structs.replace(rows, messages=0, corrections=[], said=None)
            writer = StoreWriter(store, time.time)
            with store.write():
                writer.write_session(rows, None)
        self._touched |= writer.touched
        self._positions[str(ref)] = position + 1
        self._has_failures |= any(row.counts_as == "failed" for row in rows.calls)

    def _settle(self) -> None:
        if not self._touched:
            return
        with open_store(self._config.store_path) as store:
            update_aggregates(store, self._touched)
            self._touched = set()
            self._guard(store)

    def _secrecy(self) -> Secrecy:
        return Secrecy(load_key(self._config.home), self._config.redact)

    def _guard(self, store: Store) -> None:
        """Suspend examples that are followed by failures, soon after the calls that show it."""
        now = time.time()
        if not self._has_failures or now - self._guarded_at < _GUARD_SECONDS:
            return
        self._has_failures, self._guarded_at = False, now
        library = cached_library(store, now=now)
        rulings = watch(store, library, now=now) if library.templates else ()
        for one in rulings:
            log.warning("example %s: %s, %s", one.example_id, one.decision, one.reason)
        if rulings:
            self._on_ruling(store)

    def _position(self, store: Store, ref: SessionRef) -> int:
        known = self._positions.get(str(ref))
        if known is not None:
            return known
        row = store.row("session.find_ref", {"agent": ref.agent, "native_id": ref.native_id})
        rows = [] if row is None else store.rows("call.of_session", {"session_id": row["id"]})
        return max([int(one["position"]) for one in rows], default=-1) + 1


def _session(ref: SessionRef, call: ToolCall, turn: HermesTurn) -> Session:
    said = Message(role="user", text=turn.said)
    made = Message(role="assistant", text="", calls=(call,), time=call.time)
    return Session(
        ref=ref,
        format=NAME,
        path="",
        messages=(said, made),
        model=turn.model,
        started=call.time,
        ended=call.time,
        parent=None if turn.parent is None else SessionRef(AGENT, turn.parent),
        relation=turn.relation,
    )


def turn_of(body: dict[str, Any], *, model: str, parent: str | None) -> HermesTurn:
    """The turn that a request belongs to."""
    from seasoned.example.provision import last_request

    messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
    said = [message for message in messages if message.get("role") not in ("system", "developer")]
    return HermesTurn(
        said=last_request(said),
        messages=len(said),
        model=model or None,
        parent=parent,
        relation=None if parent is None else "subagent",
    )
