"""Sessions of Cursor's command line: `store.db`, where each message is a blob named by its digest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.coerce import arguments_of, as_list, as_object, identity, string, text_of
from seasoned.history.formats import Sample
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.reader.editor.cursor import AGENT, NAME
from seasoned.history.readonly import open_readonly, require_tables
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times
from seasoned.session import Marks, Session, SessionRef

__all__ = ["NAME", "read", "recognises"]

_FORMAT = SessionFormat(NAME, AGENT)
_NEEDED = {"blobs": {"id", "data"}, "meta": {"key", "value"}}
# The root lists the digests of its messages in order: field 1, 32 bytes.
_CHILD = re.compile(rb"\x0a\x20(.{32})", re.DOTALL)
_FOLDER = re.compile(r"^Workspace Path: (.{1,400})$", re.MULTILINE)
_ASKED = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_EXIT_CODE = re.compile(r"\bexit code:? (-?\d{1,10})\b", re.IGNORECASE)


def recognises(sample: Sample) -> bool:
    """A database with blobs and the description of one session."""
    return sample.has_tables(_NEEDED)


def read(path: Path) -> Iterator[Session]:
    """The session of the database."""
    with open_readonly(path) as connection:
        require_tables(connection, path, "Cursor", _NEEDED)
        builder = _FORMAT.builder(path, path.parent.name)
        row = connection.execute("SELECT value FROM meta ORDER BY key LIMIT 1").fetchone()
        about = as_object(stored(builder, "the description", _unhexed(row[0]))) if row else {}
        builder.ref = SessionRef(AGENT, identity(about.get("agentId")) or path.parent.name)
        builder.title, builder.model = string(about.get("name")), string(about.get("lastUsedModel"))
        root = connection.execute("SELECT data FROM blobs WHERE id = ?", (about.get("latestRootBlobId"),)).fetchone()
        reader = _CliReader(builder)
        note_times(builder, "the description", about.get("createdAt"))
        for place, digest in enumerate(_CHILD.findall(_bytes(root[0])) if root else ()):
            blob = connection.execute("SELECT data FROM blobs WHERE id = ?", (digest.hex(),)).fetchone()
            # Other blobs are lists of files and the like.
            if blob is not None and _bytes(blob[0]).startswith(b"{"):
                where = f"message {place}"
                with noting_unreadable(builder, where):
                    reader.add(as_object(stored(builder, where, _bytes(blob[0]))), where, place)
        if builder.has_news:
            yield builder.take()


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def _unhexed(value: object) -> bytes:
    """JSON written in hexadecimal digits, or as plain text by older versions."""
    try:
        return bytes.fromhex(str(value))
    except ValueError:
        return _bytes(value)


class _CliReader(SessionReader):
    """Reads the messages of one session."""

    def add(self, message: dict[str, Any], where: str, place: int) -> None:
        """Add one message: its text, and its calls or results."""
        role, content = message.get("role"), message.get("content")
        blocks = [as_object(one) for one in as_list(content)]
        own = ("tool-call", "tool-result", "reasoning", "redacted-reasoning")
        text = text_of([one for one in blocks if one.get("type") not in own]) if blocks else text_of(content)
        if role == "assistant":
            self.builder.message("assistant", text, place=place)
            self.calls.turn()
        elif role == "user":
            if self.builder.cwd is None and (found := _FOLDER.search(text)):
                self.builder.cwd = found[1].strip()
            asked = _ASKED.search(text)
            self.builder.message("user", asked[1] if asked else text, place=place)
        elif role == "system":
            self.builder.message("system", text, place=place)
        elif role != "tool":
            self.builder.unreadable(where, f"a message whose role is {str(role)[:40]!r}")
        for block in blocks:
            if block.get("type") == "tool-call":
                asked_for, tool = arguments_of(block.get("args")), string(block.get("toolName"))
                self.calls.make_named(where, block.get("toolCallId"), tool, asked_for, place=place)
            elif block.get("type") == "tool-result":
                self._add_result(block, message, place)

    def _add_result(self, block: dict[str, Any], message: dict[str, Any], place: int) -> None:
        text = text_of(block.get("result") or block.get("experimental_content"))
        failed = block.get("isError")
        code = _EXIT_CODE.search(text[:300]) if block.get("toolName") == "Shell" else None
        marks = Marks(exit_code=int(code[1])) if code else Marks(failed=failed if isinstance(failed, bool) else None)
        self.calls.answer(block.get("toolCallId"), text, marks, tool=string(block.get("toolName")), place=place)
