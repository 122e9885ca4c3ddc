"""Loads the table of commands: the rows, program groups and tools that `table/*.toml` describes.

Parsing the TOML takes about a tenth of a second, too long for a hook. `compiled.json` holds the same without the
examples and decodes in under a millisecond; `tests/command/test_table.py` rewrites it when it is out of date.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

import msgspec

from seasoned.errors import UsageError
from seasoned.lazy_regex import compile_or_load

FOLDER = os.path.join(os.path.dirname(__file__), "table")
COMPILED = os.path.join(FOLDER, "compiled.json")
_MACRO = re.compile(r"\{([a-z_]+)(?::([^{}]*))?\}")


class Finding(msgspec.Struct, frozen=True):
    """What a row or a rule found in a command or call; `why` continues a sentence that begins with "it"."""

    action: str
    """Which of the ten actions it needs; empty for none."""
    why: str
    row: str
    """The name of the row or rule that found it."""
    asks_locally: bool = True
    never_example: bool = True


class CommandRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way in which programs do harm. Without `words` the program itself is enough; `unless` excuses it."""

    name: str
    programs: str
    why: str
    """Continues a sentence that begins with "it"."""
    words: str = ""
    """Searched in the arguments, also from the subcommand on, joined by blanks."""
    unless: str = ""
    action: str = ""
    """Which of the ten actions that need a person; empty for none."""
    asks_locally: bool = False
    """Whether the local agent asks before it runs the command."""
    never_example: bool = True
    """Whether it may never be shown to a new session as an example."""


class ToolNameRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """Words of a tool's name that say what it does."""

    verbs: frozenset[str]
    why: str
    things: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()
    remote_only: frozenset[str] = frozenset()
    anywhere: bool = False
    action: str = ""


class ToolRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tools of agents that do the same kind of work and answer in the same form."""

    kind: str
    form: str
    names: str
    trivial: bool = False
    agent: str = ""
    """The only agent whose tools these are; empty for any."""


class CommandTable(msgspec.Struct, frozen=True):
    """All that the TOML files say, without their examples."""

    groups: dict[str, str]
    patterns: dict[str, str]
    rows: tuple[CommandRow, ...]
    tool_names: tuple[ToolNameRow, ...]
    tools: tuple[ToolRow, ...]
    meanings: dict[str, str]
    """By what an argument means: the names that agents have for it."""
    agents: dict[str, dict[str, str]]
    """By agent and work: the tool that does it, with its arguments. See `translate.py`."""


@cache
def table() -> CommandTable:
    """The compiled table."""
    with open(COMPILED, "rb") as file:
        return msgspec.json.decode(file.read(), type=CommandTable)


@cache
def group(name: str) -> frozenset[str]:
    """The programs of a group in `programs.toml`, or the words of one in `tool_names.toml`."""
    return frozenset(table().groups[name].split())


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """A pattern of the table, compiled when it is first needed."""
    return compile_or_load(pattern)


@cache
def rows_by_program(question: str) -> dict[str, tuple[CommandRow, ...]]:
    """The rows of each program that say something about a question. Rows for any program are under `*`."""
    found: dict[str, list[CommandRow]] = {}
    says = {"action": lambda row: row.action, "local": lambda row: row.asks_locally, "example": lambda row: True}[
        question
    ]
    for row in filter(says, table().rows):
        for program in row.programs.split():
            found.setdefault(program, []).append(row)
    return {program: tuple(rows) for program, rows in found.items()}


def read_toml(folder: str = FOLDER) -> dict[str, dict[str, Any]]:
    """The TOML files by name, with the examples in them."""
    import tomllib
    from pathlib import Path

    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("*.toml"))}


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
