"""Logs of Inspect: every sample of an evaluation is a session. JSON documents, and `.eval` archives."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.errors import SourceError
from seasoned.history.builder import SessionBuilder
from seasoned.history.chat import ChatReader
from seasoned.history.coerce import (
    NO_USAGE,
    as_object,
    count,
    identity,
    known_usage,
    number,
    remaining,
    string,
    text_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import (
    documents,
    field,
    fields,
    items,
    noting_unreadable,
    source_errors,
)
from seasoned.history.session_reader import SessionFormat, add_messages, note_times
from seasoned.session import NO_MARKS, Marks, Session, Unreadable, Usage

NAME = "inspect"
_FORMAT = SessionFormat(NAME, "inspect")
# An archive may claim any size: a larger member is not unpacked.
_MAX_BYTES = 256 << 20
# Long texts are stored once under `attachments` and referred to.
_ATTACHMENT = "attachment://"
# The scores of Inspect: correct and incorrect.
_LABELS = {"C": True, "I": False}
_CANNOT_UNPACK = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError)


def recognises(sample: Sample) -> bool:
    """Whether it is a log document, or an archive that holds one."""
    if sample.kind == "zip":
        return _is_archive(sample.path)
    if sample.kind != "document" or sample.is_list:
        return False
    return any("eval" in value and "status" in value and "version" in value for value in sample.records)


def _is_archive(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except _CANNOT_UNPACK:
        return False
    return bool(names & {"header.json", "_journal/start.json"})


def read(path: Path) -> Iterator[Session]:
    """One session for each sample."""
    with source_errors(path), path.open("rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04"
    parts = _from_archive(path) if is_zip else _from_document(path)
    return _FORMAT.sessions(path, parts)


def _from_document(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    for part in documents(path):
        if isinstance(part, Unreadable):
            yield part
            continue
        evaluation = as_object(field(part.value, "eval"))
        for position, raw in enumerate(items(part.value.get("samples"))):
            yield _sample(path, evaluation, raw, f"sample {position}", str(position))


def _from_archive(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    try:
        archive = zipfile.ZipFile(path)
    except _CANNOT_UNPACK as error:
        raise SourceError(f"{str(path)!r} cannot be opened as an archive: {error}.") from error
    with archive:
        # A log that was written in steps has some names twice; the last entry counts.
        members = {info.filename: info for info in archive.infolist()}
        evaluation: dict[str, Any] = {}
        for name in ("_journal/start.json", "header.json"):
            header = _unpack(archive, members[name]) if name in members else b""
            if isinstance(header, Unreadable):
                yield header
            elif header:
                try:
                    evaluation = as_object(field(fields(header), "eval")) or evaluation
                except msgspec.DecodeError as error:
                    yield Unreadable(name, str(error))
        for name, info in members.items():
            if name.startswith("samples/") and name.endswith(".json"):
                data = _unpack(archive, info)
                if isinstance(data, Unreadable):
                    yield data
                else:
                    yield _sample(path, evaluation, data, name, name.removeprefix("samples/").removesuffix(".json"))


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | Unreadable:
    """The bytes of a member, up to a limit that does not trust the archive's own figures."""
    if info.file_size > _MAX_BYTES:
        return Unreadable(info.filename, f"{info.file_size} bytes when unpacked: more than {_MAX_BYTES} are not read")
    try:
        with archive.open(info) as member:
            data = member.read(_MAX_BYTES + 1)
    except _CANNOT_UNPACK as error:
        return Unreadable(info.filename, f"cannot be unpacked: {error}")
    if len(data) > _MAX_BYTES:
        return Unreadable(info.filename, f"more than {_MAX_BYTES} bytes when unpacked")
    return data


def _sample(
    path: Path, evaluation: dict[str, Any], raw: bytes | msgspec.Raw, where: str, name: str
) -> SessionBuilder | Unreadable:
    try:
        sample = fields(raw)
    except msgspec.DecodeError as error:
        return Unreadable(where, str(error))
    run = identity(evaluation.get("eval_id")) or identity(evaluation.get("run_id")) or path.stem
    own = identity(field(sample, "id"))
    # Older logs have no uuid, and the ids of samples repeat between evaluations.
    native = identity(field(sample, "uuid")) or f"{run}/{name if own is None else _named(own, sample)}"
    builder = _FORMAT.builder(path, native)
    with noting_unreadable(builder, where):
        _describe(builder, evaluation, sample)
        _add(builder, sample, where)
    return builder


