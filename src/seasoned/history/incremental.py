"""Reads JSON Lines files in stretches: memory stays small, and a file that grew is read from its old end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec

from seasoned.digest import blake2b
from seasoned.history.builder import ReadState, SessionBuilder
from seasoned.history.json_file import repair_json, source_errors, split_objects
from seasoned.session import Session, SessionRef, Unreadable

# Large enough that decoding dominates, small enough for memory on any machine.
STRETCH_BYTES = 8 << 20
# A longer line is passed over: nothing that people or tools say is so long, and it takes several times its size.
LONGEST_LINE = 32 << 20
_CHECKED_BYTES = 1024
_NOT_READ = (msgspec.DecodeError, RecursionError, UnicodeError)


class Resume(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where to continue in a file, and the state needed for it. Stored as JSON with the source."""

    offset: int = 0
    lines: int = 0
    sessions: dict[str, ReadState] = {}
    # What a reader must remember beyond its sessions; small, and no text of a session.
    notes: dict[str, Any] = {}


class Stretch(msgspec.Struct, frozen=True):
    """The sessions of one stretch of a file, and where the next stretch begins."""

    sessions: tuple[Session, ...]
    unreadable: tuple[Unreadable, ...]
    resume: Resume
    is_last: bool = False  # the file has been read to its end
    check_digest: str = ""  # of the bytes before the resume point


class LineReader(Protocol):
    """Reads the lines of a file one by one into its builders."""

    builders: dict[str, SessionBuilder]

    def feed(self, line: bytes, place: int) -> None:
        """Read one line; raises DecodeError if it is not one complete record."""

    def notes(self) -> dict[str, Any]:
        """What to remember for the next stretch beyond the sessions."""


MakeReader = Callable[[Path, Resume], LineReader]


def read_stretches(
    path: Path, make_reader: MakeReader, resume: Resume | None = None, *, stretch_bytes: int = STRETCH_BYTES
) -> Iterator[Stretch]:
    """The file from the resume point, in stretches of about `stretch_bytes`."""
    resume = resume or Resume()
    reader = make_reader(path, resume)
    unreadable: list[Unreadable] = []
    offset, number = resume.offset, resume.lines
    full = offset + stretch_bytes
    feed = reader.feed
    with source_errors(path), path.open("rb", buffering=1 << 20) as file:
        _replay(file, reader)
        file.seek(offset)
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                unreadable.append(Unreadable(f"line {number}", f"longer than {LONGEST_LINE >> 20} MB"))
                offset = _after_line(file)
                continue
            try:
                feed(line, offset)
            except _NOT_READ as error:
                reason = _feed_broken(reader, line, offset, error)
                if reason is not None:
                    unreadable.append(Unreadable(f"line {number}", reason))
                    if not line.endswith(b"\n"):
                        # An incomplete last line may still be written to: it is reported now and read again later.
                        number -= 1
                        break
            offset += len(line)
            if offset >= full:
                yield _stretch(reader, unreadable, offset, number, check_digest=digest_before(file, offset))
                unreadable, full = [], offset + stretch_bytes
                file.seek(offset)
        check_digest = digest_before(file, offset)
    yield _stretch(reader, unreadable, offset, number, is_last=True, check_digest=check_digest)


def _after_line(file: BinaryIO) -> int:
    """Pass over the rest of a line, without keeping it; returns where the next one begins."""
    while (part := file.readline(1 << 20)) and not part.endswith(b"\n"):
        pass
    return file.tell()


def digest_before(file: BinaryIO, offset: int) -> str:
    """A digest of the bytes before a place: it shows whether a file was rewritten."""
    file.seek(max(offset - _CHECKED_BYTES, 0))
    return blake2b(file.read(min(offset, _CHECKED_BYTES)), digest_size=16).hexdigest()


def read_whole(path: Path, make_reader: MakeReader, *, agent: str, format: str) -> Iterator[Session]:
    """All sessions of the file, each in one piece."""
    for stretch in read_stretches(path, make_reader, stretch_bytes=1 << 62):
        sessions, unreadable = stretch.sessions, stretch.unreadable
        # An empty session, so that the unreadable lines are still shown for this file.
        if not sessions:
            sessions = (Session(SessionRef(agent, path.stem), format, str(path)),)
        first = sessions[0]
        yield msgspec.structs.replace(first, unreadable=first.unreadable + unreadable)
        yield from sessions[1:]


def _feed_broken(reader: LineReader, line: bytes, offset: int, error: Exception) -> str | None:
    """Read what can be read of a line that is not one complete record: glued objects, broken characters.

    Returns the reason if a part of it could not be read.
    """
    text = line.strip(b" \t\r\n\x00\xef\xbb\xbf")
    if not text:
        return None
    reason = None
    # Two processes that write to one file glue their lines; a crash leaves zero bytes.
    for piece in split_objects(text):
        for attempt in (piece, repair_json(piece)):
            try:
                if attempt is not None:
                    reader.feed(attempt, offset)
                    break
            except _NOT_READ as why:
                error = why
        else:
            reason = _reason(error, line)
    return reason


def _reason(error: Exception, line: bytes) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply to be a message"
    if not line.endswith(b"\n") and not line.rstrip().endswith(b"}"):
        return f"the line is incomplete: {_shown(line)}"
    return f"{error}: {_shown(line)}"


def _shown(text: bytes) -> str:
    """A description without the content, which has not been redacted."""
    return f"{len(text)} bytes that {'begin' if text[:1] == b'{' else 'do not begin'} an object"


def _replay(file: Any, reader: LineReader) -> None:
    for builder in list(reader.builders.values()):
        # The stored state holds no text, so the lines of open calls are read again from the file.
        places = builder.waits_at()
        builder.replaying = True
        for place in places:
            file.seek(place)
            line = file.readline()
            try:
                reader.feed(line, place)
            except _NOT_READ as error:
                _feed_broken(reader, line, place, error)
        builder.replaying = False


def _stretch(
    reader: LineReader,
    unreadable: list[Unreadable],
    offset: int,
    lines: int,
    *,
    is_last: bool = False,
    check_digest: str,
) -> Stretch:
    sessions = tuple([builder.take() for builder in reader.builders.values() if builder.has_news])
    carries = {name: builder.carry() for name, builder in reader.builders.items()}
    resume = Resume(offset, lines, carries, reader.notes())
    if is_last and not sessions and not unreadable and not any(one.messages for one in carries.values()):
        # The head alone says where a session works, and makes none yet: it is read again with what follows.
        resume, check_digest = Resume(), ""
    return Stretch(sessions, tuple(unreadable), resume, is_last, check_digest)
