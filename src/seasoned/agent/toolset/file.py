"""Files of the working folder: read, write, search."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.agent.toolset.process import run
from seasoned.agent.toolset.reach import Reach
from seasoned.agent.toolset.result import Answer, tool
from seasoned.errors import CannotDo, UsageError

_SEEK = Path(__file__).with_name("seek.py")
_KINDS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive, or a document made of one"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
)
_WIDE = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@tool(content="")
def read_file(reach: Reach, path: str, offset: int = 1, limit: int = 500, line_numbers: bool = False) -> Answer:
    """Read a text file of the working folder.

    A long file comes in parts: `total_lines` says how long it is, and `hint` how to read on.

    Args:
        path: The path from the working folder, for example "src/app.py".
        offset: The first line to read; 1 is the first line of the file.
        limit: How many lines to read at most.
        line_numbers: Put the number of each line in front of it, as in "12|text". Leave the numbers out of what
            you pass to patch.
    """
    data = reach.folder.read(path, most=reach.limits.file_bytes)
    text, note = _decoded(path, data)
    lines = list(io.StringIO(text, newline="\n"))
    if offset < 1 or limit < 1:
        raise UsageError(f"offset {offset!r} and limit {limit!r} must be 1 or more.")
    if lines and offset > len(lines):
        raise UsageError(f"{path!r} has {len(lines)} lines; offset {offset} is behind its end.")
    wanted = lines[offset - 1 : offset - 1 + min(limit, reach.limits.read_lines)]
    shown, content = _shown(wanted, offset, reach.limits.output_characters, line_numbers=line_numbers)
    answer: Answer = {"path": path, "content": content, "total_lines": len(lines), "file_size": len(data)}
    last = offset - 1 + shown
    if note:
        answer["note"] = note
    if last < len(lines):
        answer["hint"] = f"Lines {offset} to {last} of {len(lines)}. Read on with offset={last + 1}."
    return {**answer, "error": None}


def _decoded(path: str, data: bytes) -> tuple[str, str | None]:
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), "The file is encoded in UTF-16."
    if b"\0" in data[:8192]:
        kind = next((name for start, name in _KINDS if data.startswith(start)), "a binary file")
        raise CannotDo(f"{path!r} is {kind} of {len(data):,} bytes, not text; use a program in the terminal.")
    kept = data.removeprefix(codecs.BOM_UTF8)
    try:
        return kept.decode(), None
    except UnicodeDecodeError as error:
        text = kept.decode("utf-8", "backslashreplace")
        return text, f"Not all of it is UTF-8: from byte {error.start:,} on, such bytes are shown as \\xNN."


def _shown(lines: list[str], first: int, most: int, *, line_numbers: bool) -> tuple[int, str]:
    """As many whole lines as there is room for, and at least a part of the first."""
    shown: list[str] = []
    room = most
    for number, line in enumerate(lines, start=first):
        text = f"{number}|{line}" if line_numbers else line
        if len(text) > room and shown:
            break
        if len(text) > room:
            text = f"{text[:room]}[… {len(text) - room:,} characters of this line left out …]\n"
        shown.append(text)
        room -= len(text)
    return len(shown), "".join(shown)


@tool()
def write_file(reach: Reach, path: str, content: str) -> Answer:
    """Write a whole file in the working folder, and the folders above it. A file that is there is replaced.

    To change a part of a file use patch instead.

    Args:
        path: The path from the working folder, for example "src/app.py".
        content: Everything that the file shall hold.
    """
    try:
        data = content.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"The content is not valid Unicode at character {error.start}; nothing was written."
        ) from error
    if len(data) > reach.limits.file_bytes:
        raise CannotDo(
            f"The content has {len(data):,} bytes, and at most {reach.limits.file_bytes:,} are written at once; "
            "write it in parts, or let a program make it."
        )
    is_new = reach.folder.write(path, data)
    return {"path": path, "bytes_written": len(data), "created": is_new, "error": None}


@tool(total_count=0, matches=[])
def search_files(
    reach: Reach,
    pattern: str,
    target: Literal["content", "files"] = "content",
    path: str = ".",
    file_glob: str | None = None,
    limit: int = 50,
) -> Answer:
    """Search in the working folder: for lines that match a regular expression, or for files by name.

    Links and folders such as .git and node_modules are left out. `total_count` 0 means that nothing matched.

    Args:
        pattern: With target "content" a regular expression as in Python, for example "def parse_\\w+".
            With target "files" a pattern for names, for example "*.py" or "src/**/test_*.py".
        target: "content" to search inside of files, "files" to search for names of files.
        path: The folder or file to search; "." is the whole working folder.
        file_glob: With target "content", only in files with such names, for example "*.md".
        limit: How many matches to return at most.
    """
    if target not in ("content", "files"):
        raise UsageError(f"target {target!r} must be 'content' or 'files'.")
    if not pattern:
        raise UsageError("The pattern is empty; give what to look for, such as '*.py' with target 'files'.")
    where = reach.folder.locate(path)
    only = None
    if not reach.folder.is_folder(path):
        where, _, only = where.rpartition("/")
    most = max(1, min(limit, reach.limits.matches))
    finds, total, problem = _sought(
        reach,
        where or ".",
        {
            "pattern": pattern,
            "target": target,
            "glob": file_glob,
            "only": only,
            "most": most,
            "file_bytes": 10 * reach.limits.file_bytes,
        },
    )
    prefix = "" if where in ("", ".") else f"{where}/"
    matches = [{**find, "path": prefix + find["path"]} for find in finds]
    answer: Answer = {"total_count": total, "matches": matches}
    if total > len(matches):
        answer["truncated"] = True
    return {**answer, "error": problem}


def _sought(reach: Reach, where: str, request: dict[str, Any]) -> tuple[list[dict[str, Any]], int, str | None]:
    """What the search found, how much there is in all, and why it did not come to its end."""
    seconds = reach.limits.search_seconds
    folder = reach.folder.open_folder(where)
    try:
        finished = run(
            [sys.executable, "-I", "-S", "-B", str(_SEEK), json.dumps(request)],
            folder=folder,
            limits=msgspec.structs.replace(
                reach.limits, time_seconds=seconds, grace_seconds=0.0, output_characters=10_000_000
            ),
            environment={},
            stop=reach.stop,
        )
    finally:
        os.close(folder)
    said = [json.loads(line) for line in finished.output.splitlines() if re.match(r'\{"', line) and line.endswith("}")]
    finds = [each for each in said if "path" in each]
    problem = next((each["problem"] for each in said if "problem" in each), None)
    total = next((each["total"] for each in said if "total" in each), None)
    if problem is None and total is None:
        problem = (
            f"The search took longer than {seconds:g} seconds and was ended; use a simpler pattern or a smaller folder."
            if finished.ending == "time"
            else finished.problem(reach.limits) or "The search ended before it was done; try again."
        )
    return finds, len(finds) if total is None else total, problem