def _named(own: str, sample: dict[str, msgspec.Raw]) -> str:
    """The name of a sample in archives, so that a document gives it the same id."""
    return f"{own}_epoch_{identity(field(sample, 'epoch')) or 1}"


def _describe(builder: SessionBuilder, evaluation: dict[str, Any], sample: dict[str, msgspec.Raw]) -> None:
    builder.model = string(evaluation.get("model"))
    task, sample_id = string(evaluation.get("task")), identity(field(sample, "id"))
    builder.title = f"{task} {sample_id}" if task and sample_id else task
    # Samples run in sandboxes: the task, not a folder, is what they have in common.
    builder.application = task
    note_times(builder, "the sample", field(sample, "started_at"), field(sample, "completed_at"))
    builder.succeeded = _label(as_object(field(sample, "scores")))
    builder.total_usage = _usage(as_object(field(sample, "model_usage")))
    if field(sample, "error") is not None:
        builder.end_reason = "error"
    elif (limit := as_object(field(sample, "limit"))) and (kind := string(limit.get("type"))):
        builder.end_reason = f"{kind} limit"


def _label(scores: dict[str, Any]) -> bool | None:
    """Whether the sample was solved, if all scorers clearly agree."""
    labels = set()
    for score in scores.values():
        value = as_object(score).get("value")
        if isinstance(value, str):
            labels.add(_LABELS.get(value))
        elif isinstance(value, bool):
            labels.add(value)
        else:
            labels.add({0.0: False, 1.0: True}.get(-1.0 if (points := number(value)) is None else points))
    return labels.pop() if len(labels) == 1 else None


def _usage(models: dict[str, Any]) -> Usage | None:
    total = NO_USAGE
    for value in models.values():
        usage = as_object(value)
        sent, made = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
        read, written = count(usage.get("input_tokens_cache_read")), count(usage.get("input_tokens_cache_write"))
        # Providers differ on whether the input includes the cache; the total shows which way it was.
        includes_cache = count(usage.get("total_tokens")) == (sent or 0) + (made or 0)
        total = total + Usage(
            input=remaining(sent, read, written) if includes_cache else sent,
            output=made,
            cache_read=read,
            cache_write=written,
            reasoning=count(usage.get("reasoning_tokens")),
        )
    return known_usage(total)


def _add(builder: SessionBuilder, sample: dict[str, msgspec.Raw], where: str) -> None:
    messages = items(sample.get("messages")) or items(sample.get("message_pool")) or _pooled(sample)
    attachments = as_object(field(sample, "attachments"))
    chat = ChatReader(builder, marks=_marks)

    def add(message: dict[str, Any], place: str, position: int) -> None:
        if attachments:
            message = _attach(message, attachments)
        chat.add(_with_error_text(message), where=place, place=position)

    add_messages(builder, messages, add, within=where)


def _pooled(sample: dict[str, msgspec.Raw]) -> list[msgspec.Raw]:
    try:
        return items(fields(sample["events_data"]).get("messages")) if "events_data" in sample else []
    except msgspec.DecodeError:
        return []


def _attach(value: Any, attachments: dict[str, Any]) -> Any:
    """The value with attachments put back in place."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return string(attachments.get(value.removeprefix(_ATTACHMENT))) or value
    if isinstance(value, list):
        return [_attach(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: _attach(item, attachments) for key, item in value.items()}
    return value


def _with_error_text(message: Any) -> Any:
    """The message of a failed call with its error as content: the log keeps that empty."""
    error = as_object(as_object(message).get("error"))
    if as_object(message).get("role") == "tool" and error and not text_of(message.get("content")):
        return {**message, "content": text_of(error.get("message"))}
    return message


def _marks(message: dict[str, Any]) -> Marks:
    error = as_object(message.get("error"))
    if not error:
        return NO_MARKS
    return Marks(failed=True, declined=error.get("type") == "approval")
