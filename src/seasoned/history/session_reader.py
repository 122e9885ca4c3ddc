"""What most readers share, so that the module of a format holds only what is special about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.coerce import count, kind_of, known_usage, time_of
from seasoned.history.json_file import JsonValue, decode, noting_unreadable, values
from seasoned.session import Relation, Session, SessionRef, Unreadable, Usage

T = TypeVar("T")
Fields = dict[str, Any]
JsonDocument = JsonValue[dict[str, msgspec.Raw]]  # the fields of a large document, decoded one by one


class SessionFormat(NamedTuple):
    """The name of a format, and the agent whose sessions it holds."""

    name: str
    agent: str

    def builder(self, path: Path, native_id: str | None = None) -> SessionBuilder:
        """An empty session; without an id it is named after the file."""
        ref = SessionRef(self.agent, native_id or path.stem)
        return SessionBuilder(ref, format=self.name, path=str(path))

    def sessions(
        self, path: Path, parts: Iterable[SessionBuilder | Unreadable], native_id: str | None = None
    ) -> Iterator[Session]:
        """The sessions in order. Unreadable records go to the session before them, or else to the first."""
        held: SessionBuilder | None = None
        waiting: list[Unreadable] = []
        for part in parts:
            if isinstance(part, SessionBuilder):
                if held is not None:
                    yield held.take()
                held = part
                _hand_over(waiting, held)
            elif held is not None:
                held.unreadable(part.place, part.reason)
            else:
                waiting.append(part)
        if held is None:
            if not waiting:
                return
            held = self.builder(path, native_id)
            _hand_over(waiting, held)
        yield held.take()

    def read_each(
        self,
        path: Path,
        records: Iterable[JsonValue[T] | Unreadable],
        build: Callable[[Path, JsonValue[T], int], SessionBuilder | Unreadable | None],
    ) -> Iterator[Session]:
        """One session for each record of a file. `build` returns None for a record to leave out."""
        built = (
            part if isinstance(part, Unreadable) else build(path, part, index) for index, part in enumerate(records)
        )
        return self.sessions(path, (part for part in built if part is not None))

    def read_entries(
        self,
        path: Path,
        reader: Callable[[SessionBuilder], EntryReader],
        find_id: Callable[[Fields], str | None],
        native_id: str | None = None,
    ) -> Iterator[Session]:
        """The one session of a file of entries. Its first entry may hold the id; `native_id` is the default."""

        def start(first: Fields) -> EntryReader:
            return reader(self.builder(path, find_id(first) or native_id))

        return self.sessions(path, _entries(path, start), native_id)


def _hand_over(lost: list[Unreadable], builder: SessionBuilder) -> None:
    for one in lost:
        builder.unreadable(one.place, one.reason)
    lost.clear()


def objects(path: Path, lost: list[Unreadable], expected: str) -> Iterator[JsonValue[Fields]]:
    """The values of a file that are objects; what else it holds is added to `lost`."""
    for part in values(path):
        if isinstance(part, Unreadable):
            lost.append(part)
        elif isinstance(part.value, dict):
            yield part
        else:
            lost.append(Unreadable(part.where, f"{kind_of(part.value)} where {expected} should be"))


def _entries(path: Path, start: Callable[[Fields], EntryReader]) -> Iterator[SessionBuilder | Unreadable]:
    reader: EntryReader | None = None
    lost: list[Unreadable] = []
    for part in objects(path, lost, "an entry"):
        if isinstance(part.value.get("type"), str):
            reader = reader or start(part.value)
            reader.add(part)
        else:
            lost.append(Unreadable(part.where, "a record that is not an entry of a session"))
    if reader is not None:
        yield reader.finish()
    yield from lost


class SessionReader:
    """Adds messages and calls to one session."""

    def __init__(self, builder: SessionBuilder) -> None:
        self.builder = builder
        self.calls = CallPairing(builder)


class EntryReader(SessionReader, ABC):
    """Reads the entries of a file that holds one session; each is an object with a `type`."""

    def add(self, part: JsonValue[Any]) -> None:
        """Add one entry."""
        entry = part.value
        with noting_unreadable(self.builder, part.where):
            time = time_of(entry.get("timestamp"))
            if time is not None:
                self.builder.seen_at(time)
            self.add_entry(entry["type"], entry, time, part)

    @abstractmethod
    def add_entry(self, kind: str, entry: Fields, time: float | None, part: JsonValue[Any]) -> None:
        """Add one entry of this type."""

    def finish(self) -> SessionBuilder:
        """The session, after its last entry."""
        return self.builder


def add_messages(
    builder: SessionBuilder,
    messages: Iterable[msgspec.Raw],
    add: Callable[[Fields, str, int], None],
    *,
    noun: str = "message",
    within: str = "",
) -> None:
    """Decode messages one by one and add those that are objects; note the others as unreadable.

    `within` names the record of the file that holds them.
    """
    for position, raw in enumerate(messages):
        where = f"{within}, {noun} {position}" if within else f"{noun} {position}"
        with noting_unreadable(builder, where):
            try:
                message = decode(raw)
            except msgspec.DecodeError as error:
                builder.unreadable(where, str(error))
                continue
            if isinstance(message, dict):
                add(message, where, position)
            else:
                builder.unreadable(where, f"{kind_of(message)} where a {noun} should be")


def note_times(builder: SessionBuilder, where: str, *times: object) -> None:
    """Extend the time span of a session by those of these times that are known."""
    with noting_unreadable(builder, where):
        for value in times:
            if (time := time_of(value)) is not None:
                builder.seen_at(time)


def set_parent(builder: SessionBuilder, native_id: str | None, relation: Relation = "subagent") -> None:
    """Note the session of the same agent that this one belongs to, if there is one."""
    if native_id is not None:
        builder.parent, builder.relation = SessionRef(builder.ref.agent, native_id), relation


def usage_from(fields: Fields, **names: str) -> Usage | None:
    """The usage whose figures are in these fields: `usage_from(message, input="inputTokens", …)`. None without any."""
    return known_usage(Usage(**{figure: count(fields.get(name)) for figure, name in names.items()}))


def unique_id(native_id: str, index: int, seen: set[str]) -> str:
    """The id, made unique among those seen so far by the position of its record."""
    unique = f"{native_id}#{index}" if native_id in seen else native_id
    seen.add(unique)
    return unique
