"""docs/evidence.md, from the runs that are recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from tools.evidence.history import AFTER, BEFORE
from tools.evidence.study import STUDIES, Study, session_id, task_set

from seasoned.errors import CannotDo, NotFound
from seasoned.example.block import Format
from seasoned.example.library.storage import find_block
from seasoned.experiment.analysis.analyse import Analysis, amount, analyse, sentences
from seasoned.experiment.analysis.contrast import POWER, Effect
from seasoned.experiment.analysis.task_run import KINDS, Measure, TaskRun
from seasoned.experiment.run.design import Design, Registration
from seasoned.experiment.run.run_store import analyses, broken_off, load_design, load_records
from seasoned.experiment.task.task_file import Task, TaskSet
from seasoned.store import Store, open_store
from seasoned.text import plural

ABOUT = "about.json"
_SLACK_SECONDS = 600.0  # for the run that was under way, and for the histories before the first
_MEASURES: tuple[Measure, ...] = ("success", "first_call", "tokens")
_HEAD = f"""# Evidence: does experience help a model?

Written by `make evidence` from recorded runs; not by hand. What it says holds for the models and the tasks that are
named here. How it is measured: [experiment](design/experiment.md), [statistics](design/stats.md).

**What is run.** Histories are invented and then take the way of any history: they are scanned, judged and mined, and
`begin` decides what a new session is shown. A real model answers with calls, at temperature 0 and forced to fit the
schemas of the tools; a scripted world says what works. Where an arm has nothing to show it begins cold, as a session
would. A model with less than a billion parameters is shown what fits the request; a larger one is shown what fits its
tools, before anything is asked.

| arm | what a session begins with |
|---|---|
| cold | nothing |
| warm | a block of examples; in all {BEFORE + AFTER} sessions of its service, arguments were written as they are now |
| warm-changed | the same after {BEFORE} sessions with another way of writing, and {AFTER} since it changed |
| placebo | as many turns as in warm, of the same length, that say nothing of the tools |
| sheet | the sheet of the project; in all {BEFORE + AFTER} sessions of it, the commands were those of now |
| sheet-changed | the same after {BEFORE} sessions with other commands, and {AFTER} since they changed |
| neutral | a block of examples from {BEFORE + AFTER} sessions of the same project, with the size of each answer alone |

**tools** are four services with five tools each, whose descriptions do not say how arguments are written. **projects**
are ten projects with their own commands to test, lint, format and build. For half of them the way that holds now is
*odd*; for the others it is *plain*, so that a model may guess it, and only the former way was odd: there a stale
example costs what a cold start has. **answers-teach** and **answers-repeat** are five places with codes that only an
answer tells. In the first, what an earlier call answered names the argument that is asked for; without it a session has
to look the code up. In the second, answers only repeat the call.

**What decides** was named before the first run and is stored with the runs: the *call that was asked for* was made, in
its exact form, within two requests to the model (tasks done). After a change, warm must not be below cold. Intervals
take the task as the unit; tasks of one tool or project are alike, so for new tools and projects they would be wider.

**What none of this supports**: that it helps with other models or with real work, since the tasks were made and not
drawn from it; that there is no effect where none was found; that a measure other than tasks done shows one."""
_TAIL = """## Again, or with another model

```text
make evidence                                    # the local model, 30 minutes at most; again: it goes on
seasoned model fetch --large                     # one with 1.5 billion parameters; then
python -m tools.make_evidence --model local:/path/model.gguf --minutes 60
python -m tools.make_evidence --base-url URL --model NAME       # any OpenAI-compatible server
seasoned experiment run conventions --arms cold,warm,placebo    # learns from the model's own runs
seasoned experiment run my-tasks.yaml --arms cold,warm,placebo  # your own tasks
```
"""


class ModelRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the runs of one model beside the runs themselves."""

    name: str
    model: str
    size: int
    versions: str
    machine: str
    minutes: float
    begun_at: float
    commits: tuple[str, ...] = ()  # of the program, one for each start that had another


def evidence_page(homes: Sequence[Path], former: str = "") -> str:
    """The page, with a part for each model; of studies that the homes have no runs of, the former page's parts stay."""
    kept = _parts(former)
    made = {one.name: (home, one) for home in homes for one in [_about(home)]}
    lines = [_HEAD, ""]
    # In the order of the former page, and what is new behind it.
    for name in dict.fromkeys((*kept, *made)):
        parts = kept.get(name, {})
        if name in made:
            lines += _model_part(*made[name], parts)
        else:
            lines += [text for part in parts.values() for text in (part, "")]
    return "\n".join([*lines, _TAIL])


def _about(home: Path) -> ModelRuns:
    return msgspec.json.decode((home / ABOUT).read_bytes(), type=ModelRuns)


