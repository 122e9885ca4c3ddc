"""The interface that SQLite and PostgreSQL share: named queries on either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

Kind = Literal["sqlite", "postgres"]
# Named parameters; a plain sequence only for queries that run on SQLite alone.
Params = Mapping[str, Any] | Sequence[Any]


class DatabaseRow(Protocol):
    """One row: values by column name."""

    def __getitem__(self, name: str, /) -> Any: ...
    def keys(self) -> Iterable[str]: ...


class Database(Protocol):
    """One connection. It belongs to the thread that opened it; open one for each thread.

    A violated constraint raises RuleBroken, any other failure StoreError. An error inside `write` ends the transaction:
    leave the block and begin another one.
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
        """The rows of a named query one by one, for results of any length."""
        ...

    def run(self, name: str, params: Params = ()) -> int:
        """Run a named statement; returns the number of changed rows."""
        ...

    def run_many(self, name: str, params: Iterable[Params]) -> None:
        """Run a named statement once for each set of parameters."""
        ...

    def write(self) -> AbstractContextManager[None]:
        """A short write transaction: all or nothing."""
        ...

    def close(self) -> None: ...
