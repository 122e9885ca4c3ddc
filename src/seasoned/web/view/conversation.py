"""A conversation from its source, one part at a time, redacted, with the verdicts from the store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict

from seasoned.command.call import brief_of
from seasoned.command.tool import Commit, commits_of
from seasoned.errors import NotFound, SeasonedError
from seasoned.history.read import read_one
from seasoned.redact.redactor import Redactor
from seasoned.scan.file_reader import FileReader
from seasoned.session import Message, Session, SessionRef, ToolCall
from seasoned.store import DatabaseRow
from seasoned.web.display import difference

# Agents name the same arguments in their own ways; the form of a call tells that it is an edit.
_BEFORE = ("old_string", "old_str", "oldString", "oldText", "old_text")
_AFTER = ("new_string", "new_str", "newString", "newText", "new_text")
_WHOLE = ("content", "file_text", "contents")
_PATH = ("file_path", "path", "filePath", "filename", "absolute_path")
_MOST_CHARS = 20_000
_MOST_LINES = 400
_MOST_EDITS = 20
# Shorter ones are open at once.
_OPEN_LINES = 24


class ShownEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One file and its changed lines, each with its kind: went, came or stayed."""

    path: str
    lines: list[tuple[str, str]]
    added: int
    removed: int
    is_cut: bool = False

    @property
    def is_open(self) -> bool:
        return len(self.lines) <= _OPEN_LINES


def edits_of(arguments: dict[str, Any], redactor: Redactor) -> tuple[ShownEdit, ...]:
    """What a call edits; nothing where its arguments are not those of an edit."""
    return tuple(edit for edit, _ in zip(_edits(arguments, redactor), range(_MOST_EDITS), strict=False))


def _edits(arguments: dict[str, Any], redactor: Redactor) -> Iterator[ShownEdit]:
    path = redactor.text(_first(arguments, _PATH) or "")
    several = arguments.get("edits")
    for one in several if isinstance(several, list) else [arguments]:
        if not isinstance(one, dict):
            continue
        after = _first(one, _AFTER)
        before = _first(one, _BEFORE) if after is not None else ""
        # Without an old text it is a whole file, if it says which.
        if after is None and one is arguments and path:
            after = _first(one, _WHOLE)
        if after is not None and before is not None:
            yield _edit(path or redactor.text(_first(one, _PATH) or ""), before, after, redactor)


def _edit(path: str, before: str, after: str, redactor: Redactor) -> ShownEdit:
    texts = [redactor.head(text, _MOST_CHARS) for text in (before, after)]
    is_long = any(text.count("\n") > _MOST_LINES for text in texts)
    if is_long and before:
        # Comparing thousands of lines takes seconds.
        lines = [(kind, line) for kind, text in zip(("went", "came"), texts, strict=True) for line in text.splitlines()]
    else:
        lines = difference(*texts)
    kinds = [kind for kind, _ in lines]
    return ShownEdit(
        path=path,
        lines=lines[:_MOST_LINES],
        added=kinds.count("came"),
        removed=kinds.count("went"),
        is_cut=max(len(before), len(after)) > _MOST_CHARS or len(lines) > _MOST_LINES,
    )


