"""Every row of the table matches the calls that it lists, and no others."""

from __future__ import annotations

from typing import get_args

import pytest

from seasoned.command import danger_table, rows
from seasoned.command.action import HIGH_RISK
from seasoned.command.path import WorkingFolder
from seasoned.command.risk import assess_call, assess_command
from seasoned.command.rows import regex
from seasoned.command.tool import Kind, OutputForm
from tests.command.row_examples import CLOUD, ROWS, TOOL_NAMES


def test_every_row_has_a_name_and_examples_of_its_own() -> None:
    names = [row.name for row in danger_table.ROWS]
    assert sorted(names) == sorted(ROWS)
    assert {row.action for row in danger_table.ROWS} == HIGH_RISK


@pytest.mark.parametrize("name", ROWS)
def test_a_row_matches_its_calls_and_misses_the_others(name: str) -> None:
    matches, misses = ROWS[name]
    found = {one: {each.row for each in assess_command(one, WorkingFolder())} for one in matches + misses}
    assert matches
    assert [one for one in matches if name not in found[one]] == []
    assert [one for one in misses if name in found[one]] == []


def test_every_row_for_tool_names_matches_its_names_and_misses_the_others() -> None:
    for action, matches, misses in TOOL_NAMES:
        for name in matches + misses:
            found = assess_call(name, {}, WorkingFolder())
            assert any(each.action == action for each in found) is (name in matches), name


def test_the_words_of_a_cloud_command_say_what_it_does() -> None:
    for action, commands in CLOUD.items():
        for command in commands:
            found = {each.action for each in assess_command(command, WorkingFolder())}
            assert action in found if action else not found, command


def test_patterns_compile_and_tools_are_of_known_kinds() -> None:
    for row in danger_table.ROWS:
        regex(row.words)
        regex(row.unless)
    assert {tool.kind for tool in rows.TOOLS} <= set(get_args(Kind))
    assert {tool.form for tool in rows.TOOLS} <= set(get_args(OutputForm))
