"""Rules for tool calls: what the name of a tool implies, and what a file tool writes to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from seasoned.command import guard
from seasoned.command.action import HIGH_RISK, check_action
from seasoned.command.call_text import REMOTE_NAME, words_of
from seasoned.command.parse import names
from seasoned.command.path import WorkingFolder, guarded
from seasoned.command.rows import Finding, ToolNameRow, group
from seasoned.command.tool import snake, tool_of
from seasoned.command.tool_table import TOOL_NAMES
from seasoned.errors import UsageError
from seasoned.lazy_regex import LazyRegex

_FOLDER_KEYS = ("cwd", "workdir", "working_directory", "working_dir", "folder", "directory")
# Under these names file tools of all agents take the paths they write to, move or delete.
_PATH_KEYS = names(
    "file_path path filename target_file notebook_path file destination target paths files source src from_path"
    " old_path new_path dest to_path uri filepath absolute_path"
)
_WRITING = names("write edit patch create replace insert delete move apply update multiedit save put append str rename")
_DELETING = names("delete remove unlink rm trash erase")
_CHANGING = _WRITING | _DELETING
_PATCHED = LazyRegex(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?|\*\*\* Move to: )(?P<path>\S+)", re.MULTILINE
)


def findings(tool: str, inside: list[Mapping[str, Any]], place: WorkingFolder) -> Iterator[Finding]:
    """What the name of a tool implies, and what a file tool writes to; `inside` are the objects in its arguments."""
    words = words_of(tool)
    if not words:
        return
    yield from _file_findings(words, inside, place)
    if words[0] not in group("looking") and tool_of(tool).form not in ("file_read", "search", "web", "meta"):
        yield from (found for one in inside for found in guard.in_arguments(one, place))
    try:
        exact = check_action("_".join(words))
    except UsageError:
        exact = ""
    if exact in HIGH_RISK:
        yield Finding(exact, "is named as an action that always needs a person", "tool name")
        return
    looks = words[0] in group("looking") or words[0] in group("asking")
    if not looks:
        yield from _name_findings(words, remote=bool(REMOTE_NAME.compiled.search(tool)))
    # Every tool of an SSH server runs elsewhere: `mcp__ssh__exec`.
    server = frozenset(snake(tool).split("_")) - frozenset(words)
    if "ssh" in server and not looks:
        yield Finding("exec_remote", "runs something on another machine", "tool name")


def _name_findings(words: tuple[str, ...], *, remote: bool) -> Iterator[Finding]:
    for row in TOOL_NAMES:
        if _row_fits(row, words, remote=remote):
            yield Finding(row.action, row.why, "tool name")
            if not row.anywhere:
                return


def _row_fits(row: ToolNameRow, words: tuple[str, ...], *, remote: bool) -> bool:
    word_set = frozenset(words)
    if word_set & row.unless or (not remote and word_set & row.remote_only):
        return False
    if row.anywhere:
        return bool(word_set & row.verbs) and (not row.things or bool(word_set & row.things))
    return (words[0] in row.verbs and not row.things.isdisjoint(words[1:])) or (
        len(words) > 1 and words[-1] in row.verbs and not row.things.isdisjoint(words[:-1])
    )


def _file_findings(words: tuple[str, ...], inside: list[Mapping[str, Any]], place: WorkingFolder) -> Iterator[Finding]:
    if _CHANGING.isdisjoint(words) or inside[0].get("command") == "view":
        return
    for path in _paths(inside):
        yield from guarded(path, place)
        yield from guard.changed(path, place)
        if words[0] in _DELETING and not place.contains(path) and path.startswith(("/", "~", "..")):
            why = f"deletes {path!r}, which is not inside the working folder"
            yield Finding("delete_data", why, "delete outside")


def _paths(inside: list[Mapping[str, Any]]) -> Iterator[str]:
    """The paths that a file tool is given, also in lists and patches."""
    for arguments in inside:
        for key, value in arguments.items():
            if key in _PATH_KEYS and isinstance(value, str | list):
                listed = [value] if isinstance(value, str) else value
                # `source` may also be code, not a path.
                fitting = (each for each in listed if isinstance(each, str) and len(each) < 400 and "\n" not in each)
                yield from (each.removeprefix("file://") for each in fitting)
            if key in ("patch", "input", "diff", "command") and isinstance(value, str):
                yield from _PATCHED.compiled.findall(value[:100_000])


def folder_in(arguments: Mapping[str, Any]) -> str | None:
    """The working folder that a call names itself."""
    return next((value for key in _FOLDER_KEYS if isinstance(value := arguments.get(key), str)), None)


def shown(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call in one line, for a person."""
    parts = [
        f"{key}={value!r}" if not isinstance(value, str) else f"{key}={value[:100]!r}"
        for key, value in list(arguments.items())[:8]
        if isinstance(value, str | int | float | bool)
    ]
    return f"{tool[:100]}({', '.join(parts)})"
