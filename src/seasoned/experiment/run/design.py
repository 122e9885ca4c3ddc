"""The design of an experiment: what each arm is shown, tasks and repeats, and the measure and test that decide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from seasoned.errors import NotFound, UsageError
from seasoned.experiment.analysis.analyse import AnalysisPlan
from seasoned.experiment.analysis.contrast import Contrast, Test
from seasoned.experiment.analysis.task_run import Measure
from seasoned.experiment.task.task_file import Part, Task, Texts, Written, choice, read_document, texts
from seasoned.template.block import Block, Form
from seasoned.template.choose.choice import BlockLimits, choose
from seasoned.template.choose.offered import offered
from seasoned.template.choose.ranking import SessionNeeds, ranking_of, words_of
from seasoned.template.example import Example, Template, digest
from seasoned.template.library.storage import Library
from seasoned.template.provision import BUDGET
from seasoned.template.render import Rendered, render
from seasoned.template.render.script import Count, placebo
from seasoned.text import count_tokens

K = 3  # examples shown by default: in measurements, more cost time and gained little
BANKS = 2
RETRIES = 4  # requests that the arm with retries may make beyond the others
INSTRUCTIONS = (
    "You work at {about}. Do what the user asks with your tools, then say in one sentence what came of it. "
    "When a call fails, change it and try again."
)
# What is learned on the train part: calls that worked, and calls that worked under the former rules.
Role = Literal["good", "stale"]
_TEMPLATE = "template:"


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One way to begin a run."""

    name: str
    # Which learned examples it shows; None: none.
    role: Role | None = None
    template: str | None = None  # A template of the library to show instead
    form: Form = "messages"
    is_placebo: bool = False
    has_rules: bool = False  # whether the conventions are said in words
    retries: int = 0

    @property
    def shows_examples(self) -> bool:
        return self.role is not None or self.template is not None

    @property
    def is_meant(self) -> bool:
        """Whether a user could want to start like this, or it is the placebo of such an arm."""
        return self.role == "good" or self.template is not None

    @property
    def has_order(self) -> bool:
        """Whether it is run with several orders of its examples. Controls are not: they cost as much and show less."""
        return self.is_meant and self.form == "messages" and not self.is_placebo


# The most important first: a budget that is too small drops arms from the end.
BUILT_IN: dict[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm(name="cold"),
        Arm(name="warm", role="good"),
        Arm(name="placebo", role="good", is_placebo=True),
        Arm(name="rule", has_rules=True),
        Arm(name="stale", role="stale"),
        Arm(name="retries", retries=RETRIES),
        Arm(name="text", role="good", form="text"),
    )
}


class Material(msgspec.Struct, frozen=True):
    """What the arms can show: a template for each role, and the library for arms that name a template."""

    learned: Mapping[Role, Template] = {}
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


def show(
    arm: Arm, task: Task, material: Material, *, bank: str = "", k: int = K, count: Count = count_tokens
) -> RunStart | None:
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
    shown = RunStart(instructions=instructions, steps=task.steps + arm.retries)
    if not arm.shows_examples:
        return shown
    if arm.role is not None and arm.role not in material.learned:
        return None
    block = _block(arm, task, material, bank, k)
    if block is None:
        return shown if arm.is_meant else None
    if arm.is_placebo:
        block = placebo(block, count=count)
    rendered = render(block, "pydantic-ai", arm.form)
    if rendered.is_empty:
        return shown if arm.is_meant else None
    return msgspec.structs.replace(shown, rendered=rendered, template=block.template)


def _block(arm: Arm, task: Task, material: Material, bank: str, k: int) -> Block | None:
    if arm.template is not None:
        template = material.library.find(arm.template)
        assert template is not None, "arms are only made of templates that exist"
        library = material.library
    else:
        assert arm.role is not None
        template = material.learned[arm.role]
        library = Library((template,))
    tools = [tool.name for tool in task.world().tools.values()]
    asked = {one.called for one in task.check if one.called is not None}
    limits = BlockLimits(budget=BUDGET, is_small=True, most=k)
    block = _chosen(task, library, template, tools, limits, form=arm.form)
    if block is None or (arm.role == "stale" and not any(one.tool in asked for one in block.examples)):
        return None
    return _in_order(block, bank)


def _chosen(
    task: Task, library: Library, template: Template, tools: Sequence[str], limits: BlockLimits, form: Form = "messages"
) -> Block | None:
    """The examples that a new session with this prompt and these tools would get."""
    schemas = {name: task.world().tools[name].schema() for name in tools}
    asked = SessionNeeds(words=tuple(words_of(task.prompt)), tools=offered(schemas))
    choice = choose(
        ranking_of(library),
        asked,
        render=lambda block: render(block, "pydantic-ai", form),
        template=template,
        limits=limits,
        seed="",
    )
    return choice.block


