"""What leaves a machine: records made from the store, without the text of conversations and without people's names.

Everything that is pushed about sessions is made here, and about experiments in `experiment`: to know what is shared,
read these two files. The same content gives the same bytes, so a record is identified by its digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Annotated, Any

import msgspec

from seasoned.config import TeamSettings
from seasoned.digest import short_digest
from seasoned.experience.evidence import FailedCall, FormUse, SessionEvidence
from seasoned.experience.lesson import kind_mark
from seasoned.insight.mistake.failure import plain_error
from seasoned.insight.track import JudgedCall
from seasoned.lazy_regex import LazyRegex
from seasoned.project import APPLICATION, is_path
from seasoned.redact.redactor import TAG, Redactor
from seasoned.store import DatabaseRow, Store
from seasoned.store.packed import unpack

# Raise it when records are made differently: then everything is compared with what the server has again.
VERSION = 2
MOST_DOCUMENT_BYTES = 400_000
_MOST_CALLS = 2_000
_MOST_VALUE_CHARS = 200
_MOST_COMMAND_CHARS = 500
_ALL = "*"
_LEFT_OUT = " characters]"  # ends the placeholder of an argument
_HOME = LazyRegex(r"(?:/home|/Users|[A-Za-z]:[\\/]Users)[\\/][^\\/\s'\"]+|/var/root\b|/root\b")
_encode = msgspec.json.Encoder(order="deterministic").encode
_decode_evidence = msgspec.json.Decoder(SessionEvidence).decode


class TeamRecord(msgspec.Struct, frozen=True):
    """One thing that is pushed. Without a document it is withdrawn."""

    project: str
    kind: str
    key: str
    document: msgspec.Raw | None
    session: str = ""  # `agent:native id`; it stays on the machine

    @property
    def digest(self) -> str:
        return "" if self.document is None else blake2b(bytes(self.document), digest_size=16).hexdigest()


def record_row(credential: str, record: TeamRecord, now: float) -> dict[str, Any]:
    """A record as the server stores it."""
    text = None if record.document is None else bytes(record.document).decode()
    return {
        "credential": credential,
        "project": record.project,
        "kind": record.kind,
        "key": record.key,
        "digest": record.digest,
        "document": text,
        "bytes": 0 if text is None else len(text),
        "now": now,
    }


# The server adds them up, so that none may be larger than its sums.
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**40)]


class SessionTotals(msgspec.Struct, frozen=True, kw_only=True):
    """A session in numbers."""

    agent: str
    model: str | None
    started: float | None
    ended: float | None
    task_type: str | None
    messages: _Count
    calls: _Count
    ok: _Count
    failed: _Count
    unclear: _Count
    input_tokens: _Count | None
    output_tokens: _Count | None
    cache_read_tokens: _Count | None
    cache_write_tokens: _Count | None
    reasoning_tokens: _Count | None
    cost_usd: float | None


class SharedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call with its verdict. Long arguments, results and what was said before it are left out."""

    tool: str
    kind: str
    verdict: str
    fault: str
    evidence: str
    reason: str  # why it failed, in our words; in those of the error only if conversations are shared
    time: float | None
    arguments: dict[str, Any]
    said: str = ""  # this and the next only if conversations are shared
    result: str = ""
    message: int = -1  # calls of one message were made together
    is_corrected: bool = False


class SharedCalls(msgspec.Struct, frozen=True):
    """The calls of a session, and how many were left out."""

    calls: tuple[SharedCall, ...]
    left_out: int = 0


# The kinds of records: what a session shows about its project, its totals, and its calls with their verdicts.
DOCUMENTS: dict[str, type[msgspec.Struct]] = {
    "evidence": SessionEvidence,
    "session": SessionTotals,
    "calls": SharedCalls,
}


def is_shareable(project: str) -> bool:
    """Whether a project is known by the same key on every machine: only the address of a repository is."""
    return not is_path(project) and not project.startswith(APPLICATION)


def shareable_projects(store: Store) -> list[str]:
    """The projects with sessions here that can be shared."""
    rows = store.rows("project.keys", {"limit": -1})
    return [row["project"] for row in rows if is_shareable(row["project"])]


def allowed_projects(store: Store, settings: TeamSettings) -> list[str]:
    """The projects whose records may be pushed."""
    return [one for one in shareable_projects(store) if one in settings.projects or _ALL in settings.projects]


def session_key(ref: str) -> str:
    """The key of a session in records: its own id stays on the machine."""
    return short_digest(ref, size=12)


def records_of(store: Store, settings: TeamSettings, redactor: Redactor, *, since: float = 0.0) -> Iterator[TeamRecord]:
    """The records of all sessions that were learned from since a time, in the allowed projects."""
    maker = _RecordMaker(redactor, has_words=settings.conversations)
    for project in allowed_projects(store, settings):
        # A list: the caller may write to the store between two records.
        for row in store.rows("membership.learned", {"since": since, "project": project}):
            ref = f"{row['agent']}:{row['native_id']}"
            key = session_key(ref)
            evidence = maker.evidence(_decode_evidence(unpack(row["content"])), key)
            calls = store.rows("membership.calls", {"session_id": row["id"], "most": _MOST_CALLS})
            for kind, document in (
                ("evidence", _encode(evidence)),
                ("session", _encode(SessionTotals(**{name: row[name] for name in SessionTotals.__struct_fields__}))),
                ("calls", maker.calls(calls, row["calls"])),
            ):
                yield TeamRecord(project, kind, key, msgspec.Raw(document), ref)


