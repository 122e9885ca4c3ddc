"""The design of an experiment: tasks, arms and repeats, and the measure and test that decide, named beforehand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.analysis.analyse import AnalysisPlan
from seasoned.experiment.analysis.contrast import Contrast, Test
from seasoned.experiment.analysis.task_run import MEASURES, Measure
from seasoned.experiment.run.arm import BANKS, K
from seasoned.experiment.task.task_file import PARTS, Part, YamlEntry, read_document

ARMS = ("cold", "warm", "placebo", "rule")
PRIMARY: Measure = "executed"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}\Z")
_TEMPERATURE_MOST = 2.0


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """What is promised before the first run beside measure and contrasts: how much is run, and when it ends."""

    tasks: int
    runs: int
    stopping: str  # the rule by which it ends, which must not depend on results
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
    part: Part = "confirmation",
    primary: Measure = PRIMARY,
    repeats: int = 1,
    banks: int = BANKS,
    k: int = K,
    temperature: float = 0.0,
    samples: int = 4,
    seed: int = 0,
) -> Design:
    """A design with the usual contrasts for its arms."""
    return check_design(
        Design(
            name=name,
            tasks=tasks,
            plan=AnalysisPlan(contrasts=usual_contrasts(arms), primary=primary, seed=seed),
            part=part,
            arms=tuple(dict.fromkeys(arms)),
            repeats=repeats,
            banks=banks,
            k=k,
            temperature=temperature,
            samples=samples,
            seed=seed,
        )
    )


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


def read_design(path: Path) -> Design:
    """The design in a file; UsageError names file, line and what is expected."""
    known = ("name", "tasks", "part", "arms", "repeats", "banks", "k", "temperature", "samples", "seed")
    rules = ("primary", "test", "level", "power", "contrasts", "control", "placebo", "rule")
    fields = read_document(path).fields((*known, *rules), needed=("name", "tasks", "arms", "primary", "contrasts"))
    arms = fields["arms"].texts()
    numbers = {name: fields[name].number(1) for name in ("repeats", "banks", "k", "samples") if name in fields}
    seed = fields.number("seed", 0)
    texts = {name: fields[name].text() for name in ("control", "placebo", "rule") if name in fields}
    shares = {name: _share(fields[name]) for name in ("level", "power") if name in fields}
    plan = AnalysisPlan(
        contrasts=tuple(_contrast(entry, arms) for entry in fields["contrasts"].items()),
        primary=fields["primary"].choice(MEASURES),  # type: ignore[arg-type]
        test=fields.choice("test", get_args(Test), "permutation"),
        seed=seed,
    )
    plan = msgspec.structs.replace(plan, **texts, **shares)
    design = Design(
        name=fields["name"].text(),
        tasks=_beside(path, fields["tasks"].text()),
        plan=plan,
        part=fields.choice("part", PARTS, "confirmation"),
        arms=arms,
        temperature=_number(fields["temperature"]) if "temperature" in fields else 0.0,
        seed=seed,
    )
    return check_design(msgspec.structs.replace(design, **numbers))


def _beside(path: Path, text: str) -> str:
    """The path of tasks next to the design file, if there are any, so that it works from any working folder."""
    beside = path.parent / text
    return str(beside) if beside.exists() else text


def _contrast(entry: YamlEntry, arms: Sequence[str]) -> Contrast:
    pair = entry.items()
    if len(pair) != 2:
        raise entry.fail("two arms, as in [warm, cold]")
    return Contrast(pair[0].choice(arms), pair[1].choice(arms))


def _share(entry: YamlEntry) -> float:
    value = _number(entry)
    if not 0 < value < 1:
        raise entry.fail("a number between 0 and 1")
    return value


def _number(entry: YamlEntry) -> float:
    value = entry.value()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise entry.fail("a number")
    return float(value)
