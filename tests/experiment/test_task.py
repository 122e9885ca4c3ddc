"""Task files: what they say, what is wrong in them, and the sets that come with the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import NotFound, UsageError
from seasoned.experiment.task.task_file import (
    BUILT_IN,
    PARTS,
    Condition,
    EndState,
    MadeCall,
    Task,
    ValueCheck,
    World,
    check,
    fill,
    load_tasks,
)
from seasoned.outcome.judge import judge
from seasoned.session import Result, ToolCall
from tests.each_case import each_case
from tests.experiment.scripted import TASKS, write_tasks

SETS = {name: load_tasks(name) for name in BUILT_IN}
EVERY = [task for found in SETS.values() for task in found.tasks]


def test_a_file_is_read_with_all_that_it_says(tmp_path: Path) -> None:
    found = load_tasks(str(write_tasks(tmp_path)))
    assert (found.name, len(found.tasks)) == ("depot", 5)
    task = found.of("confirmation")[0]
    assert task.prompt == "I look for parcel two."
    assert task.rules() == ("Write a parcel like GX-1.",)
    assert task.world().tools["weigh"].schema() == {
        "type": "object",
        "properties": {"weight": {"type": "string"}, "is_wet": {"type": "boolean"}},
        "required": ["weight"],
        "additionalProperties": False,
    }


def test_a_folder_is_one_set_and_the_digest_follows_its_files(tmp_path: Path) -> None:
    write_tasks(tmp_path)
    before = load_tasks(str(tmp_path)).digest
    write_tasks(tmp_path, TASKS.replace("id: t1", "id: other"))
    assert load_tasks(str(tmp_path)).digest != before


TUNED = 'prompt: "Where is the parcel two of GX?"'


@each_case(
    ("old", "new", "expected"),
    [
        ("part: train, prompt", "part: trian, prompt", "Invalid enum value 'trian' - at `$.tasks[0].part`"),
        ("description: Find a parcel.", "descripton: Find a parcel.", "unknown field `descripton` - at `$.tools[0]`"),
        ("like: '[A-Z]{2}-[0-9]+'", "like: '[A-Z'", "'[A-Z' is not a regular expression"),
        ("check: {called: weigh}}", "check: {called: wiegh}}", "'wiegh' is unknown: expected one of 'par"),
        ("check: {called: weigh}}", "check: {}}", "expected exactly one of 'called', "),
        ("id: t2,", "id: t1,", "is already used at"),
        ("about: the desk of a depot", "about: [a, b]", "Expected `str`, got `array` - at `$.about`"),
        ("description: Note a weight.", "description: [}", ":16: this is not valid YAML"),
        ("id: t2, part: train", "id: t2, id: t3, part: train", ":23: this is not valid YAML ('id' twice)"),
        (TUNED, 'prompt: "find the parcel one of GX, GX-1, for me."', "parts must not share tasks"),
    ],
)
def test_an_error_names_the_file_and_the_place_in_it(tmp_path: Path, old: str, new: str, expected: str) -> None:
    file = write_tasks(tmp_path, TASKS.replace(old, new, 1))
    with pytest.raises(UsageError) as raised:
        load_tasks(str(file))
    assert str(raised.value).startswith(f"{file}:")
    assert expected in str(raised.value)


@pytest.mark.parametrize("content", ["", "- a\n", "{}", "environment: x\ntools: []\n"])
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match=r"(?i)expected|missing"):
        load_tasks(str(write_tasks(tmp_path, content)))


def test_what_is_not_there_is_said_with_the_sets_that_are() -> None:
    with pytest.raises(NotFound, match="conventions, plain, multi-step"):
        load_tasks("nowhere")


@pytest.mark.parametrize(("name", "least"), [("conventions", 60), ("plain", 60), ("multi-step", 20)])
def test_the_sets_are_large_enough_and_have_all_parts(name: str, least: int) -> None:
    found = SETS[name]
    assert len(found.tasks) >= least
    assert all(found.of(part) for part in PARTS)
    for environment in {task.environment.name for task in found.tasks}:
        own = [task for task in found.tasks if task.environment.name == environment]
        trained = {one.called for task in own if task.part == "train" for one in task.check}
        asked = {one.called for task in own if task.part == "confirmation" for one in task.check}
        assert asked <= trained | {None}, environment


def test_every_task_of_ours_can_be_done() -> None:
    """The call that the check asks for works in the world of the task: nothing is asked that cannot be."""
    assert [problem for task in EVERY for problem in _problems(task)] == []


def _problems(task: Task) -> Iterator[str]:
    world = task.world()
    for condition in task.check:
        if condition.called is None or any(expected.needs for expected in world.tools[condition.called].expects):
            continue
        tool = world.tools[condition.called]
        wanted = condition.with_
        if any(not isinstance(wanted.get(name), str | int | float | bool) for name in tool.arguments):
            continue
        if not tool.takes(wanted):
            yield f"{task.id}: {wanted}"
        if not (answer := world.call(tool.name, wanted))["success"]:
            yield f"{task.id}: {answer}"
    if not 1 <= task.steps <= 10:
        yield f"{task.id}: {task.steps} steps"


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


WORKED = MadeCall("find", {"id": "GX-1", "n": 1}, {"success": True, "result": 7}, True)
FAILED = MadeCall("find", {"id": "1"}, {"success": False, "error": "E"}, True)
ENDED = EndState([FAILED, WORKED], {"a.txt": "Some text"}, {"rows": [{"id": 1, "is_on": True}]}, "It is on shelf A.")


@each_case(
    ("given", "is_met"),
    [
        ({"called": "find"}, True),
        ({"called": "find", "with_": {"id": "1"}}, False),
        ({"called": "find", "with_": {"missing": "1"}}, False),
        ({"called": "find", "with_": {"n": True}}, False),
        ({"called": "find", "with_": {"id": ValueCheck(one_of=("GX-1", "GX-2"))}}, True),
        ({"not_called": "lose"}, True),
        ({"not_called": "find"}, False),
        ({"file": "a.txt"}, True),
        ({"file": "b.txt"}, False),
        ({"file": "a.txt", "text": ValueCheck(contains="TEXT")}, True),
        ({"file": "a.txt", "text": ValueCheck(like="^text")}, False),
        ({"table": "rows", "where": {"is_on": True}}, True),
        ({"table": "rows", "where": {"is_on": 1}}, False),
        ({"answer": ValueCheck(contains="shelf a")}, True),
        ({"answer": "On shelf A."}, False),
    ],
)
def test_a_condition_says_whether_it_holds(given: dict[str, Any], is_met: bool) -> None:
    assert (check([Condition(**given)], ENDED) is None) == is_met


def test_the_first_condition_that_does_not_hold_decides() -> None:
    conditions = [Condition(called="find"), Condition(called="lose"), Condition(file="b.txt")]
    assert check(conditions, ENDED) == "lose was not called as it should have been"
