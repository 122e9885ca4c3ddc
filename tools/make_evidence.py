"""Runs the task sets on a model and writes docs/evidence.md from the recorded runs: `make evidence`.

Says first how many calls that takes and how long, keeps to its budget, and goes on where it ended when it is run again.
`python tools/make_evidence.py --part development` tunes; the confirmation part is run once, at the end.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

import msgspec

import seasoned
from seasoned.agent.loop.model import ModelChoice, choose_model, local_file
from seasoned.app.experiment import ExperimentPlan, run_all
from seasoned.app.player import Player
from seasoned.config import Config, load
from seasoned.errors import CannotDo, SeasonedError
from seasoned.experiment.analysis.analyse import Analysis, AnalysisPlan
from seasoned.experiment.analysis.contrast import Contrast
from seasoned.experiment.analysis.findings import amount, change, sentences
from seasoned.experiment.analysis.task_run import KINDS, MEASURES
from seasoned.experiment.run.arm import BUILT_IN
from seasoned.experiment.run.design import Design
from seasoned.experiment.run.run_store import analyses, broken_off, load_design, load_material, load_records
from seasoned.experiment.run.runner import make_runs
from seasoned.experiment.run.train import train_name, train_units, witnesses
from seasoned.experiment.task.task_file import TaskSet, load_tasks
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import Store, open_store

ROOT = Path(__file__).parent.parent
SETS = {
    "conventions": (
        *("cold", "warm", "placebo", "rule", "failed", "one-failed", "stale", "retries", "one-per-tool", "text"),
        *("guidance", "irrelevant", "warm-1", "rules"),
    ),
    "plain": ("cold", "warm", "placebo", "stale", "failed"),
    "multi-step": ("cold", "warm", "placebo", "rule", "one-per-tool"),
}
"""Arms of each set, those that matter most first: what the budget does not cover is left out from the end."""
CONTRASTS = (("warm", "placebo"), ("warm", "cold"), ("rule", "cold"), ("failed", "cold"), ("stale", "cold"))
FEWEST_ARMS = {"conventions": 7, "plain": 4, "multi-step": 3}
"""So many are run whatever the budget: what is not finished then goes on with the next `make evidence`."""
WARM_FACTOR = 1.6
"""How much longer a run takes that begins with examples: they are read once for each beginning."""
STEP_FACTOR = {"conventions": 1.0, "plain": 1.0, "multi-step": 3.0}
PROBES = 6


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What is planned for one set."""

    tasks: TaskSet
    design: Design
    train_runs: int
    runs: int
    calls: int
    seconds: float
    left_out: tuple[str, ...] = ()


