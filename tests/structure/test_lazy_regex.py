"""Expressions that are kept compiled between runs are those that `re.compile` makes."""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path

import pytest

import seasoned.experience.storage
import seasoned.redact.redactor
import seasoned.scan.file_reader
import seasoned.template.mine.miner  # noqa: F401 (these define most expressions)
from seasoned.lazy_regex import KeptExpressions, LazyRegex


@pytest.fixture(autouse=True)
def may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def test_an_expression_is_the_same_from_the_file_as_compiled(tmp_path: Path) -> None:
    gc.unfreeze()  # what a program at work has frozen is not listed
    every = {(one.text, int(one.flags)) for one in gc.get_objects() if type(one) is LazyRegex}
    assert len(every) > 200
    first, later = (KeptExpressions(str(tmp_path / "kept")) for _ in range(2))
    compiled = {key: re.compile(*key) for key in every}
    # Two patterns are equal if their flags and their code for the engine are.
    assert {key: first.compiled(*key) for key in every} == compiled
    first.save()
    saved = (tmp_path / "kept").stat().st_mtime_ns
    found = {key: later.compiled(*key) for key in every}
    assert found == compiled
    assert all(found[key].groupindex == compiled[key].groupindex for key in every)
    later.save()
    # It compiled nothing, so it had nothing to write.
    assert (tmp_path / "kept").stat().st_mtime_ns == saved


def test_two_processes_add_to_the_same_file(tmp_path: Path) -> None:
    for text in ("a+", "(?P<name>b)"):
        one = KeptExpressions(str(tmp_path / "kept"))
        one.compiled(text)
        one.save()
    size = (tmp_path / "kept").stat().st_size
    both = KeptExpressions(str(tmp_path / "kept"))
    assert (both.compiled("(?P<name>b)"), both.compiled("a+")) == (re.compile("(?P<name>b)"), re.compile("a+"))
    both.save()
    assert (tmp_path / "kept").stat().st_size == size


@pytest.mark.parametrize("at", [0, 5, 40, -1])
def test_a_damaged_file_or_one_of_another_python_is_not_used(tmp_path: Path, at: int) -> None:
    path = tmp_path / "kept"
    KeptExpressions(str(path)).save()
    one = KeptExpressions(str(path))
    one.compiled("a+b")
    one.save()
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    later = KeptExpressions(str(path))
    assert later.compiled("a+b") == re.compile("a+b")
    later.save()
    # Written again, whole.
    assert path.read_bytes() != bytes(data)


def test_nothing_is_kept_where_python_writes_no_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    one = KeptExpressions(str(tmp_path / "kept"))
    assert one.compiled("a", int(re.IGNORECASE)) == re.compile("a", re.IGNORECASE)
    one.save()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    one = KeptExpressions(str(tmp_path / "missing" / "kept"))
    assert one.compiled("a") == re.compile("a")
    one.save()
    assert not list(tmp_path.iterdir())