def _parts(page: str) -> dict[str, dict[str, str]]:
    """A page by models, and each part of a model by its study; the head of the model has an empty name."""
    found: dict[str, dict[str, str]] = {}
    for whole in re.split(r"^(?=## )", page.removesuffix(_TAIL), flags=re.MULTILINE)[1:]:
        head, *parts = re.split(r"^(?=### )", whole, flags=re.MULTILINE)
        studies = {part[len("### ") :].split(",", 1)[0]: part.rstrip() for part in parts}
        found[head[len("## ") :].split("\n", 1)[0]] = {"": head.rstrip(), **studies}
    return found


def _model_part(home: Path, about: ModelRuns, former: Mapping[str, str]) -> list[str]:
    at = datetime.fromtimestamp(about.begun_at, tz=UTC)
    commit = f", commit {', '.join(about.commits)}" if about.commits else ""
    run = f"{at:%Y-%m-%d %H:%M} UTC, {about.versions}{commit}, {about.machine}."
    budget = f"Budget: {about.minutes:g} minutes."
    with open_store(home / "runs" / "seasoned.db") as store:
        made = {one.name: one for one in STUDIES.values() if _is_run(store, one)}
        stays = {name: part for name, part in former.items() if name in STUDIES and name not in made}
        if not stays:
            head = [f"## {about.name}", "", run, f"Model: {about.model}. {budget}", ""]
            return [*head, *(line for one in STUDIES.values() for line in _study_part(home, store, one, about))]
        # Runs of another time stay as they are, with the head that belongs to them; the new ones say when they were.
        lines = [former[""], ""]
        for name, study in STUDIES.items():
            if name in stays:
                lines += [stays[name], ""]
            elif name in made:
                title, *rest = _study_part(home, store, study, about)
                lines += [title, "", f"{run} {budget}", *rest]
    return lines


def _is_run(store: Store, study: Study) -> bool:
    try:
        load_design(store, study.name)
    except NotFound:
        return False
    return bool(load_records(store, study.name))


