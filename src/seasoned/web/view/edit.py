"""Edits as diffs: what a call changed in a file, whichever agent made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from seasoned.redact.redactor import Redactor
from seasoned.web.display import difference

# Agents name the same arguments in their own ways; the form of a call tells that it is an edit.
_BEFORE = ("old_string", "old_str", "oldString", "oldText", "old_text")
_AFTER = ("new_string", "new_str", "newString", "newText", "new_text")
_WHOLE = ("content", "file_text", "contents")
_PATH = ("file_path", "path", "filePath", "filename", "absolute_path")
_PATCH = ("input", "patch", "patch_text", "patchText", "command", "cmd")
_PATCH_BEGINS = "*** Begin Patch"
_MOST_CHARS = 20_000
_MOST_LINES = 400
_MOST_EDITS = 20
# Shorter ones are open at once.
_OPEN_LINES = 24
_KINDS = {"-": "went", "+": "came", " ": "stayed"}


class ShownEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One file and its changed lines, each with its kind: went, came or stayed."""

    path: str
    lines: list[tuple[str, str]]
    added: int
    removed: int
    is_cut: bool = False

    @property
    def is_open(self) -> bool:
        return len(self.lines) <= _OPEN_LINES


def edits_of(arguments: dict[str, Any], redactor: Redactor) -> tuple[ShownEdit, ...]:
    """What a call edits; nothing where its arguments are not those of an edit."""
    return tuple(edit for edit, _ in zip(_edits(arguments, redactor), range(_MOST_EDITS), strict=False))


def _edits(arguments: dict[str, Any], redactor: Redactor) -> Iterator[ShownEdit]:
    path = redactor.text(_first(arguments, _PATH) or "")
    if (patch := _patch_in(arguments)) is not None:
        yield from _patched(redactor.head(patch, _MOST_CHARS), is_cut=len(patch) > _MOST_CHARS)
        return
    several = arguments.get("edits")
    for one in several if isinstance(several, list) else [arguments]:
        if not isinstance(one, dict):
            continue
        after = _first(one, _AFTER)
        before = _first(one, _BEFORE) if after is not None else ""
        # Without an old text it is a whole file, if it says which.
        if after is None and one is arguments and path:
            after = _first(one, _WHOLE)
        if after is not None and before is not None:
            yield _edit(path or redactor.text(_first(one, _PATH) or ""), before, after, redactor)


def _edit(path: str, before: str, after: str, redactor: Redactor) -> ShownEdit:
    texts = [redactor.head(text, _MOST_CHARS) for text in (before, after)]
    is_long = any(text.count("\n") > _MOST_LINES for text in texts)
    if is_long and before:
        # Comparing thousands of lines takes seconds.
        lines = [(kind, line) for kind, text in zip(("went", "came"), texts, strict=True) for line in text.splitlines()]
    else:
        lines = difference(*texts)
    return _counted(path, lines, is_cut=max(len(before), len(after)) > _MOST_CHARS)


def _counted(path: str, lines: list[tuple[str, str]], *, is_cut: bool) -> ShownEdit:
    kinds = [kind for kind, _ in lines]
    return ShownEdit(
        path=path,
        lines=lines[:_MOST_LINES],
        added=kinds.count("came"),
        removed=kinds.count("went"),
        is_cut=is_cut or len(lines) > _MOST_LINES,
    )


def _patch_in(arguments: dict[str, Any]) -> str | None:
    """The patch of `apply_patch`, alone or as the last word of a command."""
    for name in _PATCH:
        value = arguments.get(name)
        text = value[-1] if isinstance(value, list) and value else value
        if isinstance(text, str) and (at := text.find(_PATCH_BEGINS, 0, 400)) >= 0:
            return text[at:]
    return None


def _patched(patch: str, *, is_cut: bool) -> Iterator[ShownEdit]:
    path, lines = "", list[tuple[str, str]]()
    for line in patch.splitlines()[1:]:
        if line.startswith("*** "):
            if path:
                yield _counted(path, lines, is_cut=is_cut)
            verb, _, name = line[4:].partition(": ")
            # `Move to` belongs to the file before, `End Patch` to none.
            path, lines = (name, []) if verb.endswith("File") else ("", [])
            if verb == "Delete File":
                path = f"{name} (deleted)"
        elif path and line[:1] in _KINDS:
            lines.append((_KINDS[line[0]], line[1:]))
    if path:
        yield _counted(path, lines, is_cut=is_cut)


def _first(values: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((values[name] for name in names if isinstance(values.get(name), str)), None)
