"""What a row of the tables is, and how rows, program groups and patterns are looked up."""

from __future__ import annotations

import re
from functools import cache

import msgspec

from seasoned.command.program_table import GROUPS, PATTERNS

_MACRO = re.compile(r"\{([a-z_]+)(?::([^{}]*))?\}")


class Finding(msgspec.Struct, frozen=True):
    """What a row or a rule found in a command or call; `why` continues a sentence that begins with "it"."""

    action: str
    """Which of the ten actions it needs."""
    why: str
    row: str
    """The name of the row or rule that found it."""


class CommandRow(msgspec.Struct, frozen=True):
    """One way in which programs do harm. Without `words` the program itself is enough; `unless` excuses it."""

    name: str
    why: str
    """Continues a sentence that begins with "it"."""
    programs: str
    words: str = ""
    """Searched in the arguments, also from the subcommand on, joined by blanks."""
    unless: str = ""
    action: str = ""
    """Which of the ten actions that need a person."""
    only_elsewhere: bool = False
    """Whether it is everyday work on this machine and in development."""


class NameRow(msgspec.Struct, frozen=True):
    """Words that say what a tool does: those of its name, or of a command of a cloud (`aws rds delete-db-instance`)."""

    action: str
    why: str
    verbs: frozenset[str]
    things: frozenset[str]
    """One of these must be named too; without any, the verb is enough."""
    alone: frozenset[str]
    """Verbs that need no thing in a cloud, where everything belongs to others too."""
    unless: frozenset[str]


class ToolRow(msgspec.Struct, frozen=True):
    """Tools of agents that do the same kind of work and answer in the same form."""

    kind: str
    form: str
    names: str
    trivial: bool = False
    agent: str = ""
    """The only agent whose tools these are; empty for any."""


@cache
def group(name: str) -> frozenset[str]:
    """The programs of a group, or the words of one."""
    return frozenset(GROUPS[name].split())


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """A pattern of the table with its macros written out, compiled when it is first needed."""
    before = ""
    while before != pattern:
        before, pattern = pattern, _MACRO.sub(_written_out, pattern)
    return re.compile(pattern)


def _written_out(found: re.Match[str]) -> str:
    """What a macro stands for: `{first:up down}`, `{any:up down}`, `{help}`."""
    name, argument = found.groups()
    if argument is None:
        return PATTERNS[name]
    listed = "|".join(argument.split())
    forms = {
        "first": f"^(?:{listed})(?= |$)",  # one of these as the first argument
        "any": f"(?:^| )(?:{listed})(?= |$)",  # one of these anywhere
    }
    return forms[name]


@cache
def rows_by_program() -> dict[str, tuple[CommandRow, ...]]:
    """The rows of each program."""
    # Imported here: the table is made of what this module defines.
    from seasoned.command.danger_table import ROWS

    found: dict[str, list[CommandRow]] = {}
    for row in ROWS:
        for name in row.programs.split():
            for program in group(name[1:]) if name.startswith("@") else (name,):
                found.setdefault(program, []).append(row)
    return {program: tuple(rows) for program, rows in found.items()}


def only_looks(program: str, sub: str = "") -> bool:
    """Whether a program only shows what is there; for git its subcommand decides."""
    return program in group("looks") or (program == "git" and sub in group("git_looks"))