class _RecordMaker:
    """Makes documents without secrets, tags that only one machine can compare, and home folders."""

    def __init__(self, redactor: Redactor, *, has_words: bool) -> None:
        self._redactor = redactor
        self._has_words = has_words

    def text(self, text: str) -> str:
        # Once more: rules may have been added since the text was stored.
        return impersonal(untagged(self._redactor.text(text)))

    def command(self, text: str) -> str:
        """A command; only the first line if a here-document follows, which may be a file."""
        return self.text(text.partition("\n")[0] if "<<" in text and not self._has_words else text)

    def evidence(self, found: SessionEvidence, key: str) -> SessionEvidence:
        return msgspec.structs.replace(
            found,
            session=key,
            root=session_key(found.root),
            folder=None,
            task=self.text(found.task) if self._has_words else "",
            uses=tuple(self._use(one) for one in found.uses),
            failures=tuple(self._failure(one) for one in found.failures),
            files=tuple(self.text(one) for one in found.files),
        )

    def _use(self, use: FormUse) -> FormUse:
        text = self.command(use.text)
        # With a home folder replaced, it would not run anywhere.
        is_whole = use.is_whole and text == untagged(use.text)
        return msgspec.structs.replace(use, form=self.text(use.form), text=text, is_whole=is_whole)

    def _failure(self, failure: FailedCall) -> FailedCall:
        text = self.command(failure.text)
        way = failure.way
        return msgspec.structs.replace(
            failure,
            form=self.text(failure.form),
            signature=kind_mark(failure.kind)[2],
            text=text if text == untagged(failure.text) else "",
            path=self.text(failure.path),
            way=None if way is None else msgspec.structs.replace(way, value=self.text(way.value)),
        )

    def calls(self, rows: Sequence[DatabaseRow], total: int) -> bytes:
        made = [self._call(row) for row in rows]
        document = _encode(SharedCalls(tuple(made), max(0, total - len(made))))
        while len(document) > MOST_DOCUMENT_BYTES:
            made = made[: len(made) // 2]
            document = _encode(SharedCalls(tuple(made), total - len(made)))
        return document

    def _call(self, row: DatabaseRow) -> SharedCall:
        try:
            arguments = msgspec.json.decode(row["arguments"], type=dict[str, Any])
        except msgspec.DecodeError:
            arguments = {}
        shared = {name: self._argument(name, value) for name, value in arguments.items()}
        return SharedCall(
            row["tool"],
            row["kind"],
            row["verdict"],
            row["fault"],
            row["evidence"],
            self.text(row["reason"] if self._has_words else _plain_reason(row, shared)),
            row["time"],
            shared,
            self.text(row["intent"] or "") if self._has_words else "",
            self.text(row["result"] or "")[:_MOST_COMMAND_CHARS] if self._has_words else "",
            row["message"],
            bool(row["corrected"]),
        )

    def _argument(self, name: str, value: Any) -> Any:
        """A short argument as it was; of a longer one, such as a file or a prompt, only that it was there."""
        if isinstance(value, bool | int | float) or value is None:
            return value
        text = value if isinstance(value, str) else _encode(value).decode()
        is_command = name in ("command", "cmd")
        most = _MOST_COMMAND_CHARS if is_command else _MOST_VALUE_CHARS
        if not self._has_words and (name in _PROSE or len(text) > most):
            return f"[{len(text)}{_LEFT_OUT}"
        return self.command(text) if is_command else self.text(text)


def _plain_reason(row: DatabaseRow, shared: dict[str, Any]) -> str:
    """Why a call failed, in our words; its subject only if that is shared with its arguments."""
    if row["counts_as"] != "failed":
        return ""
    names = ("message", "tool", "kind", "counts_as", "verdict", "fault", "time")
    said = {"raw_arguments": _encode(shared).decode(), "result": row["result"], "reason": row["reason"]}
    return plain_error(JudgedCall(0, *[row[name] for name in names], **said))


# Arguments with sentences of people or agents, or contents of files, even short ones.
_PROSE = frozenset(
    {"answer", "answers", "body", "comment", "content", "contents", "description", "explanation", "input"}
    | {"instructions", "message", "new_source", "new_string", "old_string", "patch", "plan", "prompt", "query"}
    | {"question", "questions", "summary", "text", "title", "todos"}
)


def is_left_out(value: Any) -> bool:
    """Whether this is the placeholder of an argument that was not shared."""
    return isinstance(value, str) and value.startswith("[") and value.endswith(_LEFT_OUT)


def untagged(text: str) -> str:
    """Tags of redacted texts without the part that only the key of one machine makes: equal on all machines."""
    return TAG.compiled.sub(lambda match: f"{match[0][:-9]}00000000]", text) if "[redacted:" in text else text


def impersonal(text: str) -> str:
    """The text without the names of home folders."""
    return _HOME.compiled.sub("~", text)


def from_wire(document: msgspec.Raw, *, person: str, at: float) -> SessionEvidence:
    """The evidence of another machine's session. Nothing of it may be newer than when it was pushed."""
    evidence = _decode_evidence(document)
    ended = min(evidence.end, at)
    return msgspec.structs.replace(
        evidence,
        session=f"team:{evidence.session}",
        root=f"team:{person}:{evidence.root}",
        folder=None,
        started=None if evidence.started is None else min(evidence.started, ended),
        ended=ended,
        person=person,
    )
