"""Arms: what each shows, that it is the same every time, and that controls are what they say."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from seasoned.errors import NotFound, UsageError
from seasoned.example.example import Example, Source, Template
from seasoned.example.library.storage import Library
from seasoned.experiment.run.design import BUILT_IN, Material, arms_named, show
from seasoned.experiment.task.task_file import Task, load_tasks
from tests.experiment.scripted import write_tasks


def _example(tool: str, argument: str, value: str, intent: str, number: int) -> Example:
    arguments = f'{{"{argument}":"{value}"}}'
    source = Source(f"seasoned:{number}", "c", f"seasoned:{number}")
    return Example(tool, arguments, '{"success":true}', intent, "init", f"p{number}", sources=(source,))


GOOD = Template(
    "train-depot",
    examples=(
        _example("parcel_find", "parcel", "QT-7", "Find the parcel seven of QT.", 1),
        _example("parcel_find", "parcel", "QT-8", "Look for parcel eight.", 2),
        _example("parcel_find", "parcel", "QT-9", "Is parcel nine there?", 3),
        _example("weigh", "weight", "50g", "Note the weight of fifty.", 4),
    ),
)
MATERIAL = Material(GOOD, Library((GOOD,)))


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return load_tasks(str(write_tasks(tmp_path))).of("confirmation")[0]


@pytest.mark.parametrize(
    ("name", "holds", "lacks"),
    [
        ("cold", [], ["QT", "GX-1"]),
        ("warm", ["QT-7", "tool-call"], ["GX-1"]),
        ("text", ["QT-7", "system-prompt"], ["tool-call"]),
        ("placebo", ["seasoned:warm"], ["QT", "tool-call", "parcel"]),
        ("rule", ["Write a parcel like GX-1."], ["QT"]),
        ("template:train-depot", ["QT-7"], []),
    ],
)
def test_an_arm_shows_what_it_says(task: Task, name: str, holds: list[str], lacks: list[str]) -> None:
    (arm,) = arms_named([name], MATERIAL.library)
    shown = show(arm, task, MATERIAL)
    assert shown is not None
    whole = shown.warm.decode() + shown.instructions
    assert [text for text in holds if text not in whole] == []
    assert [text for text in lacks if text in whole] == []


def test_the_placebo_is_as_long_as_what_it_stands_for(task: Task) -> None:
    warm, dull = (show(BUILT_IN[name], task, MATERIAL) for name in ("warm", "placebo"))
    assert warm is not None and warm.rendered is not None
    assert dull is not None and dull.rendered is not None
    assert abs(warm.rendered.tokens - dull.rendered.tokens) <= 0.05 * warm.rendered.tokens


def test_an_arm_without_anything_to_show_is_left_out(task: Task) -> None:
    assert show(BUILT_IN["warm"], task, Material()) is None


def test_a_task_that_nothing_is_known_about_begins_cold(task: Task) -> None:
    strange = msgspec.structs.replace(task, prompt="Zyx.")
    warm, cold = (show(BUILT_IN[name], strange, MATERIAL) for name in ("warm", "cold"))
    assert warm is not None
    assert warm == cold


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "needs arms"),
        (["warmish"], "no arm .warmish."),
        (["template:"], "names no template"),
        (["cold", "template:gone"], "'template:gone' names no template"),
    ],
)
def test_an_arm_that_there_is_not_is_said(names: list[str], said: str) -> None:
    with pytest.raises((UsageError, NotFound), match=said):
        arms_named(names, MATERIAL.library)