def main() -> None:
    """Plan, run, write."""
    asked = _arguments()
    try:
        _make(asked)
    except SeasonedError as error:
        sys.exit(f"make_evidence: {error}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="budget for everything (default 60)")
    parser.add_argument(
        "--model", default="local", help="as in `seasoned chat` (default local); local:/path/model.gguf"
    )
    parser.add_argument("--base-url", help="an OpenAI-compatible server")
    parser.add_argument("--sets", default=",".join(SETS), help="which sets (default all)")
    parser.add_argument("--part", default="confirmation", choices=["development", "confirmation"])
    parser.add_argument("--samples", type=int, default=3, help="tries of each train task until it is done (default 3)")
    parser.add_argument("--banks", type=int, default=2, help="fixed orders of the examples (default 2)")
    parser.add_argument("--parallel", type=int, default=1, help="runs at once, where the model allows")
    parser.add_argument("--home", type=Path, default=ROOT / "build/evidence", help="where the runs are kept")
    parser.add_argument("--plan-only", action="store_true", help="say what it would take, and stop")
    parser.add_argument("--page-only", action="store_true", help="write the page from the runs that are there")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/evidence.md")
    return parser.parse_args()


def _make(asked: argparse.Namespace) -> None:
    begun = time.time()
    user = load()
    choice = choose_model(user, asked.model, asked.base_url)
    # The user's own store stays as it is: runs that are shown failed calls on purpose do not belong there.
    config = msgspec.structs.replace(user, home=asked.home, local_model=local_file(user))
    config.home.mkdir(parents=True, exist_ok=True)
    secrecy = Secrecy(load_key(config.home), config.redact)
    if not asked.page_only:
        with Player(config, secrecy, choice) as player:
            shares = _plan(config, asked, player, choice, secrecy)
            if asked.plan_only:
                return
            for at, share in enumerate(shares):
                left = asked.minutes - (time.time() - begun) / 60
                if left <= 0:
                    _say(f"{share.tasks.name}: not begun, the budget of {asked.minutes:g} minutes is spent.")
                    continue
                # Each set has its part of what is left: where it is too little, all of them are run in part.
                minutes = left * share.seconds / sum(one.seconds for one in shares[at:])
                plan = ExperimentPlan(design=share.design, parallel=asked.parallel, minutes=minutes)
                try:
                    run_all(config, secrecy, plan, share.tasks, player, model=choice.name)
                except CannotDo as error:
                    _say(f"{share.tasks.name}: {error}")
    names = [name for name in asked.sets.split(",") if name]
    with open_store(config.store_path) as store:
        page = evidence_page(store, names, asked.part, choice)
    asked.output.write_text(page, "utf-8")
    _say(f"{asked.output} is written, after {(time.time() - begun) / 60:.0f} minutes.")


def _plan(
    config: Config, asked: argparse.Namespace, player: Player, choice: ModelChoice, secrecy: Secrecy
) -> list[Share]:
    """What fits into the budget, said before it begins. A few runs of the train part tell how fast the model is."""
    names = [name for name in asked.sets.split(",") if name]
    tasks = {name: load_tasks(name) for name in names}
    probe = _design(names[0], SETS[names[0]], asked)
    units = train_units(
        config.store_path, probe, tasks[names[0]], model=choice.name, sample=0, secrecy=secrecy, parts=("train",)
    )
    make_runs(config.store_path, units[:PROBES], player)
    with open_store(config.store_path) as store:
        records = load_records(store, train_name(tasks[names[0]]))
        known = {name: len(load_records(store, train_name(tasks[name]))) for name in names}
    # The first run reads everything for the first time: the middle one says more than the mean.
    per_run = median([one.latency_seconds or 0.0 for one in records])
    arms = {name: list(SETS[name]) for name in names}
    while True:
        shares = [_share(name, tasks[name], arms[name], asked, per_run, known[name]) for name in names]
        seconds = sum(share.seconds for share in shares) / max(1, asked.parallel)
        spare = {name: len(arms[name]) - FEWEST_ARMS[name] for name in names}
        longest = max(names, key=spare.__getitem__)
        if seconds <= 60 * asked.minutes:
            break
        if asked.banks > 1:
            asked.banks = 1
        elif spare[longest] > 0:
            arms[longest].pop()
        else:
            break
    with open_store(config.store_path) as store:
        shares = [_as_begun(store, share) for share in shares]
    for share in shares:
        cut = f" (left out to keep the budget: {', '.join(share.left_out)})" if share.left_out else ""
        _say(
            f"{share.tasks.name}: {share.train_runs} runs to learn, {share.runs} runs in "
            f"{len(share.design.arms)} arms, about {share.calls} calls, about {share.seconds / 60:.0f} minutes{cut}"
        )
    calls = sum(share.calls for share in shares)
    _say(
        f"In all about {calls} calls of {choice.name}, about {seconds / 60:.0f} minutes at {per_run:.1f} s "
        f"a run; the budget is {asked.minutes:g} minutes."
    )
    return shares


def _share(
    name: str, tasks: TaskSet, arms: Sequence[str], asked: argparse.Namespace, per_run: float, trained: int
) -> Share:
    design = _design(name, arms, asked)
    train = len(tasks.of("train")) + (len(tasks.of("former")) if "stale" in arms else 0)
    # About half of what is left is done with each try; what was tried before is there already.
    train_runs = max(0, round(sum(train / 2**sample for sample in range(design.samples))) - trained)
    number = len(tasks.of(design.part))
    by_arm = {arm: number * (design.banks if BUILT_IN[arm].has_order else 1) for arm in arms}
    seconds = STEP_FACTOR[name] * per_run * train_runs
    calls = 2.5 * STEP_FACTOR[name] * train_runs
    for arm, runs in by_arm.items():
        factor = WARM_FACTOR if BUILT_IN[arm].shows_examples else 1.0
        seconds += STEP_FACTOR[name] * per_run * factor * runs
        calls += 2.3 * STEP_FACTOR[name] * runs
    left_out = tuple(arm for arm in SETS[name] if arm not in arms)
    return Share(
        tasks=tasks,
        design=design,
        train_runs=train_runs,
        runs=sum(by_arm.values()),
        calls=round(calls),
        seconds=seconds,
        left_out=left_out,
    )


def _as_begun(store: Store, share: Share) -> Share:
    """An experiment that was begun goes on as it was begun, whatever the budget would allow now."""
    try:
        return msgspec.structs.replace(share, design=load_design(store, share.design.name), left_out=())
    except SeasonedError:
        return share


def _design(name: str, arms: Sequence[str], asked: argparse.Namespace) -> Design:
    contrasts = tuple(Contrast(arm, against) for arm, against in CONTRASTS if arm in arms and against in arms)
    return Design(
        name=f"{name}-{asked.part}",
        tasks=name,
        # Not the share of all calls: a run that makes no call at all would drop out of it.
        plan=AnalysisPlan(contrasts=contrasts, primary="first_call"),
        part=asked.part,
        arms=tuple(arms),
        banks=asked.banks,
        samples=asked.samples,
    )


def evidence_page(store: Store, names: Sequence[str], part: str, choice: ModelChoice) -> str:
    """The page, from the runs that are recorded."""
    lines = [
        "# Evidence: does a warm start help?",
        "",
        "Written by `make evidence` from recorded runs; not by hand. What it says holds for the model and the tasks",
        "that are named here. How it is measured: [statistics](design/stats.md).",
        "",
        f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {_versions()}, {os.cpu_count()} cores, {platform.machine()}",
        f"- model: {_model(choice)}, temperature 0, answers forced to fit the schemas of the tools where it is local",
        f"- part: {part}; examples are mined from runs of the same model on the train part, none is written by hand;",
        "  the prompts of the train part name tool and form, those of this part do not",
        "- a first call that executes need not be the one that was asked for: a model that is shown an example of each",
        "  tool also calls the wrong tool in the right form; *tasks done* counts only what was asked for",
        "",
    ]
    for name in names:
        lines += _section(store, name, part, choice)
    lines += [
        "## Again, or with another model",
        "",
        "```text",
        "make evidence                                                  # the local model, 60 minutes at most",
        "python tools/make_evidence.py --model local:/path/model.gguf   # a larger one",
        "python tools/make_evidence.py --base-url URL --model NAME      # any OpenAI-compatible server",
        "seasoned experiment run my-tasks.yaml --arms cold,warm,placebo # your own tasks",
        "```",
        "",
    ]
    return "\n".join(lines)


def _section(store: Store, name: str, part: str, choice: ModelChoice) -> list[str]:
    experiment = f"{name}-{part}"
    try:
        (found,) = analyses(store, experiment, model=choice.name)
        design = load_design(store, experiment)
    except SeasonedError as error:
        return [f"## {name}", "", f"Not run: {error}", ""]
    tasks = load_tasks(name)
    said = sentences(found)
    material = load_material(store, task_set=name, tasks_digest=tasks.digest, model=choice.name)
    learned = ", ".join(f"{len(one.examples)} {role}" for role, one in material.items())
    train = [one for one in load_records(store, train_name(tasks)) if one.model == choice.name]
    done = len(witnesses(train, tasks))
    left_out = [arm for arm in SETS.get(name, ()) if arm not in design.arms]
    missing = sum(len(tasks.of(part)) for _ in design.arms) - sum(arm.tasks for arm in found.arms)
    named = ", ".join(f"{one.arm} against {one.against}" for one in design.plan.contrasts)
    again = broken_off(store, experiment)
    about = [
        (
            f"{found.runs} runs of {found.tasks} tasks (digest {tasks.digest}), seed {design.seed}, k = {design.k}, "
            f"orders of examples: {design.banks}. Learned from {len(train)} runs, which did {done} of "
            f"{len({one.task for one in train})} train tasks: {learned or 'nothing'}."
        ),
        f"Named beforehand: {KINDS[found.plan.primary].label}; {named}.",
    ]
    about += [f"Left out to keep the budget: {', '.join(left_out)}."] if left_out else []
    about += [f"Not run, or nothing to show: {missing} pairs of task and arm."] if missing else []
    about += [f"Broken off and run again: {again} sessions."] if again else []
    return [
        f"## {name}",
        "",
        *about,
        "",
        "What the data supports:",
        "",
        *[f"- {sentence}" for sentence in said.may],
        "",
        "What it does not support:",
        "",
        *[f"- {sentence}" for sentence in said.may_not],
        "",
        *_arms_table(found),
        *_effects_table(found),
    ]


def _arms_table(found: Analysis) -> list[str]:
    names = [name for name in MEASURES if any(arm.measures[name].value is not None for arm in found.arms)]
    lines = [
        "| arm | tasks | runs | " + " | ".join(KINDS[name].label for name in names) + " |",
        "|---|--:|--:|" + "--:|" * len(names),
    ]
    for arm in found.arms:
        cells = []
        for name in names:
            one = arm.measures[name]
            shown = amount(one.value, name)
            if name == found.plan.primary and one.interval is not None:
                shown += f" ({amount(one.interval.low, name)} to {amount(one.interval.high, name)})"
            cells.append(shown)
        lines.append(f"| {arm.arm} | {arm.tasks} | {arm.runs} | " + " | ".join(cells) + " |")
    for arm in found.arms:
        if arm.banks:
            by_bank = ", ".join(f"{bank}: {amount(one.value, found.plan.primary)}" for bank, one in arm.banks.items())
            lines += ["", f"Orders of examples in {arm.arm}: {by_bank}."]
    return [*lines, ""]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _effects_table(found: Analysis) -> list[str]:
    lines = ["| contrast | measure | difference | p | tasks |", "|---|---|---|--:|--:|"]
    for one in found.effects:
        p = "–" if one.adjusted_p is None else f"{_p(one.adjusted_p)} (Holm)"
        lines.append(
            f"| {one.arm} − {one.against} | **{KINDS[one.measure].label}** | {change(one.estimate, one.measure)} | {p} "
            f"| {one.estimate.clusters} |"
        )
    for one in found.secondary:
        if one.measure in ("executed", "success", "calls_to_success"):
            p = "–" if one.estimate.p_value is None else _p(one.estimate.p_value)
            lines.append(
                f"| {one.arm} − {one.against} | {KINDS[one.measure].label} | {change(one.estimate, one.measure)} | {p} "
                f"| {one.estimate.clusters} |"
            )
    return [*lines, "", "The measure in bold was named beforehand; the others only describe.", ""]


def _versions() -> str:
    parts = [f"seasoned {seasoned.__version__}", f"Python {platform.python_version()}"]
    for package in ("pydantic-ai-slim", "xllamacpp"):
        try:
            parts.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(parts)


def _model(choice: ModelChoice) -> str:
    if choice.path is None:
        return choice.name
    whole = sha256()
    with choice.path.open("rb") as file:
        while block := file.read(1 << 20):
            whole.update(block)
    return f"{choice.path.name} (SHA-256 {whole.hexdigest()[:16]}…)"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
