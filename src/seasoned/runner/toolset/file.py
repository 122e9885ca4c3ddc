"""Files of the working folder: read, write, search."""

from __future__ import annotations

import codecs
import difflib
import io
import json
import os
import re
import sys
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.runner.toolset.scope import Answer, ToolScope, tool
from seasoned.runner.toolset.terminal import run

_SEARCH_SCRIPT = Path(__file__).with_name("search_script.py")
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
def read_file(scope: ToolScope, path: str, offset: int = 1, limit: int = 500, line_numbers: bool = False) -> Answer:
    """Read a text file of the working folder.

    A long file comes in parts: `total_lines` says how long it is, and `hint` how to read on.

    Args:
        path: The path from the working folder, for example "src/app.py".
        offset: The first line to read; 1 is the first line of the file.
        limit: How many lines to read at most.
        line_numbers: Put the number of each line in front of it, as in "12|text". Leave the numbers out of what
            you pass to patch.
    """
    data = scope.folder.read(path, most=scope.limits.file_bytes)
    text, note = _decode(path, data)
    # Only a line feed ends a line: splitlines would split at form feeds too, and shift the numbers.
    lines = list(io.StringIO(text, newline="\n"))
    if offset < 1 or limit < 1:
        raise UsageError(f"offset {offset!r} and limit {limit!r} must be 1 or more.")
    if lines and offset > len(lines):
        raise UsageError(f"{path!r} has {len(lines)} lines; offset {offset} is past its end.")
    wanted = lines[offset - 1 : offset - 1 + min(limit, scope.limits.read_lines)]
    shown, content = _shown_lines(wanted, offset, scope.limits.output_characters, line_numbers=line_numbers)
    answer: Answer = {"path": path, "content": content, "total_lines": len(lines), "file_size": len(data)}
    last = offset - 1 + shown
    if note:
        answer["note"] = note
    if last < len(lines):
        answer["hint"] = f"Lines {offset} to {last} of {len(lines)}. Read on with offset={last + 1}."
    return {**answer, "error": None}


def _decode(path: str, data: bytes) -> tuple[str, str | None]:
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), "The file is encoded in UTF-16."
    if b"\0" in data[:8192]:
        # As git decides it: a NUL near the beginning means that it is not text.
        kind = next((name for start, name in _KINDS if data.startswith(start)), "a binary file")
        raise CannotDo(f"{path!r} is {kind} of {len(data):,} bytes, not text; use a program in the terminal.")
    kept = data.removeprefix(codecs.BOM_UTF8)
    try:
        return kept.decode(), None
    except UnicodeDecodeError as error:
        text = kept.decode("utf-8", "backslashreplace")
        return text, f"Not all of it is UTF-8: from byte {error.start:,} on, such bytes are shown as \\xNN."


def _shown_lines(lines: list[str], first: int, most: int, *, line_numbers: bool) -> tuple[int, str]:
    """As many lines as fit, and at least a part of the first."""
    shown: list[str] = []
    left = most
    for number, line in enumerate(lines, start=first):
        text = f"{number}|{line}" if line_numbers else line
        if len(text) > left and shown:
            break
        if len(text) > left:
            text = f"{text[:left]}[… {len(text) - left:,} characters of this line left out …]\n"
        shown.append(text)
        left -= len(text)
    return len(shown), "".join(shown)


