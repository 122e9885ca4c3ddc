"""The seam between rooms and databases: what SQLite and PostgreSQL both do, by the same named queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

Kind = Literal["sqlite", "postgres"]
# Named parameters; a plain sequence only for queries that run on SQLite alone.
Params = Mapping[str, Any] | Sequence[Any]


class DatabaseRow(Protocol):
    """One row of an answer: values by the names of their columns."""

    def __getitem__(self, name: str, /) -> Any: ...
    def keys(self) -> Iterable[str]: ...


class Database(Protocol):
    """One connection, for the thread that opened it: whoever works in several threads opens one in each.

    A broken rule of a table raises RuleBroken, all else that fails StoreError. Inside `write` an error ends the
    transaction: leave the block, and begin another one.
    """

    @property
    def kind(self) -> Kind: ...
    def rows(self, name: str, params: Params = ()) -> Sequence[DatabaseRow]:
        """All rows of a named query."""
        ...

    def row(self, name: str, params: Params = ()) -> DatabaseRow | None:
        """The first row of a named query."""
        ...

    def each(self, name: str, params: Params = ()) -> Iterator[DatabaseRow]:
        """The rows of a named query one by one, for answers of any length."""
        ...

    def run(self, name: str, params: Params = ()) -> int:
        """Run a named statement; how many rows it changed."""
        ...

    def run_many(self, name: str, params: Iterable[Params]) -> None:
        """Run a named statement once for each set of parameters."""
        ...

    def add_many(self, name: str, rows: Sequence[Params]) -> None:
        """Run a named INSERT of one row for all of these, inside of `write`; it takes few statements, or few waits."""
        ...

    def write(self) -> AbstractContextManager[None]:
        """One short write transaction: all of it happens, or nothing."""
        ...

    def close(self) -> None: ...
