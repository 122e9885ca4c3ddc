"""Replacing a piece of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.runner.toolset.file import patch
from seasoned.runner.toolset.scope import ConfinedFolder, ToolScope
from tests.conftest import examples
from tests.runner.toolset.reading import verdict

APP = "def price(weight):\n    if weight > 10:\n        return 9\n    return 5\n\n\ndef main():\n    return price(3)\n"


@pytest.fixture
def scope(tmp_path: Path) -> ToolScope:
    (tmp_path / "app.py").write_text(APP)
    return ToolScope(folder=ConfinedFolder(tmp_path))


def test_a_piece_is_replaced_and_shown(scope: ToolScope, tmp_path: Path) -> None:
    answer = patch(scope, "app.py", "        return 9\n", "        return 12\n")
    assert (tmp_path / "app.py").read_text() == APP.replace("return 9", "return 12")
    assert (answer["success"], answer["replacements"], answer["error"]) == (True, 1, None)
    assert "-        return 9\n+        return 12" in answer["diff"]
    assert verdict("patch", answer, path="app.py") == "ok"


def test_a_piece_that_stands_several_times_is_not_guessed(scope: ToolScope, tmp_path: Path) -> None:
    answer = patch(scope, "app.py", "return", "yield")
    assert "occurs 3 times in 'app.py' (lines 3, 4, 8)" in answer["error"]
    assert (tmp_path / "app.py").read_text() == APP
    assert verdict("patch", answer, path="app.py") == "failed"
    assert patch(scope, "app.py", "return", "yield", replace_all=True)["replacements"] == 3


@pytest.mark.parametrize(
    ("old", "said"),
    [
        (
            "if weight > 10:\n    return 9",
            "At line 2 it is there with different whitespace:\n    if weight > 10:\n        return 9",
        ),
        ("    return price(4)", "The nearest is at line 8:\n    return price(3)"),
        ("2|    if weight > 10:", "Leave the line numbers"),
        ("nothing of the kind whatsoever", "Nothing in the file resembles it"),
        ("", "old_string is empty"),
    ],
)
def test_a_piece_that_is_not_there_is_answered_with_what_is(old: str, said: str, scope: ToolScope) -> None:
    answer = patch(scope, "app.py", old, "x")
    assert said in answer["error"]
    assert answer["success"] is False
    assert verdict("patch", answer, path="app.py") == "failed"


def test_a_change_that_changes_nothing_is_refused(scope: ToolScope) -> None:
    assert "nothing would change" in patch(scope, "app.py", "return 9", "return 9")["error"]


@pytest.mark.parametrize("path", ["missing.py", "../app.py", ".git/config", "/etc/hosts"])
def test_a_file_that_may_not_or_cannot_be_patched_is_said(path: str, scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("a")
    answer = patch(scope, path, "a", "b")
    assert answer["error"]
    assert verdict("patch", answer, path=path) == "failed"
    assert (tmp_path / ".git" / "config").read_text() == "a"


def test_line_ends_stay_as_they_are(scope: ToolScope, tmp_path: Path) -> None:
    file = tmp_path / "dos.txt"
    file.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    assert patch(scope, "dos.txt", "one\ntwo\n", "1\n2\n2b\n")["success"]
    assert file.read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"
    assert patch(scope, "dos.txt", "three", "3\n4")["success"]
    assert file.read_bytes() == b"1\r\n2\r\n2b\r\n3\r\n4\r\n"


def test_mixed_line_ends_stay_mixed(scope: ToolScope, tmp_path: Path) -> None:
    file = tmp_path / "mixed.txt"
    file.write_bytes(b"a\r\nb\nc\r\nd\n")
    assert patch(scope, "mixed.txt", "b\nc\n", "B\nC\n")["success"]
    assert file.read_bytes().startswith(b"a\r\nB")
    assert file.read_bytes().endswith(b"d\n")


def test_a_missing_last_line_end_and_bytes_that_are_no_text_stay(scope: ToolScope, tmp_path: Path) -> None:
    file = tmp_path / "odd.txt"
    file.write_bytes(b"\xef\xbb\xbfcaf\xe9 one\nlast")
    answer = patch(scope, "odd.txt", "one", "two")
    assert file.read_bytes() == b"\xef\xbb\xbfcaf\xe9 two\nlast"
    assert json.dumps(answer).encode()


def test_the_right_to_run_is_kept(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "app.py").chmod(0o755)
    patch(scope, "app.py", "return 9", "return 8")
    assert (tmp_path / "app.py").stat().st_mode & 0o777 == 0o755


@settings(max_examples=examples(80), deadline=None)
@given(
    before=st.text(max_size=30),
    old=st.text(min_size=1, max_size=10),
    new=st.text(max_size=10),
    after=st.text(max_size=30),
)
def test_nothing_but_the_piece_changes(
    tmp_path_factory: pytest.TempPathFactory, before: str, old: str, new: str, after: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "patch"
    folder.mkdir(exist_ok=True)
    text = before + old + after
    (folder / "x").write_bytes(text.encode())
    answer = patch(ToolScope(folder=ConfinedFolder(folder)), "x", old, new)
    if answer["success"] and "\n" not in text + new:
        assert (folder / "x").read_bytes().decode() == text.replace(old, new, 1)
    elif not answer["success"]:
        assert (folder / "x").read_bytes() == text.encode()
