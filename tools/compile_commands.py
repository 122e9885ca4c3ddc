"""Compiles the table of commands, `src/seasoned/command/table/*.toml`, into the `compiled.json` that hooks can load."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from seasoned.command.rows import FOLDER, CommandRow, CommandTable, ToolNameRow, ToolRow
from seasoned.errors import UsageError

_MACRO = re.compile(r"\{([a-z_]+)(?::([^{}]*))?\}")


def read_toml() -> dict[str, dict[str, Any]]:
    """The TOML files by name, with the examples in them."""
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(FOLDER).glob("*.toml"))}


def compile_table(files: dict[str, dict[str, Any]]) -> CommandTable:
    """The table that TOML files describe, with groups and patterns filled in."""
    shared = files["programs"]
    groups = {
        name: " ".join(words.split()) for name, words in (shared["groups"] | files["tool_names"]["groups"]).items()
    }
    patterns = {name: text if isinstance(text, str) else "".join(text) for name, text in shared["patterns"].items()}
    patterns = {name: _expand(text, patterns) for name, text in patterns.items()}
    rows = [_row(raw, groups, patterns) for file in files.values() for raw in file.get("row", ())]

    tool_names = [_tool_name(raw) for raw in files["tool_names"]["tool_name"]]
    tools = [ToolRow(**{**raw, "names": " ".join(raw["names"].split())}) for raw in files["tools"]["tool"]]
    meanings = {name: " ".join(words.split()) for name, words in files["tools"]["meanings"].items()}
    return CommandTable(
        groups, patterns, tuple(rows), tuple(tool_names), tuple(tools), meanings, files["tools"]["agent"]
    )


def _row(raw: dict[str, Any], groups: dict[str, str], patterns: dict[str, str]) -> CommandRow:
    programs = " ".join(groups[name[1:]] if name.startswith("@") else name for name in raw["programs"].split())
    words, unless = (_pattern(raw.get(key, ""), patterns) for key in ("words", "unless"))
    action = raw.get("action", "")
    asks = raw.get("asks_locally", bool(action))
    never = raw.get("never_example", asks)
    if not never or (action and not asks):
        raise UsageError(f"row {raw['name']!r}: give it an action, asks_locally = true or never_example = true.")
    return CommandRow(raw["name"], programs, raw["why"], words, unless, action, asks)


def _tool_name(raw: dict[str, Any]) -> ToolNameRow:
    sets = {key: frozenset(raw.get(key, "").split()) for key in ("verbs", "things", "unless", "remote_only")}
    return ToolNameRow(why=raw["why"], anywhere=raw.get("anywhere", False), action=raw.get("action", ""), **sets)


def _pattern(text: str | list[str], patterns: dict[str, str]) -> str:
    """A pattern from its alternatives, with every macro written out."""
    return _expand(text if isinstance(text, str) else "|".join(text), patterns)


def _expand(text: str, patterns: dict[str, str]) -> str:
    before = None
    while before != text:
        before, text = text, _MACRO.sub(lambda found: _written_out(found[1], found[2], patterns), text)
    return text


def _written_out(name: str, argument: str | None, patterns: dict[str, str]) -> str:
    """What a macro stands for: `{first:up down}`, `{any:up down}`, `{word:--yes}`, `{flag:rR recursive}`, `{help}`."""
    if argument is None:
        if name not in patterns:
            raise UsageError(f"pattern {{{name}}} is not known: use one of {', '.join(sorted(patterns))}.")
        return patterns[name]
    words = argument.split()
    listed = "|".join(words)
    if name == "flag":
        # An option by its letter, also among others (`-rf`), or by its long name.
        longer = f"|--(?:{'|'.join(words[1:])})" if len(words) > 1 else ""
        return rf"(?:^| )(?:-[A-Za-z]*[{words[0]}][A-Za-z]*{longer})(?= |=|$)"
    forms = {
        "first": f"^(?:{listed})(?= |$)",  # one of these as the first argument
        "any": f"(?:^| )(?:{listed})(?= |$)",  # one of these anywhere
        "word": rf"(?:^| )(?:{listed})(?:=\S*)?(?= |$)",  # the same, an option also with its value behind `=`
    }
    return forms[name]


def write_compiled(compiled: CommandTable) -> bytes:
    """The compiled table as text, one row on a line, so that changes can be reviewed."""
    text = msgspec.json.format(msgspec.json.encode(compiled, order="sorted"), indent=1)
    return text + b"\n"
