"""Loads the table of commands: the rows, program groups and tools that `table/*.toml` describes.

Parsing the TOML takes about a tenth of a second, too long for a hook. `compiled.json` has the same without the
examples and decodes in under a millisecond; `tests/command/test_table.py` rewrites it with
`tools/compile_commands.py` when it is out of date.
"""

from __future__ import annotations

import os
import re
from functools import cache

import msgspec

FOLDER = os.path.join(os.path.dirname(__file__), "table")
COMPILED = os.path.join(FOLDER, "compiled.json")


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
    return re.compile(pattern)


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
