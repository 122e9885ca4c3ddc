"""Task files: what they say, what is wrong in them, and the sets that come with the package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.errors import NotFound, UsageError
from seasoned.experiment.task.task_file import BUILT_IN, PARTS, Task, load_tasks
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
        (
            "like: '[A-Z]{2}-[0-9]+'",
            "like: '[A-Z'",
            "'[A-Z' is not a regular expression",
        ),
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
