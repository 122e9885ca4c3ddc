"""Reading, writing and searching files of the working folder."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.runner.toolset.file import read_file, search_files, write_file
from seasoned.runner.toolset.scope import ConfinedFolder, ToolLimits, ToolScope
from seasoned.runner.toolset.search_script import glob
from tests.runner.toolset.reading import verdict


@pytest.fixture
def scope(tmp_path: Path) -> ToolScope:
    return ToolScope(folder=ConfinedFolder(tmp_path))


def _judged(tool: str, answer: dict[str, Any], **arguments: Any) -> str:
    assert json.dumps(answer).encode()
    return verdict(tool, answer, **arguments)


def test_a_file_is_read_with_its_size(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    answer = read_file(scope, "a.txt")
    assert answer == {"path": "a.txt", "content": "one\ntwo\n", "total_lines": 2, "file_size": 8, "error": None}
    assert _judged("read_file", answer, path="a.txt") == "ok"


def test_a_part_is_read_and_the_rest_is_pointed_to(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    answer = read_file(scope, "a.txt", offset=10, limit=2, line_numbers=True)
    assert answer["content"] == "10|line 10\n11|line 11\n"
    assert answer["hint"] == "Lines 10 to 11 of 100. Read on with offset=12."
    assert _judged("read_file", answer, path="a.txt") == "ok"


def test_lines_are_counted_as_editors_count_them(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("a\x0cb\u2028c\x85d\r\ne".encode())
    assert read_file(scope, "a.txt")["total_lines"] == 2


def test_an_empty_file_is_read_and_counts_as_ok(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    answer = read_file(scope, "a.txt")
    assert (answer["content"], answer["total_lines"]) == ("", 0)
    assert _judged("read_file", answer, path="a.txt") == "ok"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "missing.txt"}, "There is no 'missing.txt'"),
        ({"path": "../a.txt"}, "without '..'"),
        ({"path": "/etc/passwd"}, "outside the working folder"),
        ({"path": "a.txt", "offset": 9}, "has 1 lines"),
        ({"path": "a.txt", "offset": 0}, "must be 1 or more"),
        ({"path": "image.png"}, "a PNG image of 8 bytes"),
        ({"path": "bytes"}, "a binary file"),
        ({"path": "large"}, "at most 1,000,000"),
        ({"path": "."}, "is a folder"),
    ],
)
def test_what_cannot_be_read_is_said_and_counts_as_failed(
    arguments: dict[str, Any], said: str, scope: ToolScope, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\0\0\0")
    (tmp_path / "bytes").write_bytes(b"\0\1\2")
    (tmp_path / "large").write_bytes(b"x" * 1_000_001)
    answer = read_file(scope, **arguments)
    assert said in answer["error"]
    assert _judged("read_file", answer, **arguments) == "failed"


def test_bytes_that_are_no_text_are_shown_and_said(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9\n")
    answer = read_file(scope, "a.txt")
    assert answer["content"] == "caf\\xe9\n"
    assert "from byte 3 on" in answer["note"]
    assert _judged("read_file", answer, path="a.txt") == "ok"


def test_other_encodings_that_say_what_they_are_are_read(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_text("höllo\n", "utf-16")
    (tmp_path / "marked.txt").write_text("höllo\n", "utf-8-sig")
    assert read_file(scope, "wide.txt")["content"] == "höllo\n"
    assert read_file(scope, "marked.txt")["content"] == "höllo\n"


def test_long_content_is_cut_at_a_line_and_a_long_line_inside(tmp_path: Path) -> None:
    scope = ToolScope(folder=ConfinedFolder(tmp_path), limits=ToolLimits(output_characters=100))
    (tmp_path / "a.txt").write_text("x" * 60 + "\n" + "y" * 60 + "\n")
    (tmp_path / "b.txt").write_text("x" * 500)
    assert read_file(scope, "a.txt")["hint"] == "Lines 1 to 1 of 2. Read on with offset=2."
    assert "400 characters of this line left out" in read_file(scope, "b.txt")["content"]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    scope = ToolScope(folder=ConfinedFolder(tmp_path_factory.getbasetemp()))
    answer = write_file(scope, "round/trip.txt", content)
    assert answer["bytes_written"] == len(content.encode())
    assert verdict("write_file", answer, path="round/trip.txt", content=content) == "ok"
    if "\0" not in content and not content.startswith("\ufeff"):
        assert read_file(scope, "round/trip.txt")["content"] == content


def test_writing_makes_folders_and_says_whether_the_file_is_new(scope: ToolScope, tmp_path: Path) -> None:
    answer = write_file(scope, "a/b/c.txt", "é")
    assert answer == {"path": "a/b/c.txt", "bytes_written": 2, "created": True, "error": None}
    assert write_file(scope, "a/b/c.txt", "")["created"] is False
    assert (tmp_path / "a/b/c.txt").read_text() == ""


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("../x", "x", "without '..'"),
        (".git/hooks/pre-commit", "x", "inside .git"),
        ("a.txt", "\ud800", "not valid Unicode"),
        ("a.txt", "x" * 1_000_001, "at most 1,000,000"),
        ("file/x", "x", "not a folder"),
    ],
)
def test_what_cannot_be_written_is_said_and_counts_as_failed(
    path: str, content: str, said: str, scope: ToolScope, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    answer = write_file(scope, path, content)
    assert said in answer["error"]
    assert _judged("write_file", answer, path=path, content="x") == "failed"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {
        "src/app.py": "def main():\n    return 1\n",
        "src/deep/test_app.py": "from app import main\n\ndef test_main():\n    assert main() == 1\n",
        "notes.md": "The main thing\n",
        ".env": "MAIN=1\n",
        ".git/config": "main\n",
        "node_modules/x.js": "main\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "binary").write_bytes(b"main\0main")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    (tmp_path / "out").symlink_to("/etc")
    return tmp_path


def test_lines_are_found_with_their_places(scope: ToolScope, tree: Path) -> None:
    answer = search_files(scope, r"def \w+")
    assert answer["matches"] == [
        {"path": "src/app.py", "line": 1, "content": "def main():"},
        {"path": "src/deep/test_app.py", "line": 3, "content": "def test_main():"},
    ]
    assert answer["total_count"] == 2
    assert _judged("search_files", answer, pattern="def") == "ok"


def test_a_search_is_narrowed_by_folder_file_and_name(scope: ToolScope, tree: Path) -> None:
    assert {m["path"] for m in search_files(scope, "main", file_glob="*.md")["matches"]} == {"notes.md"}
    assert {m["path"] for m in search_files(scope, "main", path="src/deep")["matches"]} == {"src/deep/test_app.py"}
    assert {m["path"] for m in search_files(scope, "main", path="src/app.py")["matches"]} == {"src/app.py"}
    assert {m["path"] for m in search_files(scope, "(?i)main")["matches"]} == {
        "src/app.py", "src/deep/test_app.py", "notes.md", ".env",
    }  # fmt: skip


def test_no_match_is_an_answer_and_no_failure(scope: ToolScope, tree: Path) -> None:
    answer = search_files(scope, "nowhere to be found")
    assert (answer["total_count"], answer["matches"], answer["error"]) == (0, [], None)
    assert _judged("search_files", answer, pattern="x") == "ok"


def test_files_are_found_by_name(scope: ToolScope, tree: Path) -> None:
    found = search_files(scope, "*.py", target="files")
    assert [m["path"] for m in found["matches"]] == ["link.py", "src/app.py", "src/deep/test_app.py"]
    assert [m["path"] for m in search_files(scope, "src/**/test_*.py", target="files")["matches"]] == [
        "src/deep/test_app.py"
    ]


def test_matches_are_capped_and_counted(scope: ToolScope, tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("hit\n" * 1000)
    answer = search_files(scope, "hit", limit=3)
    assert (answer["total_count"], len(answer["matches"]), answer["truncated"]) == (1000, 3, True)


def test_a_pattern_without_end_is_ended(tmp_path: Path) -> None:
    (tmp_path / "early.txt").write_text("aaa!\n")
    (tmp_path / "trap.txt").write_text("a" * 60 + "\n")
    scope = ToolScope(folder=ConfinedFolder(tmp_path), limits=ToolLimits(search_seconds=1.0))
    start = time.monotonic()
    answer = search_files(scope, r"(a+)+!")
    assert time.monotonic() - start < 4
    assert "took longer than 1 seconds" in answer["error"]
    assert answer["matches"] == [{"path": "early.txt", "line": 1, "content": "aaa!"}]
    assert _judged("search_files", answer, pattern="(a+)+!") == "failed"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "("}, "not a valid regular expression"),
        ({"pattern": ""}, "is empty"),
        ({"pattern": "a", "path": "nowhere"}, "There is no 'nowhere'"),
        ({"pattern": "a", "path": "out"}, "leads out"),
        ({"pattern": "a", "path": "../.."}, "without '..'"),
        ({"pattern": "a", "target": "other"}, "must be 'content' or 'files'"),
    ],
)
def test_a_search_that_cannot_be_made_is_said(
    arguments: dict[str, Any], said: str, scope: ToolScope, tree: Path
) -> None:
    answer = search_files(scope, **arguments)
    assert said in answer["error"]
    assert _judged("search_files", answer, **arguments) == "failed"


def test_names_that_are_no_text_are_found_and_shown(scope: ToolScope, tmp_path: Path) -> None:
    try:
        (tmp_path / "caf\udce9.txt").write_text("hit")
    except OSError:
        pytest.skip("this file system has only names that are text")
    assert search_files(scope, "hit")["matches"][0]["path"] == "caf\\xe9.txt"


PATTERNS = [
    ("*.py", "a.py", True),
    ("*.py", "x/y/a.py", True),
    ("*.py", "a.pyc", False),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/x/a.py", False),
    ("src/**/*.py", "src/x/y/a.py", True),
    ("src/**/*.py", "src/a.py", True),
    ("src/**", "src/x/a.py", True),
    ("a?.txt", "ab.txt", True),
    ("[ab].txt", "b.txt", True),
    ("[!ab].txt", "b.txt", False),
    ("./a.txt", "a.txt", True),
    ("a+b.txt", "a+b.txt", True),
    ("[x", "[x", True),
]


def test_patterns_for_names_fit_as_one_would_expect() -> None:
    assert [(pattern, path, bool(glob(pattern).match(path))) for pattern, path, _ in PATTERNS] == PATTERNS
