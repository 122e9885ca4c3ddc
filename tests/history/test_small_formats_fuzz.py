"""Whatever lies in a file, reading it raises nothing but SourceError, and what is whole around the damage survives."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seasoned.errors import SourceError
from seasoned.history.formats import Format, named, take_sample
from seasoned.session import Session
from tests.each_case import each_case
from tests.history.small_formats import FIXTURES, document, lines, read, write
from tests.torture import TORTURE

MODULES = sorted({module for module, _, _ in FIXTURES.values()})
TREES = {name: data for name, (_, _, data) in FIXTURES.items() if not data.startswith(b"PK")}
LINES = sorted(
    name for name, data in TREES.items() if len(data.splitlines()) > 2 and not data.startswith((b"[", b"{\n"))
)
DEEP = b'{"role":"user","type":"user","content":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
# For each of some twenty formats.
OFTEN = settings(max_examples=300 if TORTURE else 10, suppress_health_check=list(HealthCheck))


def check_survives(reader: Format, data: bytes, suffix: str = ".jsonl") -> list[Session]:
    """Read the bytes; a SourceError is an answer too, anything else escapes and fails the test."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        path.write_bytes(data)
        try:
            reader.recognises(take_sample(path))
            sessions = list(reader.read(path))
        except SourceError:
            return []
        for session in sessions:
            for call in session.calls():
                assert isinstance(call.id, str) and call.id
                assert isinstance(call.tool, str) and call.tool
                assert isinstance(call.arguments, dict)
                # What is read must be fit to be stored.
                assert call.result is None or call.result.text.encode() is not None
            assert all(message.text.encode() is not None for message in session.messages)
        return sessions


def calls_of(sessions: list[Session]) -> list[tuple[str, str]]:
    return [(call.id, call.tool) for session in sessions for call in session.calls()]


@each_case("module", MODULES)
@OFTEN
@given(data=st.binary(max_size=300))
def test_arbitrary_bytes(module: str, data: bytes) -> None:
    reader = named(module)
    for opening in (b"", b"{", b'[{"role":"user",', b'{"messages":[', b"PK\x03\x04"):
        check_survives(reader, opening + data)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -1, 2**63, 1e308, "", "\ud800", "a\x00b", "\udfff\ud800", "NaN", "9" * 400])
    | st.floats(allow_nan=True)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
KEYS = ("role", "content", "tool_calls", "id", "type", "raw", "data", "parts", "attributes", "value", "args", "usage")


@st.composite
def damaged(draw: st.DrawFn, tree: Any) -> Any:
    """The tree with a few of its values replaced, dropped or put where they do not belong."""
    tree = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(tree))
        if not places:
            return draw(JUNK)
        owner, key = draw(st.sampled_from(places))
        action = draw(st.sampled_from(["replace", "replace", "drop", "wrap", "add", "double"]))
        if isinstance(owner, dict) and key not in owner:
            continue
        if isinstance(owner, list) and key >= len(owner):
            continue
        if action == "replace":
            owner[key] = draw(JUNK)
        elif action == "wrap":
            owner[key] = [owner[key]]
        elif action == "add" and isinstance(owner, dict):
            owner[draw(st.sampled_from(KEYS))] = draw(JUNK)
        elif action == "double" and isinstance(owner, list):
            owner.insert(key, copy.deepcopy(owner[key]))
        elif isinstance(owner, dict):
            del owner[key]
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(tree, dict):
        for key in list(tree):
            yield tree, key
            yield from _places(tree[key])
    elif isinstance(tree, list):
        for index in range(len(tree)):
            yield tree, index
            yield from _places(tree[index])


def _tree(data: bytes) -> tuple[Any, bool]:
    try:
        return json.loads(data), False
    except ValueError:
        return [json.loads(line) for line in data.splitlines()], True


@each_case("name", sorted(TREES))
@OFTEN
@given(data=st.data())
def test_wrong_types_at_any_place(name: str, data: st.DataObject) -> None:
    tree, is_lines = _tree(TREES[name])
    broken = data.draw(damaged(tree))
    packed = lines(*broken) if is_lines and isinstance(broken, list) else document(broken)
    check_survives(named(FIXTURES[name][0]), packed)


