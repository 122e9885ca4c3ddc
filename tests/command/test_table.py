"""Every row of the table matches the calls that it lists, and no others."""

from __future__ import annotations

from seasoned.command import danger_table
from seasoned.command.action import HIGH_RISK
from seasoned.command.path import WorkingFolder
from seasoned.command.risk import assess_call, assess_command
from seasoned.command.rows import regex
from tests.command.probes import commands

# The name of a row, whether it matches, and a command or the name of a tool; one line each.
ROWS = [tuple(line.split("\t")) for line in commands("rows")]
TOOL_NAMES = [tuple(line.split("\t")) for line in commands("tool_names")]
CLOUD = [tuple(line.split("\t")) for line in commands("cloud")]


def test_every_row_has_a_name_and_examples_of_its_own() -> None:
    names = [row.name for row in danger_table.ROWS]
    assert sorted(names) == sorted({name for name, kind, _ in ROWS if kind == "matches"})
    assert {row.action for row in danger_table.ROWS} == HIGH_RISK


def test_a_row_matches_its_calls_and_misses_the_others() -> None:
    for name, kind, command in ROWS:
        found = {each.row for each in assess_command(command, WorkingFolder())}
        assert (name in found) is (kind == "matches"), (name, command)


def test_every_row_for_tool_names_matches_its_names_and_misses_the_others() -> None:
    for action, kind, name in TOOL_NAMES:
        found = {each.action for each in assess_call(name, {}, WorkingFolder())}
        assert (action in found) is (kind == "matches"), name


def test_the_words_of_a_cloud_command_say_what_it_does() -> None:
    for action, command in CLOUD:
        found = {each.action for each in assess_command(command, WorkingFolder())}
        assert action in found if action else not found, command


def test_patterns_compile() -> None:
    assert all(regex(pattern) for row in danger_table.ROWS for pattern in (row.words, row.unless))