def _first(values: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((values[name] for name in names if isinstance(values.get(name), str)), None)


# A row of the store, or one with the same names for what happened since the last scan.
StoredRow = DatabaseRow | dict[str, Any]
MESSAGES_SHOWN = 40
TEXT_CHARS = 6_000
RESULT_CHARS = 2_000
# A text of millions of characters would freeze the browser even on a page for itself.
WHOLE_CHARS = 300_000
# A longer result is folded; of a failed call the end stays in sight, where programs say what went wrong.
_LINES_SHOWN = 12


class ShownText(msgspec.Struct, frozen=True, kw_only=True):
    """One text, cut where it is long."""

    text: str
    length: int

    @property
    def is_cut(self) -> bool:
        return self.length > len(self.text)

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1

    @property
    def is_long(self) -> bool:
        """Whether it is folded in the conversation."""
        return self.lines > _LINES_SHOWN + 4

    def preview(self, *, is_end: bool) -> str:
        """The lines that stay in sight."""
        lines = self.text.rstrip("\n").split("\n")
        return "\n".join(lines[-_LINES_SHOWN:] if is_end else lines[:_LINES_SHOWN])


class ShownCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call: what was asked, what came back, and the verdict with its reason."""

    call_id: str
    tool: str
    position: int | None
    arguments: str
    result: ShownText | None
    verdict: str
    reason: str
    counts_as: str
    is_copy: bool = False
    # The message that made it, for its address.
    message: int | None = None
    edits: tuple[ShownEdit, ...] = ()
    commits: tuple[Commit, ...] = ()

    @property
    def brief(self) -> str:
        """The arguments in one line, or only the one that says most, such as a command."""
        return brief_of(self.arguments)

    @property
    def argument_texts(self) -> list[tuple[str, str]]:
        """The arguments for people: long texts as they are, each with its name, and the rest as JSON."""
        try:
            found = json.loads(self.arguments)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            return [("Arguments", self.arguments)]
        long = {name: value for name, value in found.items() if isinstance(value, str) and "\n" in value}
        rest = {name: value for name, value in found.items() if name not in long}
        texts = [] if not rest else [("Arguments", json.dumps(rest, ensure_ascii=False, indent=2))]
        return texts + list(long.items())


class ShownMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message and its calls."""

    index: int
    role: str
    time: float | None
    said: ShownText
    thinking: ShownText
    calls: tuple[ShownCall, ...]
    is_synthetic: bool
    is_summary: bool
    follows_compaction: bool

    @property
    def is_silent(self) -> bool:
        """Whether it only makes calls, so that its head would say nothing."""
        return bool(self.calls) and not self.said.text and not self.is_synthetic and not self.thinking.text


def find_conversation(row: StoredRow) -> Session | str:
    """The session, read from its file, or a sentence that says why it cannot be read."""
    if not row["path"]:
        return "Its source file was forgotten."
    path = Path(row["path"])
    try:
        # A database may change in its write-ahead log alone.
        state = (*_state(path), *_state(Path(f"{path}-wal"), may_lack=True))
        return _read(path, SessionRef(row["agent"], row["native_id"]), state)
    except OSError:
        return "Its source file is gone."
    except SeasonedError as error:
        return str(error)


# The next part of a long one is not read from its file again. Sessions can be large, and few people read at a time.
@lru_cache(4)
def _read(path: Path, ref: SessionRef, state: tuple[int, ...]) -> Session:
    return read_one(path, ref)


def judged_since(session: Session, stored: Sequence[StoredRow], redactor: Redactor) -> list[StoredRow]:
    """The stored calls, and those that were made or ended since the last scan; empty if there are none of these."""
    known = {str(row["call_id"]): row for row in stored}
    reader = FileReader(redactor)
    is_fresh = False
    rows: list[StoredRow] = []
    for call in session.calls():
        row = known.get(call.id)
        if row is not None and (row["result"] is not None or call.result is None):
            rows.append(row)
        elif not call.synthetic:
            is_fresh = True
            rows.append({**asdict(reader.call_row(call, session.ref.agent)), "copy_of": None})
    return rows if is_fresh else []


def _state(path: Path, *, may_lack: bool = False) -> tuple[int, int]:
    """Changes with the file, and with the write-ahead log of a database if there is one."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        if may_lack:
            return 0, 0
        raise
    return stat.st_mtime_ns, stat.st_size


def last_page(session: Session) -> int:
    """The index of the message with which the last page of a conversation begins."""
    shown = [at for at, one in enumerate(session.messages) if not (one.role == "tool" and one.answers is not None)]
    return shown[-MESSAGES_SHOWN:][0] if shown else 0


def turns(
    session: Session,
    calls: Sequence[StoredRow],
    redactor: Redactor,
    *,
    first: int,
) -> list[ShownMessage]:
    """The messages from this index on, as many as a page shows; results are shown with their calls."""
    verdicts = {str(call["call_id"]): call for call in calls}
    compactions = set(session.compactions)
    shown: list[ShownMessage] = []
    was_compacted = False
    for index in range(first, len(session.messages)):
        message = session.messages[index]
        was_compacted = was_compacted or index in compactions
        if message.role == "tool" and message.answers is not None:
            continue
        if len(shown) == MESSAGES_SHOWN:
            break
        shown.append(_turn(index, message, verdicts, redactor, follows_compaction=was_compacted))
        was_compacted = False
    return shown


def _turn(
    index: int,
    message: Message,
    verdicts: dict[str, StoredRow],
    redactor: Redactor,
    *,
    follows_compaction: bool,
) -> ShownMessage:
    return ShownMessage(
        index=index,
        role=message.role,
        time=message.time,
        said=_cut(message.text, TEXT_CHARS, redactor),
        thinking=_cut(message.thinking, TEXT_CHARS, redactor),
        calls=tuple(shown_call(verdicts.get(call.id), call, redactor=redactor) for call in message.calls),
        is_synthetic=message.synthetic,
        is_summary=message.summary,
        follows_compaction=follows_compaction,
    )


def shown_call(row: StoredRow | None, call: ToolCall | None = None, *, redactor: Redactor) -> ShownCall:
    """A call with what the store knows of it; one of the two may lack."""
    known: dict[str, Any] = {} if row is None else dict(row)
    if call is None:
        result = None if known["result"] is None else ShownText(text=known["result"], length=len(known["result"]))
    else:
        result = None if call.result is None else _cut(call.result.text, RESULT_CHARS, redactor)
    # The names of arguments tell what is secret, so what the store has redacted by them is shown where it is known.
    arguments = known.get("arguments") or redactor.head(
        json.dumps(call and call.arguments, ensure_ascii=False), RESULT_CHARS
    )
    return ShownCall(
        call_id=call.id if call else known["call_id"],
        tool=call.tool if call else known["tool"],
        position=known.get("position"),
        arguments=arguments,
        result=result,
        verdict="did not happen" if call and call.synthetic else known.get("verdict", "not judged"),
        reason=known.get("reason", ""),
        counts_as=known.get("counts_as", ""),
        is_copy=known.get("copy_of") is not None,
        message=call.message if call else known["message"],
        edits=edits_of(call.arguments, redactor) if call else (),
        commits=redacted_commits(call, redactor) if call else (),
    )


def redacted_commits(call: ToolCall, redactor: Redactor) -> tuple[Commit, ...]:
    """The commits of a call, as they may be shown."""
    return tuple(Commit(one.id, redactor.text(one.branch), redactor.text(one.subject)) for one in commits_of(call))


def whole_text(session: Session, at: str, redactor: Redactor) -> tuple[str, ShownText]:
    """What a link to the whole of a cut text shows: `message-3`, or `call-` and the id of a call."""
    kind, _, name = at.partition("-")
    if kind == "call":
        for call in session.calls():
            if call.id == name and call.result is not None:
                return f"Result of {call.tool}", _cut(call.result.text, WHOLE_CHARS, redactor)
    elif kind in ("message", "thinking") and name.isascii() and name.isdecimal() and int(name) < len(session.messages):
        message = session.messages[int(name)]
        title = f"Message {int(name) + 1}, {message.role}" + (", thinking" if kind == "thinking" else "")
        return title, _cut(message.thinking if kind == "thinking" else message.text, WHOLE_CHARS, redactor)
    raise NotFound("There is no such text in this session. Go back to the session.")


def _cut(text: str, most: int, redactor: Redactor) -> ShownText:
    if len(text) <= most:
        # Redaction can shorten a text; with its length it would count as cut.
        return ShownText(text=redactor.text(text), length=0)
    return ShownText(text=redactor.head(text, most), length=len(text))