def _in_order(block: Block, bank: str) -> Block:
    """The same examples in the order of the bank for every task, so that equal prompts stay cached."""
    if len(block.examples) < 2:
        return block

    def turn(example: Example) -> str:
        return digest(bank, example.id)

    return msgspec.structs.replace(block, examples=tuple(sorted(block.examples, key=turn)))


ARMS = ("cold", "warm", "placebo", "rule")
PRIMARY: Measure = "executed"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}\Z")
_TEMPERATURE_MOST = 2.0
_Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """What is fixed before the first run besides measure and contrasts: how much is run, and when it stops."""

    tasks: int
    runs: int
    stopping: str  # when it stops; must not depend on results
    # The smallest difference that would be found with the power of the plan, if all tasks that differ go one way.
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
    part: Part = "confirmation"
    arms: tuple[str, ...] = ARMS
    repeats: int = 1
    banks: int = BANKS  # fixed orders of examples
    k: int = K
    temperature: float = 0.0
    samples: int = 4  # how often a task of the train part is tried at most, until it is done once
    seed: int = 0
    registration: Registration | None = None


def new_design(
    *,
    name: str,
    tasks: str,
    arms: Sequence[str] = ARMS,
    primary: Measure = PRIMARY,
    seed: int = 0,
    **settings: Any,
) -> Design:
    """A design with the usual contrasts for its arms; `settings` are further fields of a Design."""
    plan = AnalysisPlan(contrasts=usual_contrasts(arms), primary=primary, seed=seed)
    arms = tuple(dict.fromkeys(arms))
    return check_design(Design(name=name, tasks=tasks, plan=plan, arms=arms, seed=seed, **settings))


def usual_contrasts(arms: Sequence[str]) -> tuple[Contrast, ...]:
    """Every arm against cold, and the first warm one against the placebo."""
    control = "cold" if "cold" in arms else arms[0] if arms else ""
    found = [Contrast(arm, control) for arm in dict.fromkeys(arms) if arm != control]
    if "placebo" in arms and "warm" in arms:
        found.insert(0, Contrast("warm", "placebo"))
    return tuple(found)


def check_design(design: Design) -> Design:
    """The design; raises UsageError if something is wrong with it."""
    if not _NAME.match(design.name):
        raise UsageError(f"{design.name!r} is not a valid name. Use letters, digits, dots and dashes, at most 64.")
    if not 0 <= design.temperature <= _TEMPERATURE_MOST:
        raise UsageError(f"The temperature must be between 0 and {_TEMPERATURE_MOST:g}, not {design.temperature!r}.")
    for name in ("repeats", "banks", "k", "samples"):
        if getattr(design, name) < 1:
            raise UsageError(f"{name} must be a whole number of at least 1, not {getattr(design, name)!r}.")
    if len(design.arms) < 2:
        raise UsageError(f"An experiment needs at least two arms, not {list(design.arms)!r}. Try --arms cold,warm.")
    return design


class _WrittenDesign(Written, frozen=True, kw_only=True):
    name: str
    tasks: str
    arms: Texts
    primary: Measure
    contrasts: tuple[tuple[str, str], ...]
    part: Part = "confirmation"
    repeats: int = 1
    banks: int = BANKS
    k: int = K
    temperature: float = 0.0
    samples: int = 4
    seed: int = 0
    test: Test = "permutation"
    level: _Share = 0.95
    power: _Share = 0.8
    control: str = "cold"
    placebo: str | None = "placebo"


def read_design(path: Path) -> Design:
    """The design in a file; UsageError names the file and what is expected."""
    given = read_document(path, _WrittenDesign)
    arms = texts(given.arms)
    named = ("primary", "test", "level", "power", "control", "placebo", "seed")
    plan = AnalysisPlan(
        contrasts=tuple(Contrast(*[choice(arm, arms, str(path)) for arm in pair]) for pair in given.contrasts),
        **{name: getattr(given, name) for name in named},
    )
    same = ("name", "part", "repeats", "banks", "k", "temperature", "samples", "seed")
    fields = {name: getattr(given, name) for name in same}
    return check_design(Design(tasks=_next_to(path, given.tasks), plan=plan, arms=arms, **fields))


def _next_to(path: Path, text: str) -> str:
    """The path of tasks next to the design file, if there are any, so that it works from any working folder."""
    neighbour = path.parent / text
    return str(neighbour) if neighbour.exists() else text
