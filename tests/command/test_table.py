"""Every row of the table matches the calls that it lists, and no others; the compiled table is current."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from tools.compile_commands import compile_table, read_toml, write_compiled

from seasoned.command.action import HIGH_RISK
from seasoned.command.path import WorkingFolder
from seasoned.command.risk import assess_call, assess_command, danger_in, may_be_example, need_of_call, need_of_command
from seasoned.command.rows import COMPILED, CommandTable, table
from seasoned.command.tool import Kind, OutputForm
from seasoned.command.tool_call import example_findings

FILES = read_toml()
ROWS: list[dict[str, Any]] = [{"file": name, **row} for name, file in FILES.items() for row in file.get("row", ())]
TOOL_NAMES: list[dict[str, Any]] = FILES["tool_names"]["tool_name"]


def _label(row: dict[str, Any]) -> str:
    return f"{row['file']}.toml, {row['name']!r} of {row['programs'].split()[0]}"


def _is_found(row: dict[str, Any], command: str) -> bool:
    return row["name"] in {found.row for found in assess_command(command, WorkingFolder(), "example")}


def _problems() -> Iterator[str]:
    for row in ROWS:
        if not row.get("matches"):
            yield f"{_label(row)}: give it at least one call that it matches"
        for command in row.get("matches", ()):
            if not _is_found(row, command):
                yield f"{_label(row)} should match {command!r}"
        for command in row.get("misses", ()):
            if _is_found(row, command):
                yield f"{_label(row)} should not match {command!r}"
        if row.get("action", "delete_data") not in HIGH_RISK:
            yield f"{_label(row)}: {row['action']!r} is not one of the ten actions"


def test_every_row_has_a_name_of_its_own() -> None:
    names = [row["name"] for row in ROWS]
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_every_row_matches_its_calls_and_misses_the_others() -> None:
    assert list(_problems()) == []


def test_every_row_for_tool_names_matches_its_names_and_misses_the_others() -> None:
    problems = []
    for row in TOOL_NAMES:
        for names, expected in ((row.get("matches", ()), True), (row.get("misses", ()), False)):
            for name in names:
                found = [*assess_call(name, {}, WorkingFolder(), "example"), *example_findings(name, {})]
                if any(each.action == row.get("action", "") for each in found) is not expected:
                    problems.append(f"{row['verbs'][:30]!r}: {name} {'is not found' if expected else 'is found'}")
    assert problems == []


def test_whatever_needs_a_person_is_never_an_example() -> None:
    """Admission to templates, repairs and the project sheet asks `may_be_example`: over all rows."""
    held = [(command, need_of_command(command)) for row in ROWS for command in row.get("matches", ())]
    examples = [command for command, _ in held if may_be_example("Bash", {"command": command})]
    assert examples == [], "every row of the table keeps its calls out of examples"
    unasked = [command for command, need in held if need is not None and danger_in(command) is None]
    assert unasked == [], "the local agent asks about everything that needs a person"
    named = [name for row in TOOL_NAMES for name in row.get("matches", ()) if may_be_example(name, {})]
    assert [name for name in named if need_of_call(name, {}) is not None] == []


def test_patterns_compile_and_tools_are_of_known_kinds() -> None:
    for row in table().rows:
        re.compile(row.words)
        re.compile(row.unless)
    assert {tool.kind for tool in table().tools} <= set(get_args(Kind))
    assert {tool.form for tool in table().tools} <= set(get_args(OutputForm))


def test_the_compiled_table_is_current() -> None:
    compiled = write_compiled(compile_table(FILES))
    if Path(COMPILED).read_bytes() != compiled:
        Path(COMPILED).write_bytes(compiled)
        raise AssertionError(f"{COMPILED} was out of date and has been rewritten. Run the tests again and commit it.")
    assert isinstance(table(), CommandTable)
