"""The formats, and how a file is matched to one: by its content, the most specific format first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import msgspec

from seasoned.database_file import read_head
from seasoned.errors import SourceError
from seasoned.history.discover import ACP
from seasoned.history.json_file import json_lines, source_errors
from seasoned.history.readonly import open_readonly, tables_of
from seasoned.session import Session

Kind = Literal["lines", "document", "sqlite", "zip", "markdown", "other"]

_HEAD_BYTES = 1 << 16
_SQLITE = b"SQLite format 3\x00"  # how a database begins
_RECORDS = 20
# Longer values of a record are shortened in the sample: formats differ in their keys, not in long texts.
_SMALL = 1 << 14
_MARKDOWN = b"# aider chat started at "  # how the one history in Markdown opens
_NOT_JSON = (msgspec.DecodeError, RecursionError, UnicodeError)
_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])
_any = msgspec.json.Decoder()


class Sample(msgspec.Struct, frozen=True):
    """The kind of a file and its first records, with long values left out."""

    path: Path
    kind: Kind
    # JSON Lines: the first objects. A document: the object itself, or the first objects of its list.
    records: tuple[dict[str, Any], ...] = ()
    is_list: bool = False  # whether the document is a list of records
    # A database: its tables, each with its columns.
    tables: dict[str, frozenset[str]] = {}
    opening: str = ""  # Markdown: its first line

    @property
    def may_be_lines(self) -> bool:
        """JSON Lines, or a file of one line, which may be either."""
        return self.kind == "lines" or (self.kind == "document" and not self.is_list and bool(self.records))

    def has_tables(self, needed: Mapping[str, Set[str]]) -> bool:
        """Whether it is a database with these tables and columns."""
        return self.kind == "sqlite" and all(names <= self.tables.get(table, set()) for table, names in needed.items())


def take_sample(path: Path, *, records: int = _RECORDS) -> Sample:
    """Read the head of a file, or all of it if it is one JSON document."""
    return _sample(path, _head(path), records)


def is_database(path: Path) -> bool:
    """Whether a file is a database of SQLite."""
    return _head(path).startswith(_SQLITE)


def _head(path: Path) -> bytes:
    with source_errors(path):
        return read_head(path, _HEAD_BYTES)


def _sample(path: Path, head: bytes, records: int) -> Sample:
    if head.startswith(_SQLITE):
        with open_readonly(path) as connection:
            return Sample(path, "sqlite", tables=tables_of(connection))
    if head.startswith(b"PK\x03\x04"):
        return Sample(path, "zip")
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text.startswith((b"{", b"[")):
        if text.startswith(_MARKDOWN):
            return Sample(path, "markdown", opening=text.partition(b"\n")[0].decode("utf-8", "replace"))
        return _sample_lines(path, head, records)
    first, newline, rest = text.partition(b"\n")
    # A document may be pretty-printed, but then its first line is not a whole object.
    if text.startswith(b"{") and newline and rest.strip() and _sketch_object(first) is not None:
        return _sample_lines(path, head, records)
    return _sample_document(path) or _sample_lines(path, head, records)


def _sample_lines(path: Path, head: bytes, limit: int) -> Sample:
    records: list[dict[str, Any]] = []
    lines = head.split(b"\n", limit)
    if len(head) == _HEAD_BYTES and len(lines) <= limit:
        lines = [line.data for line in islice(json_lines(path), limit)]
    for line in lines:
        if len(records) == limit:
            break
        sketch = _sketch_object(line)
        if sketch is not None:
            records.append(sketch)
    return Sample(path, "lines" if records else "other", tuple(records))


def _sample_document(path: Path) -> Sample | None:
    data = path.read_bytes().lstrip(b"\xef\xbb\xbf \t\r\n")
    if data.startswith(b"["):
        try:
            items = _raw_list.decode(data)
        except _NOT_JSON:
            return None
        sketches = [_sketch_object(bytes(item)) for item in items[:_RECORDS]]
        return Sample(path, "document", tuple([s for s in sketches if s is not None]), is_list=True)
    sketch = _sketch_object(data)
    return None if sketch is None else Sample(path, "document", (sketch,))


def _sketch_object(data: bytes) -> dict[str, Any] | None:
    """An object with its small values as they are and the first items of its long lists."""
    try:
        fields = _raw_object.decode(data)
    except _NOT_JSON:
        return None
    return {key: _sketch_value(bytes(value)) for key, value in fields.items()}


def _sketch_value(data: bytes) -> Any:
    try:
        if len(data) <= _SMALL:
            return _any.decode(data)
        if data.startswith(b"["):
            return [_sketch_value(bytes(item)) for item in _raw_list.decode(data)[:3]]
        if data.startswith(b"{"):
            return {key: _sketch_value(bytes(value)) for key, value in _raw_object.decode(data).items()}
        return data[:_SMALL].decode("utf-8", "replace").strip('"')
    except _NOT_JSON:
        return None


# The most specific first: the last formats accept anything that looks like chat messages.
_ORDER = (
    "claude_code codex hermes_db seasoned_db goose cursor aider opencode qwen pi copilot cline vscode "
    "managed_agent otel inspect_log gemini openhands mini_swe_agent swe_agent tau_bench atif hermes_file "
    "sharegpt anthropic_log openai_log"
)
ORDER = tuple(_ORDER.split())
# Those in `reader/log`: the name of a format is kept in stores, its place is not.
_LOGS = "managed_agent otel inspect_log mini_swe_agent swe_agent tau_bench atif sharegpt anthropic_log openai_log"
# Claude Code and Codex have by far the most files, and three lines are enough to recognise them.
_FIRST_LOOK = 3


class Format(Protocol):
    """A module of `reader/` that reads one format.

    One whose files grow also has `read_on`, one whose database tells what has changed `stamps`.
    """

    NAME: str

    def recognises(self, sample: Sample) -> bool:
        """Whether the file is in this format, by its content."""

    def read(self, path: Path) -> Iterator[Session]:
        """Every session of the file."""


@cache
def named(module: str) -> Format:
    """The reader module of this name, imported on first use."""
    return cast("Format", import_module(f"seasoned.history.reader.{'log.' if module in _LOGS.split() else ''}{module}"))


def recognise(path: Path) -> str | None:
    """The name of the module that reads this file; None if the format is unknown."""
    if str(path).startswith(ACP):
        return "acp"
    head = _head(path)
    # The first line of most files tells; what it tells, more lines would not change.
    if head.startswith(b"{") and b"\n" in head and named(ORDER[0]).recognises(_sample_lines(path, head, 1)):
        return ORDER[0]
    sample = _sample(path, head, _FIRST_LOOK)
    for module in ORDER[:2] if sample.kind == "lines" else ():
        if named(module).recognises(sample):
            return module
    if sample.kind == "lines":
        # Three lines may all be headers; the other formats need more to be told apart.
        sample = take_sample(path)
    if sample.kind == "other":
        return None
    for module in ORDER:
        if named(module).recognises(sample):
            return module
    return None


def read_file(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every session of one file. SourceError if the format is unknown. Of a database, `only` selects sessions by id."""
    module = recognise(path)
    if module is None:
        raise SourceError(
            f"{str(path)!r} is not a history that Seasoned can read. It reads "
            "Claude Code, Codex, Hermes, OpenCode, Pi, Gemini, Copilot, Cursor, Cline and many others: "
            "see docs/reference/formats.md."
        )
    reader = named(module)
    if only is not None and hasattr(reader, "stamps"):
        yield from reader.read(path, only)  # type: ignore[call-arg]
    else:
        yield from reader.read(path)