@tool()
def write_file(scope: ToolScope, path: str, content: str) -> Answer:
    """Write a file in the working folder, and the folders above it. An existing file is replaced.

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
    if len(data) > scope.limits.file_bytes:
        raise CannotDo(
            f"The content has {len(data):,} bytes, and at most {scope.limits.file_bytes:,} are written at once; "
            "write it in parts, or let a program make it."
        )
    is_new = scope.folder.write(path, data)
    return {"path": path, "bytes_written": len(data), "created": is_new, "error": None}


@tool(total_count=0, matches=[])
def search_files(
    scope: ToolScope,
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
    where = scope.folder.locate(path)
    only = None
    if not scope.folder.is_folder(path):
        where, _, only = where.rpartition("/")
    most = max(1, min(limit, scope.limits.matches))
    finds, total, problem = _run_search(
        scope,
        where or ".",
        {
            "pattern": pattern,
            "target": target,
            "glob": file_glob,
            "only": only,
            "most": most,
            "file_bytes": 10 * scope.limits.file_bytes,
        },
    )
    prefix = "" if where in ("", ".") else f"{where}/"
    matches = [{**find, "path": prefix + find["path"]} for find in finds]
    answer: Answer = {"total_count": total, "matches": matches}
    if total > len(matches):
        answer["truncated"] = True
    return {**answer, "error": problem}


def _run_search(scope: ToolScope, where: str, request: dict[str, Any]) -> tuple[list[dict[str, Any]], int, str | None]:
    """What the search found, how much there is in all, and why it did not come to its end."""
    seconds = scope.limits.search_seconds
    folder = scope.folder.open_folder(where)
    try:
        finished = run(
            # Isolated: nothing in the folder that is searched may be imported.
            [sys.executable, "-I", "-S", "-B", str(_SEARCH_SCRIPT), json.dumps(request)],
            folder=folder,
            limits=msgspec.structs.replace(
                scope.limits, time_seconds=seconds, grace_seconds=0.0, output_characters=10_000_000
            ),
            environment={},
            stop=scope.stop,
        )
    finally:
        os.close(folder)
    # A search that was stopped may end in the middle of a line.
    said = [json.loads(line) for line in finished.output.splitlines() if re.match(r'\{"', line) and line.endswith("}")]
    finds = [each for each in said if "path" in each]
    problem = next((each["problem"] for each in said if "problem" in each), None)
    total = next((each["total"] for each in said if "total" in each), None)
    if problem is None and total is None:
        problem = (
            f"The search took longer than {seconds:g} seconds and was stopped. Use a simpler pattern or fewer files."
            if finished.ending == "time"
            else finished.problem(scope.limits) or "The search ended before it was done; try again."
        )
    return finds, len(finds) if total is None else total, problem


_DIFF_LINES = 120
_COMPARED = 5_000
_NUMBERED = re.compile(r"\s*\d+\|")


@tool(success=False, diff="")
def patch(scope: ToolScope, path: str, old_string: str, new_string: str, replace_all: bool = False) -> Answer:
    """Replace a piece of text in a file of the working folder.

    `old_string` must stand in the file exactly once, with the same blanks; take a few lines around the change, so that
    it does. Read the file first. `diff` shows what was changed.

    Args:
        path: The path from the working folder, for example "src/app.py".
        old_string: The text as it stands in the file now.
        new_string: The text to put in its place; "" removes it.
        replace_all: Replace every occurrence of old_string, not just one.
    """
    if not old_string:
        raise UsageError("old_string is empty; use write_file for a new file, or give the text to replace.")
    if old_string == new_string:
        raise UsageError("old_string and new_string are the same; nothing would change.")
    data = scope.folder.read(path, most=scope.limits.file_bytes)
    if b"\0" in data[:8192]:
        raise CannotDo(f"{path!r} is not text; use a program in the terminal.")
    # Bytes that are not UTF-8 pass through unchanged.
    text = data.decode("utf-8", "surrogateescape")
    found = list(_find_places(text, old_string))
    if not found:
        raise NotFound(f"old_string is not in {path!r}.{_describe_nearest(text, old_string)}")
    if len(found) > 1 and not replace_all:
        lines = ", ".join(str(text.count("\n", 0, each.start()) + 1) for each in found[:10])
        more = ", …" if len(found) > 10 else ""
        raise UsageError(
            f"old_string occurs {len(found)} times in {path!r} (lines {lines}{more}); "
            "add lines around it to make it unique, or set replace_all."
        )
    changed = _replace_places(text, found, new_string)
    written = changed.encode("utf-8", "surrogateescape")
    if len(written) > scope.limits.file_bytes:
        raise CannotDo(f"{path!r} would have {len(written):,} bytes, more than {scope.limits.file_bytes:,}.")
    scope.folder.write(path, written)
    return {
        "success": True,
        "path": path,
        "replacements": len(found),
        "diff": _diff(path, text, changed),
        "error": None,
    }


def _find_places(text: str, old: str) -> list[re.Match[str]]:
    """Where it occurs; either kind of line end matches a line end in the file."""
    expression = r"\r?\n".join(re.escape(line) for line in old.replace("\r\n", "\n").split("\n"))
    return list(re.finditer(expression, text))


def _replace_places(text: str, found: list[re.Match[str]], new: str) -> str:
    """The text with the pieces replaced, each with the line ends of its surroundings."""
    # A lone surrogate would be written as a raw byte, because of surrogateescape.
    new = new.encode("utf-8", "replace").decode().replace("\r\n", "\n")
    parts: list[str] = []
    at = 0
    for each in found:
        parts += [text[at : each.start()], new.replace("\n", _line_end(text, each))]
        at = each.end()
    return "".join([*parts, text[at:]])


def _line_end(text: str, place: re.Match[str]) -> str:
    inside = place.group()
    if "\n" in inside:
        return "\r\n" if "\r\n" in inside else "\n"
    next_end = text.find("\n", place.end())
    if next_end < 0:
        next_end = text.rfind("\n", 0, place.start())
    return "\r\n" if next_end > 0 and text[next_end - 1] == "\r" else "\n"


def _describe_nearest(text: str, old: str) -> str:
    """What the file has instead, if something there resembles it."""
    wanted = old.replace("\r\n", "\n").strip("\n").split("\n")
    if all(_NUMBERED.match(line) for line in wanted if line.strip()) and "|" in old:
        return " Leave the line numbers ('12|') out of it."
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    sought = [line.strip() for line in wanted]
    for at in range(len(lines) - len(sought) + 1):
        if stripped[at : at + len(sought)] == sought:
            return f" At line {at + 1} it is there with different whitespace:\n{_quote_lines(lines, at, len(sought))}"
    best, place = 0.0, -1
    key = max(sought, key=len, default="")
    offset = sought.index(key) if key else 0
    # A matcher remembers what it computed for its second sequence, so the constant one goes there.
    matcher = difflib.SequenceMatcher(b=key[:200], autojunk=False)
    for at, line in enumerate(stripped[:_COMPARED]):
        # The cheap upper bounds come first, so that few lines are compared in full.
        matcher.set_seq1(line[:200])
        if (
            line
            and matcher.real_quick_ratio() > best
            and matcher.quick_ratio() > best
            and (near := matcher.ratio()) > best
        ):
            best, place = near, at
    if best < 0.6:
        return " Nothing in the file resembles it; read the file again."
    first = max(0, place - offset)
    return f" The nearest is at line {first + 1}:\n{_quote_lines(lines, first, len(sought))}"


def _quote_lines(lines: list[str], first: int, count: int) -> str:
    shown = "\n".join(line[:300] for line in lines[first : first + min(count, 12)])
    return shown.encode("utf-8", "backslashreplace").decode()


def _diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), f"a/{path}", f"b/{path}", n=2, lineterm="")
    shown = [line[:500] for line in islice(lines, _DIFF_LINES + 1)]
    if len(shown) > _DIFF_LINES:
        shown[-1] = "[… more changes left out …]"
    return "\n".join(shown).encode("utf-8", "backslashreplace").decode()
