"""Every small format is known by its content, and no other reader takes it first."""

from __future__ import annotations

from pathlib import Path

from seasoned.history.formats import ORDER, named, take_sample
from tests.each_case import each_case
from tests.history.small_formats import FIXTURES, write


@each_case("name", FIXTURES)
def test_the_first_reader_that_says_yes_is_the_right_one(name: str, tmp_path: Path) -> None:
    reader, path = write(tmp_path, name)
    sample = take_sample(path)
    assert next((other.NAME for other in map(named, ORDER) if other.recognises(sample)), None) == reader.NAME


@each_case("name", FIXTURES)
def test_reading_changes_nothing_and_gives_the_same_twice(name: str, tmp_path: Path) -> None:
    reader, path = write(tmp_path, name)
    before = path.read_bytes(), path.stat().st_mtime_ns
    first, second = list(reader.read(path)), list(reader.read(path))
    assert first == second
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert {session.format for session in first} == {reader.NAME}
    assert len({session.ref for session in first}) == len(first)
