"""The design of an experiment: what each arm is shown, tasks and repeats, and the measure and test that decide."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from seasoned.errors import NotFound, UsageError
from seasoned.example.block import Block, Form
from seasoned.example.choose.choice import SessionNeeds, choose
from seasoned.example.choose.offered import offered
from seasoned.example.example import Template
from seasoned.example.library.storage import Library
from seasoned.example.provision import BUDGET
from seasoned.example.render import Rendered, placebo, render
from seasoned.experiment.analysis.analyse import CONTROL, PLACEBO, AnalysisPlan
from seasoned.experiment.analysis.contrast import Contrast
from seasoned.experiment.analysis.task_run import Measure
from seasoned.experiment.task.task_file import Part, Task

K = 3  # examples shown: in measurements, more cost time and gained little
INSTRUCTIONS = (
    "You work at {about}. Do what the user asks with your tools, then say in one sentence what came of it. "
    "When a call fails, change it and try again."
)
_TEMPLATE = "template:"


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One way to begin a run."""

    name: str
    shows_learned: bool = False  # whether it shows what was learned on the train part
    template: str | None = None  # A template of the library to show instead
    form: Form = "messages"
    is_placebo: bool = False
    has_rules: bool = False  # whether the conventions are said in words

    @property
    def shows_examples(self) -> bool:
        return self.shows_learned or self.template is not None


# The most important first: a budget that is too small drops arms from the end.
BUILT_IN: dict[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm(name="cold"),
        Arm(name="warm", shows_learned=True),
        Arm(name="placebo", shows_learned=True, is_placebo=True),
        Arm(name="rule", has_rules=True),
        Arm(name="text", shows_learned=True, form="text"),
    )
}


class Material(msgspec.Struct, frozen=True):
    """What the arms can show: what was learned, and the library for arms that name a template."""

    learned: Template | None = None
    library: Library = Library()


class RunStart(msgspec.Struct, frozen=True, kw_only=True):
    """What one run begins with."""

    instructions: str
    steps: int
    rendered: Rendered | None = None
    template: str = ""  # `name@version`

    @property
    def warm(self) -> bytes:
        return b"" if self.rendered is None else self.rendered.content

    @property
    def example_ids(self) -> tuple[str, ...]:
        return () if self.rendered is None else self.rendered.example_ids


def arms_named(names: Sequence[str], library: Library) -> tuple[Arm, ...]:
    """The arms of these names; `template:NAME` shows a template of the library."""
    found: dict[str, Arm] = {}
    for name in names:
        if name in BUILT_IN:
            found[name] = BUILT_IN[name]
        elif name.startswith(_TEMPLATE):
            wanted = name.removeprefix(_TEMPLATE)
            if library.find(wanted) is None:
                raise NotFound(f"The arm {name!r} names no template. `seasoned template list` shows them.")
            found[name] = Arm(name=name, template=wanted)
        else:
            raise UsageError(f"There is no arm {name!r}. Choose from {', '.join(BUILT_IN)} or {_TEMPLATE}NAME.")
    if not found:
        raise UsageError(f"An experiment needs arms. Choose from {', '.join(BUILT_IN)} or {_TEMPLATE}NAME.")
    return tuple(found.values())


def show(arm: Arm, task: Task, material: Material) -> RunStart | None:
    """What a run of this task in this arm begins with; None if the arm does not apply to it.

    If nothing learned is relevant to the task, a warm arm shows nothing, as a new session would. Leaving such tasks
    out would favour the arm.
    """
    instructions = INSTRUCTIONS.format(about=task.environment.about or task.environment.name)
    if arm.has_rules:
        rules = task.rules()
        if not rules:
            return None
        instructions = f"{instructions}\n{' '.join(rules)}"
    shown = RunStart(instructions=instructions, steps=task.steps)
    if not arm.shows_examples:
        return shown
    if arm.shows_learned and material.learned is None:
        return None
    block = _block(arm, task, material)
    if block is None:
        return shown
    if arm.is_placebo:
        block = placebo(block)
    rendered = render(block, "pydantic-ai", arm.form)
    if rendered.is_empty:
        return shown
    return msgspec.structs.replace(shown, rendered=rendered, template=block.template)


def _block(arm: Arm, task: Task, material: Material) -> Block | None:
    """The examples that a new session with this prompt and these tools would get."""
    library = material.library
    template = material.learned if arm.template is None else library.find(arm.template)
    assert template is not None, "arms are only made of templates that exist"
    if arm.template is None:
        library = Library((template,))
    schemas = {tool.name: tool.schema() for tool in task.world().tools.values()}
    choice = choose(
        library,
        SessionNeeds(task.prompt, offered(schemas), budget=BUDGET, is_small=True, most=K),
        render=lambda block: render(block, "pydantic-ai", arm.form),
        template=template,
    )
    return None if choice.block is None else _in_fixed_order(choice.block)


def _in_fixed_order(block: Block) -> Block:
    """The same examples in the same order for every task, so that equal prompts stay cached."""
    return msgspec.structs.replace(block, examples=tuple(sorted(block.examples, key=lambda one: one.id)))


ARMS = ("cold", "warm", "placebo", "rule")
PRIMARY: Measure = "executed"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}\Z")


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """What is fixed before the first run besides measure and contrasts: how much is run, and when it stops."""

    tasks: int
    runs: int
    stopping: str  # when it stops; must not depend on results
    # The smallest difference that would be found with the power asked for, if all tasks that differ go one way.
    detectable: float | None = None
    # Contrasts that must not be worse, and the loss that their interval has to exclude.
    not_below: tuple[Contrast, ...] = ()
    margin: float | None = None
    at: float | None = None


class Design(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is decided before the first run. An experiment keeps the design that it began with."""

    name: str
    tasks: str  # A set by its name, a file or a folder
    plan: AnalysisPlan
    part: str = "confirmation"  # a part of the tasks; earlier versions stored others
    arms: tuple[str, ...] = ARMS
    repeats: int = 1
    registration: Registration | None = None


def new_design(
    *,
    name: str,
    tasks: str,
    arms: Sequence[str] = ARMS,
    primary: Measure = PRIMARY,
    part: Part = "confirmation",
    repeats: int = 1,
) -> Design:
    """A design with the usual contrasts for its arms; raises UsageError if something is wrong with it."""
    arms = tuple(dict.fromkeys(arms))
    if not _NAME.match(name):
        raise UsageError(f"{name!r} is not a valid name. Use letters, digits, dots and dashes, at most 64.")
    if repeats < 1:
        raise UsageError(f"repeats must be a whole number of at least 1, not {repeats!r}.")
    if len(arms) < 2:
        raise UsageError(f"An experiment needs at least two arms, not {list(arms)!r}. Try --arms cold,warm.")
    plan = AnalysisPlan(contrasts=usual_contrasts(arms), primary=primary)
    return Design(name=name, tasks=tasks, plan=plan, part=part, arms=arms, repeats=repeats)


def usual_contrasts(arms: Sequence[str]) -> tuple[Contrast, ...]:
    """Every arm against cold, and the first warm one against the placebo."""
    control = CONTROL if CONTROL in arms else arms[0]
    found = [Contrast(arm, control) for arm in arms if arm != control]
    if PLACEBO in arms and "warm" in arms:
        found.insert(0, Contrast("warm", PLACEBO))
    return tuple(found)
