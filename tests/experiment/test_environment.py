"""Environments: tools with rules, answered the same way every time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.experiment.task.task_file import World, fill, load_tasks
from seasoned.outcome.judge import judge
from seasoned.session import Result, ToolCall
from tests.experiment.scripted import write_tasks


@pytest.fixture
def world(tmp_path: Path) -> World:
    return load_tasks(str(write_tasks(tmp_path))).of("confirmation")[0].world()


def test_a_call_by_the_rule_works_and_another_gets_few_words(world: World) -> None:
    assert world.call("parcel_find", {"parcel": "GX-1"}) == {"success": True, "result": {"id": "GX-1", "shelf": "A"}}
    assert world.call("parcel_find", {"parcel": "1"}) == {"success": False, "error": "E21"}
    assert world.call("parcel_find", {"parcel": "GX-9"}) == {"success": False, "error": "not found"}
    assert [made.has_worked for made in world.made] == [True, False, False]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("parcel_find", {}),
        ("parcel_find", {"parcel": 1}),
        ("parcel_find", {"parcel": "GX-1", "more": "x"}),
        ("weigh", {"weight": "1g", "is_wet": "yes"}),
        ("parcel_lose", {"parcel": "GX-1"}),
    ],
)
def test_a_call_that_does_not_fit_the_schema_is_not_valid(world: World, tool: str, arguments: dict[str, Any]) -> None:
    assert not world.call(tool, arguments)["success"]
    assert not world.made[0].is_valid


def test_worlds_of_one_environment_do_not_see_each_other(tmp_path: Path) -> None:
    task = load_tasks("multi-step").of("confirmation")[0]
    first, second = task.world(), task.world()
    first.states.add("written")
    first.files["new"] = "x"
    first.tables.setdefault("bills", []).append({"n": 1})
    assert second.states == set()
    assert "new" not in second.files
    assert not second.tables.get("bills")


def test_steps_that_need_each_other_work_in_order_only() -> None:
    task = next(task for task in load_tasks("multi-step").tasks if task.id == "workshop-t1")
    world = task.world()
    assert world.call("part_order", {"part": "chain", "count": 1}) == {"success": False, "error": "no ticket"}
    assert world.call("ticket_open", {"ticket": "T-501"})["result"]["part"] == "chain"
    assert world.call("part_order", {"part": "chain", "count": 1})["result"] == "ordered 1 x chain"
    assert world.tables["orders"] == [{"number": 1, "part": "chain", "count": 1}]
    assert world.call("repair_plan", {"day": "mon"})["success"]
    assert world.call("customer_tell", {"customer": "oak"})["success"]


def test_rows_are_changed_and_removed(tmp_path: Path) -> None:
    text = """\
environment: e
tables: {rooms: [{id: a, light: off}, {id: b, light: off}]}
tools:
  - {name: light, description: d, arguments: {id: string, light: string}, changes: rooms, by: {id: id}}
  - {name: tear, description: d, arguments: {id: string}, removes: rooms, by: {id: id}}
tasks: [{id: x, prompt: p, check: {table: rooms, where: {light: "on"}}}]
"""
    world = load_tasks(str(write_tasks(tmp_path, text))).tasks[0].world()
    assert world.call("light", {"id": "a", "light": "on"})["success"]
    assert world.call("tear", {"id": "b"}) == {"success": True, "result": {"id": "b", "light": "off"}}
    assert world.tables["rooms"] == [{"id": "a", "light": "on"}]


def test_the_judge_reads_answers_as_they_are_meant(world: World) -> None:
    for arguments, verdict in (({"parcel": "GX-1"}, "ok"), ({"parcel": "1"}, "failed")):
        text = msgspec.json.encode(world.call("parcel_find", arguments)).decode()
        call = ToolCall("c", "parcel_find", arguments, Result(text))
        assert judge(call, agent="seasoned").verdict == verdict


@given(st.text())
def test_gaps_take_names_and_reach_nothing_else(text: str) -> None:
    assert fill("{a}", {"a": text}) == text
    assert fill("{a.b} {a[0]} {c}", {"a": text}) == "{a.b} {a[0]} {c}"