def _study_part(home: Path, store: Store, study: Study, about: ModelRuns) -> list[str]:
    head = [f"### {study.name}, {about.name}", ""]
    try:
        (found,) = analyses(store, study.name, model=about.name)
        design = load_design(store, study.name)
    except (NotFound, CannotDo) as error:
        return [*head, f"Not run: {error}", ""]
    registered = design.registration
    assert registered is not None, "every design of a study has one"
    tasks = task_set(study, registered.tasks // len(study.tasks(1)))
    records = [one for one in load_records(store, study.name) if one.model == about.name]
    said = sentences(found)
    lines = [*head, *_registered(design, registered), "", _how_much(store, registered, records, about, study.name), ""]
    lines += ["What the data supports:", ""]
    lines += [f"- {sentence}" for sentence in (*_not_below(found, registered, study.below_when), *said.may)]
    lines += [""]
    lines += _arms_table(found, _shown_of(home, study, tasks, {one.task for one in records}))
    lines += _ways_table(found, study, tasks, records, design) if study.ways else []
    return lines


def _registered(design: Design, registered: Registration) -> list[str]:
    contrasts = ", ".join(f"{one.arm} against {one.against}" for one in design.plan.contrasts)
    smallest = "–" if registered.detectable is None else f"{100 * registered.detectable:.0f} points"
    at = datetime.fromtimestamp(registered.at or 0.0, tz=UTC)
    margin = 100 * (registered.margin or 0.0)
    below = ", ".join(f"{one.arm} against {one.against}" for one in registered.not_below)
    return [
        f"Registered {at:%Y-%m-%d %H:%M} UTC, before the first run:",
        "",
        f"- {registered.tasks} tasks in the arms {', '.join(design.arms)}: {registered.runs} runs",
        f"- primary measure: {KINDS[design.plan.primary].label}, the call that was asked for",
        f"- contrasts: {contrasts}; exact McNemar test, Holm",
        f"- power: {smallest} are found in {100 * POWER:g} of 100 experiments, if all changes go one way",
        f"- not below: {below}; the difference is not negative, and a loss of {margin:.0f} points is excluded",
        f"- end: {registered.stopping.partition(';')[0]}",
    ]


def _how_much(store: Store, registered: Registration, records: Sequence[TaskRun], about: ModelRuns, name: str) -> str:
    tasks = plural(len({one.task for one in records}), "task")
    text = f"Made: {len(records)} of {registered.runs} runs, on {tasks}."
    text += " The time was over before all were made." if len(records) < registered.runs else ""
    last = max(one.ended_at or 0.0 for one in records)
    # A study may be added later than the others of its model.
    begun = max(about.begun_at, registered.at or 0.0)
    if last > begun + 60 * about.minutes + _SLACK_SECONDS:
        # Whoever starts it again has seen the page: that belongs to what a reader must know.
        text += " It was started again after its time was over, and went on with the runs that were left."
    again = broken_off(store, name)
    return text + (f" Broken off and run again: {again}." if again else "")


def _not_below(found: Analysis, registered: Registration, when: str) -> Iterator[str]:
    for contrast in registered.not_below:
        one = next((e for e in found.effects if (e.arm, e.against) == (contrast.arm, contrast.against)), None)
        if one is None or one.estimate.value is None:
            yield f"Whether {contrast.arm} is below {contrast.against} is unknown: it was not run."
            continue
        yield f"**{below_sentence(one, registered.margin or 0.0, when)}**"


def below_sentence(one: Effect, margin: float, when: str = "After the change ") -> str:
    """Whether an arm is below the other one, by the rule that was registered."""
    interval, value = one.estimate.interval, one.estimate.value
    assert value is not None
    figures = f"{amount(one.value, one.measure)} against {amount(one.value_against, one.measure)}"
    if value < 0:
        return f"{when}{one.arm} is below {one.against} ({figures}): what was registered does not hold."
    if interval is None or interval.low <= -margin:
        why = f"a loss of {100 * margin:.0f} points is not excluded"
        return f"{when}{one.arm} is not below {one.against} in these runs ({figures}), but {why}."
    return (
        f"{when}{one.arm} is not below {one.against} ({figures}), and a loss of {100 * margin:.0f} points "
        "is excluded, as registered."
    )


def _shown_of(home: Path, study: Study, tasks: TaskSet, made: set[str]) -> dict[str, tuple[int, int]]:
    """For each arm the number of tasks for which it showed anything, and the very tool or command asked for."""
    found: dict[str, tuple[int, int]] = {}
    for arm in study.arms:
        if arm.history is not None and not arm.is_placebo:
            with open_store(home / str(arm.history) / "seasoned.db") as store:
                shown = [_shown(store, study, task) for task in tasks.tasks if task.id in made]
            found[arm.name] = (sum(one is not None for one in shown), sum(one is True for one in shown))
    return found


def _shown(store: Store, study: Study, task: Task) -> bool | None:
    """Whether what a session began with shows what was asked for; None if it began with nothing."""
    ids = (session_id(study, task, is_for_task=is_for_task) for is_for_task in (True, False))
    form: Format = "text" if study.is_in_project else "pydantic-ai"
    block = next((one for one in (find_block(store, name, form) for name in ids) if one is not None), None)
    if block is None:
        return None
    (asked,) = task.check
    (wanted,) = asked.with_.values()
    return (f"`{wanted}`" if study.is_in_project else f'"{asked.called}"').encode() in block.content


def _arms_table(found: Analysis, shown: dict[str, tuple[int, int]]) -> list[str]:
    lines = [
        "| arm | tasks | shown something | shown what was asked for | "
        + " | ".join(KINDS[name].label for name in _MEASURES)
        + " |",
        "|---|--:|--:|--:|" + "--:|" * len(_MEASURES),
    ]
    for arm in found.arms:
        some, right = (str(one) for one in shown.get(arm.arm, ("–", "–")))
        cells = []
        for name in _MEASURES:
            one = arm.measures[name]
            text = amount(one.value, name)
            if name == found.plan.primary and one.interval is not None:
                text = f"**{text}** ({amount(one.interval.low, name)} to {amount(one.interval.high, name)})"
            cells.append(text)
        lines.append(f"| {arm.arm} | {arm.tasks} | {some} | {right} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _ways_table(found: Analysis, study: Study, tasks: TaskSet, records: Sequence[TaskRun], design: Design) -> list[str]:
    """The primary measure where the way that holds now is odd, and where it is plain; describes only."""
    arms = [arm.arm for arm in found.arms]
    whole = set.intersection(*({one.task for one in records if one.arm == arm} for arm in arms))
    lines = [
        f"| {KINDS[found.plan.primary].label} where the way is | tasks | " + " | ".join(arms) + " |",
        "|---|--:|" + "--:|" * len(arms),
    ]
    for way in study.ways:
        # Of the tasks that every arm ran: others would compare one arm's tasks with those of another.
        ids = {task.id for task in tasks.tasks if way in task.tags and task.id in whole}
        some = [one for one in records if one.task in ids]
        if some:
            values = {arm.arm: arm.measures[found.plan.primary].value for arm in analyse(some, design.plan).arms}
            cells = [amount(values.get(arm), found.plan.primary) for arm in arms]
            lines.append(f"| {way} | {len({one.task for one in some})} | " + " | ".join(cells) + " |")
    return [*lines, ""]
