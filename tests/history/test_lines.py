"""Lines are split as they lie in the file, and what is glued or cut on one is told apart."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from seasoned.errors import SourceError
from seasoned.history.json_file import JsonLine, decode, json_lines, split_objects
from tests.each_case import each_case


def test_places_are_byte_offsets_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":"\xc3\xa9"}\n\n  \r\n{"b":2}\r\n{"c":3}')
    assert list(json_lines(path)) == [
        JsonLine(0, 1, b'{"a":"\xc3\xa9"}\n'),
        JsonLine(16, 4, b'{"b":2}\r\n'),
        JsonLine(25, 5, b'{"c":3}'),
    ]
    assert list(json_lines(path, 25)) == [JsonLine(25, 1, b'{"c":3}')]


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a":1}\n')
    assert list(json_lines(path)) == [JsonLine(3, 1, b'{"a":1}\n')]


def test_what_cannot_be_opened_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        list(json_lines(tmp_path / "missing.jsonl"))
    with pytest.raises(SourceError, match="cannot be read"):
        list(json_lines(tmp_path))


@each_case(
    ("line", "pieces"),
    [
        (b'{"a":1}\n', [b'{"a":1}']),
        (b'{"a":1}{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":"}{"} {"b":2} \n', [b'{"a":"}{"}', b'{"b":2}']),
        (b'{"a":1}{"b":', [b'{"a":1}', b'{"b":']),
        (b"nonsense\n", [b"nonsense"]),
        (b"\n", []),
        # A line that was cut, and the next one written right behind it.
        (b'{"type":"a","x":[{"type":"n"},{"ty{"type":"b"}\n', [b'{"type":"a","x":[{"type":"n"},{"ty', b'{"type":"b"}']),
        (b'{"a":"\xff"}{"b":2}', [b'{"a":"\xff"}', b'{"b":2}']),
    ],
)
def test_glued_objects_come_apart(line: bytes, pieces: list[bytes]) -> None:
    assert split_objects(line) == pieces


def test_broken_characters_are_replaced_and_the_record_is_kept() -> None:
    assert decode(rb'{"a":"\ud83d\ude00 \ud800 \\ud800 \udc00"}') == {"a": "😀 � \\ud800 �"}
    assert decode(b'{"a":"\xff"}') == {"a": "�"}
    assert decode(b'{"a":NaN,"b":[-Infinity,1e999]}') == {"a": None, "b": [None, None]}
    assert decode(b'{"a":"x\x00y"}') == {"a": "x\x00y"}


@each_case("data", [b"", b'{"a":', b"[" * 100_000, b'{"a":' * 100_000, b"1" * 5000, b"\xff"])
def test_what_is_no_json_says_so(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(data)
