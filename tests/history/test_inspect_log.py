"""Logs of Inspect: documents, archives, and archives that are traps."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from seasoned.errors import SourceError
from seasoned.history.reader.log import inspect_log
from seasoned.session import Marks, Message, Result, SessionRef, ToolCall, Unreadable, Usage
from tests.each_case import each_case
from tests.history.small_formats import INSPECT_SAMPLE, document, inspect_archive, read


@pytest.mark.parametrize("name", ["inspect", "inspect archive"])
def test_a_sample_is_a_session(name: str, tmp_path: Path) -> None:
    session = read(tmp_path, name)[0]
    rejected = Result("Tool call rejected", Marks(failed=True, declined=True))
    calls = (
        ToolCall("c1", "bash", {"cmd": "ls"}, Result("bin\n"), 0, 1, place=1),
        ToolCall("c2", "bash", {"cmd": "rm"}, rejected, 1, 1, place=1),
        ToolCall("c3", "bash", {"cmd": "cat"}, Result("timed out", Marks(failed=True)), 2, 1, place=1),
    )
    assert session.ref == SessionRef("inspect", "uuid-1")
    assert session.messages[:2] == (
        Message("user", "A long question."),
        Message("assistant", "I run it.", calls, place=1, model="m-2"),
    )
    assert (session.succeeded, session.title) == (True, "guess s1")
    assert session.usage == Usage(input=40, output=10, cache_read=60)


def test_a_sample_without_a_uuid_has_the_same_id_in_both_kinds_of_file(tmp_path: Path) -> None:
    sample = {"id": 2, "epoch": 1, "messages": [], "scores": {"match": {"value": "I"}}}
    archived = read(tmp_path, "inspect archive", inspect_archive(**{"2_epoch_1": document(sample)}))[1]
    written = read(tmp_path, "inspect")[1]
    assert archived.ref == written.ref == SessionRef("inspect", "ev1/2_epoch_1")
    assert (archived.succeeded, written.succeeded) == (False, False)


@each_case(
    ("scores", "label"),
    [
        ({"a": {"value": "C"}, "b": {"value": 1}}, True),
        ({"a": {"value": "C"}, "b": {"value": "I"}}, None),
        ({"a": {"value": 0.0}}, False),
        ({"a": {"value": 0.7}}, None),
        ({"a": {"value": "P"}}, None),
        ({"a": {"value": {"x": 1}}}, None),
        ({}, None),
    ],
)
def test_a_label_only_where_the_scores_are_clear(scores: object, label: bool | None, tmp_path: Path) -> None:
    log = {"version": 2, "status": "success", "eval": {}, "samples": [{**INSPECT_SAMPLE, "scores": scores}]}
    (session,) = read(tmp_path, "inspect", document(log))
    assert session.succeeded is label


def test_messages_that_are_kept_in_a_pool(tmp_path: Path) -> None:
    sample = {key: value for key, value in INSPECT_SAMPLE.items() if key != "messages"}
    for pool in (
        {"message_pool": INSPECT_SAMPLE["messages"]},
        {"events_data": {"messages": INSPECT_SAMPLE["messages"]}},
    ):
        log = {"version": 2, "status": "success", "eval": {}, "samples": [{**sample, **pool}]}
        (session,) = read(tmp_path, "inspect", document(log))
        assert [call.id for call in session.calls()] == ["c1", "c2", "c3"]


def test_a_member_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "_MAX_BYTES", 100_000)
    data = inspect_archive(bomb=b" " * 100_001, bad=b"{", s2_epoch_1=document({**INSPECT_SAMPLE, "uuid": "u2"}))
    first, second = read(tmp_path, "inspect archive", data)
    assert first.unreadable == (
        Unreadable("samples/bomb.json", "100001 bytes when unpacked: more than 100000 are not read"),
        Unreadable("samples/bad.json", "Input data was truncated"),
    )
    assert [second.ref.native_id, len(list(second.calls()))] == ["u2", 3]


def test_a_member_that_lies_about_its_size_is_not_read_to_its_end(tmp_path: Path) -> None:
    packed = bytearray(inspect_archive(bomb=b" " * 5000))
    at = packed.rindex(b"samples/bomb.json") - 46
    packed[at + 24 : at + 28] = (10).to_bytes(4, "little")
    session = read(tmp_path, "inspect archive", bytes(packed))[0]
    assert [lost.place for lost in session.unreadable] == ["samples/bomb.json"]


def test_an_archive_that_is_cut_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be opened as an archive"):
        read(tmp_path, "inspect archive", inspect_archive()[:-30])


def test_a_packing_that_python_does_not_know_is_told(tmp_path: Path) -> None:
    packed = io.BytesIO(inspect_archive())
    with zipfile.ZipFile(packed) as archive:
        offset = archive.getinfo("samples/s1_epoch_1.json").header_offset
    data = bytearray(packed.getvalue())
    central = data.rindex(b"samples/s1_epoch_1.json") - 46
    data[offset + 8 : offset + 10] = data[central + 10 : central + 12] = (99).to_bytes(2, "little")
    (session,) = read(tmp_path, "inspect archive", bytes(data))
    assert session.messages == ()
    assert [lost.place for lost in session.unreadable] == ["samples/s1_epoch_1.json"]
