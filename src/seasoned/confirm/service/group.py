"""Several changes in one transaction, each of which may refuse by itself; what they add is written out together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from seasoned.confirm.audit.chain import Chain, writing
from seasoned.store import Database
from seasoned.store.interface import DatabaseRow, Kind, Params
from seasoned.store.query import is_question

_REQUESTS = ("confirm.add_request",)
_LATER = (*_REQUESTS, "confirm.add_outbox", "confirm.add_audit")
"""Additions that can wait until somebody asks or the group ends, in the order in which they are written out."""
_FINDS: dict[str, tuple[str, ...]] = {
    "confirm.allowed_now": (),
    "confirm.request_by_idempotency": _REQUESTS,
    "confirm.recent": _REQUESTS,
    "confirm.recent_of_requester": _REQUESTS,
    "confirm.recent_of_both": _REQUESTS,
}
"""What a question could find among what waits; any other could find all of it."""


class Undone(Exception):
    """A part of a group failed after it had written: the group is undone, and each part done by itself."""


class Group:
    """A connection whose `write` becomes a part of the transaction that is open, where one is.

    Nothing marks where a part begins: a part that refuses has written nothing yet, and where one has, all is undone.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.chain: Chain | None = None
        """The end of the audit, held for all parts while a group is open."""
        self._has_written = False
        self._waiting: dict[str, list[Params]] = {name: [] for name in _LATER}
        self._known: dict[str, DatabaseRow | None] = {}
        """Credentials that were looked at since the transaction began; nobody else can change one until it ends."""
        self._keys: set[tuple[str, str | None]] = set()
        """Who has asked under which idempotency key in this group."""

    @property
    def kind(self) -> Kind:
        return self._database.kind

    def rows(self, name: str, params: Params = ()) -> Sequence[DatabaseRow]:
        self._before(name)
        return self._database.rows(name, params)

    def row(self, name: str, params: Params = ()) -> DatabaseRow | None:
        if self.chain is None or not isinstance(params, dict):
            self._before(name)
        elif name == "confirm.credential":
            key = params["id"]
            if key not in self._known:
                self._known[key] = self._database.row(name, params)
            return self._known[key]
        elif name != "confirm.request_by_idempotency" or _key_of(params) in self._keys:
            self._before(name)
        return self._database.row(name, params)

    def each(self, name: str, params: Params = ()) -> Iterator[DatabaseRow]:
        self._before(name)
        return self._database.each(name, params)

    def run(self, name: str, params: Params = ()) -> int:
        if self.chain is not None and name in _LATER:
            self._has_written = True
            self._waiting[name].append(params)
            if name in _REQUESTS and isinstance(params, dict):
                self._keys.add(_key_of(params))
            return 1
        self._before(name)
        return self._database.run(name, params)

    def run_many(self, name: str, params: Iterable[Params]) -> None:
        self._before(name)
        self._database.run_many(name, params)

    def add_many(self, name: str, rows: Sequence[Params]) -> None:
        self._before(name)
        self._database.add_many(name, rows)

    def write(self) -> AbstractContextManager[None]:
        return self._database.write() if self.chain is None else self._part()

    @contextmanager
    def whole(self) -> Iterator[None]:
        """One transaction around several parts, of which each may refuse by itself."""
        with writing(self._database) as chain:
            self.chain = Chain(self, chain.head)
            try:
                yield
                self._write_out()
            finally:
                self.chain = None
                self._known.clear()
                self._keys.clear()
                for waiting in self._waiting.values():
                    waiting.clear()

    @contextmanager
    def _part(self) -> Iterator[None]:
        self._has_written = False
        try:
            yield
        except BaseException as error:
            if self._has_written:
                raise Undone from error
            raise

    def _before(self, name: str) -> None:
        """What a statement may count on: everything that was added is there, and what is known is still so."""
        if not is_question(name):
            self._has_written = True
            self._known.clear()
        if self.chain is not None:
            self._write_out(_FINDS.get(name, _LATER))

    def _write_out(self, names: Iterable[str] = _LATER) -> None:
        for name in names:
            if waiting := self._waiting[name]:
                self._database.add_many(name, waiting)
                waiting.clear()

    def close(self) -> None:
        self._database.close()


def _key_of(params: dict[str, Any]) -> tuple[str, str | None]:
    return params["requester"], params["idempotency_hash"]