@each_case("name", sorted(TREES))
@OFTEN
@given(data=st.data(), depth=st.sampled_from([100, 400, 600, 900]), key=st.sampled_from(["", "text", "content"]))
def test_deep_nesting_at_any_place(name: str, data: st.DataObject, depth: int, key: str) -> None:
    tree, is_lines = _tree(TREES[name])
    owner, place = data.draw(st.sampled_from(list(_places(tree))))
    owner[place] = "@deep@"
    opens, closes = (f'{{"{key}":', "}") if key else ("[", "]")
    packed = lines(*tree) if is_lines else document(tree)
    deep = f"{opens * depth}1{closes * depth}".encode()
    check_survives(named(FIXTURES[name][0]), packed.replace(b'"@deep@"', deep))


@each_case("name", sorted(TREES))
@OFTEN
@given(data=st.data())
def test_a_file_that_was_cut_keeps_what_lies_before(name: str, data: st.DataObject) -> None:
    whole = TREES[name]
    cut = data.draw(st.integers(0, len(whole)))
    reader = named(FIXTURES[name][0])
    sessions = check_survives(reader, whole[:cut])
    known = set(calls_of(check_survives(reader, whole)))
    # A name may be cut as well, so only calls whose result was seen are compared.
    answered = {(c.id, c.tool) for s in sessions for c in s.calls() if c.result is not None}
    assert answered <= known or name.startswith(("otel", "sharegpt"))


@each_case("name", LINES)
def test_a_bad_line_is_told_and_the_lines_around_it_survive(name: str, tmp_path: Path) -> None:
    parts = TREES[name].splitlines(keepends=True)
    before = read(tmp_path, name)
    for bad in (b"not json\n", b'{"cut": "\n', DEEP, b"\xff\xfe\n"):
        middle = len(parts) // 2
        sessions = read(tmp_path, name, b"".join([*parts[:middle], bad, *parts[middle:]]))
        assert calls_of(sessions) == calls_of(before)
        told = sum([len(session.unreadable) for session in sessions])
        assert told == sum([len(session.unreadable) for session in before]) + 1


@each_case("name", LINES)
def test_objects_glued_on_one_line_are_both_read(name: str, tmp_path: Path) -> None:
    glued = TREES[name].replace(b"}\n{", b"}{", 1)
    assert calls_of(read(tmp_path, name, glued)) == calls_of(read(tmp_path, name))


@each_case("name", sorted(TREES))
def test_broken_characters_cost_no_call(name: str, tmp_path: Path) -> None:
    expected = calls_of(read(tmp_path, name))
    for mark in (b"\\ud800", b"\\u0000", b"\xff"):
        data = TREES[name].replace(b". ", b". " + mark).replace(b'."', b"." + mark + b'"')
        sessions = read(tmp_path, name, data)
        assert calls_of(sessions) == expected
        assert all("\ud800" not in message.text for session in sessions for message in session.messages)


def test_a_line_of_five_megabytes_is_read(tmp_path: Path) -> None:
    text = "x" * (5 << 20)
    message = {"role": "tool", "tool_call_id": "call_a", "content": text}
    parts = TREES["openai lines"].splitlines(keepends=True)
    (session,) = read(tmp_path, "openai lines", b"".join([*parts[:3], lines(message), parts[5]]))
    found = {call.id: call.result and len(call.result.text) for call in session.calls()}
    assert found == {"call_a": 5 << 20, "call_b": None}


@each_case("name", sorted(TREES))
def test_missing_ids_are_made_from_the_position(name: str, tmp_path: Path) -> None:
    def without(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: without(value) for key, value in tree.items() if key.lower() not in _ID_KEYS}
        return [without(item) for item in tree] if isinstance(tree, list) else tree

    tree, is_lines = _tree(TREES[name])
    packed = lines(*without(tree)) if is_lines else document(without(tree))
    first, second = read(tmp_path, name, packed), read(tmp_path, name, packed)
    assert first == second
    assert len(calls_of(first)) == len(calls_of(read(tmp_path, name)))


_ID_KEYS = {"id", "tool_call_id", "call_id", "toolcallid", "session_id", "sessionid", "task_id", "trial", "uuid"}


@each_case("name", sorted(FIXTURES))
def test_what_cannot_be_opened_is_a_source_error(name: str, tmp_path: Path) -> None:
    reader, path = write(tmp_path, name)
    path.unlink()
    with pytest.raises(SourceError, match="cannot be read"):
        list(reader.read(path))
