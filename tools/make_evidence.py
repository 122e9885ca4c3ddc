"""Tests on a model whether experience helps, and writes docs/evidence.md from the recorded runs: `make evidence`.

Says first what is run and what could be found, keeps to its budget, and goes on where it ended when it is run again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec
from tools.evidence.page import ABOUT, ModelRuns, evidence_page
from tools.evidence.study import STUDIES, Learned, Study, StudyArm, design_of, planned_runs, task_set

import seasoned
from seasoned.app.conversation import Player
from seasoned.config import Config, load
from seasoned.errors import NotFound, SeasonedError
from seasoned.experiment.analysis.contrast import POWER
from seasoned.experiment.run.design import Design
from seasoned.experiment.run.run_store import keep_design, load_design, load_records
from seasoned.experiment.run.runner import RoundBudget, make_runs
from seasoned.experiment.task.task_file import TaskSet
from seasoned.redact.key import Secrecy, load_key
from seasoned.runner.model import ModelChoice, choose_model, local_file
from seasoned.store import open_store

ROOT = Path(__file__).parent.parent
# How many requests of every tool, purpose in a project and place, and whether there is a placebo, the best first.
PLANS = tuple(
    ({"tools": tools, "projects": projects, "answers-teach": places, "answers-repeat": places}, has_placebo)
    for tools, projects, places, has_placebo in (
        (3, 2, 5, True),
        (3, 1, 4, True),
        (2, 1, 4, True),
        (2, 1, 3, False),
        (1, 1, 2, False),
    )
)

# Much longer than any run takes alone: on a busy machine a run must not be cut off, which would count against its arm.
RUN_SECONDS = 1800.0


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One study as it is run: its design, fixed before the first run, and what it is estimated to take."""

    study: Study
    tasks: TaskSet
    design: Design
    seconds: float


def main() -> None:
    """Plan, run, write."""
    asked = _arguments()
    try:
        _make(asked)
    except SeasonedError as error:
        sys.exit(f"make_evidence: {error}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0, help="budget for this model (default 30)")
    parser.add_argument("--model", default="local", help="as in `seasoned chat` (default local)")
    parser.add_argument("--base-url", help="an OpenAI-compatible server")
    parser.add_argument(
        "--plan",
        type=int,
        choices=range(1, len(PLANS) + 1),
        help="how much is run, from 1 (most) to 5 (default: the most that fits, by a few runs that are not counted)",
    )
    parser.add_argument("--studies", default=",".join(STUDIES), help="which studies (default all)")
    parser.add_argument("--home", type=Path, default=ROOT / "build/evidence", help="where the runs are kept")
    parser.add_argument("--plan-only", action="store_true", help="say what it would take, and stop")
    parser.add_argument("--page-only", action="store_true", help="write the page from the runs that are there")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/evidence.md")
    return parser.parse_args()


def _make(asked: argparse.Namespace) -> None:
    if not asked.page_only:
        _run(asked)
        if asked.plan_only:
            return
    homes = sorted((path.parent for path in asked.home.glob(f"*/{ABOUT}")), key=_size)
    if not homes:
        raise NotFound(f"There are no runs in {str(asked.home)!r}. Run it without --page-only first.")
    former = asked.output.read_text("utf-8") if asked.output.exists() else ""
    asked.output.write_text(evidence_page(homes, former), "utf-8")
    _say(f"{asked.output} is written.")


def _run(asked: argparse.Namespace) -> None:
    begun = time.time()
    user = load()
    choice = choose_model(user, asked.model, asked.base_url)
    home = asked.home / _slug(choice)
    # The user's own store stays as it is: invented histories do not belong there.
    config = msgspec.structs.replace(user, home=home / "runs", local_model=local_file(user))
    config.home.mkdir(parents=True, exist_ok=True)
    secrecy = Secrecy(load_key(config.home), config.redact)
    _keep_about(home, choice, asked.minutes)
    learned = Learned(config, home, is_small=choice.is_small)
    with Player(config, secrecy, choice) as player:
        studies = [STUDIES[name] for name in asked.studies.split(",") if name]
        shares = _plan(config, studies, learned, player, choice, asked)
        if asked.plan_only:
            return
        for at, share in enumerate(shares):
            left = 60 * asked.minutes - (time.time() - begun)
            # Each study has its part of what is left: where it is too little, all of them are run in part.
            seconds = left * share.seconds / sum(one.seconds for one in shares[at:])
            runs = list(planned_runs(share.study, share.tasks, share.design, learned, model=_slug(choice)))
            budget = RoundBudget(max(0.0, seconds))
            done = make_runs(config.store_path, runs, player, budget=budget, run_seconds=RUN_SECONDS)
            reason = f", {done.left} left: {done.reason}" if done.left else ""
            _say(f"{share.study.name}: {done.made} runs made, {done.kept} kept from before{reason}")


def _plan(
    config: Config,
    studies: Sequence[Study],
    learned: Learned,
    player: Player,
    choice: ModelChoice,
    asked: argparse.Namespace,
) -> list[Share]:
    """What fits into the budget, fixed and stored before the first run. A study that was begun goes on as it began."""
    speeds = {
        study.name: _guess(study) if asked.plan else _speed(config, study, learned, player, choice) for study in studies
    }
    for each, has_placebo in PLANS[asked.plan - 1 : asked.plan] if asked.plan else PLANS:
        arms = {study.name: [arm for arm in study.arms if has_placebo or not arm.is_placebo] for study in studies}
        seconds = [_seconds(study, each[study.name], arms[study.name], speeds[study.name]) for study in studies]
        # The last one is run whatever the budget: what is not finished then goes on with the next start.
        if sum(seconds) <= 60 * asked.minutes:
            break
    shares = []
    for study in studies:
        name = study.name
        shares.append(_share(config, study, each[name], arms[name], speeds[name], asked.minutes))
        _announce(shares[-1])
    return shares


def _share(
    config: Config, study: Study, each: int, arms: Sequence[StudyArm], speed: Mapping[str, float], minutes: float
) -> Share:
    with open_store(config.store_path) as store:
        try:
            design = load_design(store, study.name)
            registered = design.registration
            assert registered is not None
            each = registered.tasks // len(study.tasks(1))
            arms = [arm for arm in study.arms if arm.name in design.arms]
            tasks = task_set(study, each)
        except NotFound:
            tasks = task_set(study, each)
            design = design_of(study, tasks, arms, minutes=minutes, now=time.time())
        # Refuses a design or tasks that changed since the experiment began.
        keep_design(store, design, tasks.digest, now=time.time())
    return Share(study=study, tasks=tasks, design=design, seconds=_seconds(study, each, arms, speed))


def _speed(config: Config, study: Study, learned: Learned, player: Player, choice: ModelChoice) -> dict[str, float]:
    """How many seconds a run of each arm takes, by a few runs that are not part of the experiment."""
    name = f"probe-{study.name}"
    tasks = task_set(study, 1)
    design = msgspec.structs.replace(design_of(study, tasks, study.arms, minutes=0, now=0.0), name=name)
    runs = {one.arm: one for one in planned_runs(study, tasks, design, learned, model=_slug(choice))}
    make_runs(config.store_path, list(runs.values()), player)
    with open_store(config.store_path) as store:
        records = load_records(store, name)
    return {one.arm: one.latency_seconds or 0.0 for one in records}


def _guess(study: Study) -> dict[str, float]:
    """What only divides the budget between the studies, where the plan is given: a block takes long to read."""
    return {arm.name: 8.0 if arm.history is None or study.is_in_project else 30.0 for arm in study.arms}


def _seconds(study: Study, each: int, arms: Sequence[StudyArm], speed: Mapping[str, float]) -> float:
    return len(study.tasks(each)) * sum(speed[arm.name] for arm in arms)


def _announce(share: Share) -> None:
    registered = share.design.registration
    assert registered is not None
    found = "no effect" if registered.detectable is None else f"{100 * registered.detectable:.0f} points"
    _say(
        f"{share.study.name}: {registered.runs} runs of {registered.tasks} tasks in {len(share.design.arms)} arms, "
        f"about {share.seconds / 60:.0f} minutes; {found} would be found in {100 * POWER:g} of 100 experiments"
    )


def _keep_about(home: Path, choice: ModelChoice, minutes: float) -> None:
    """What the page says about the model and the program; of every start only the commit is added."""
    path = home / ABOUT
    commit = _commit()
    if path.exists():
        about = msgspec.json.decode(path.read_bytes(), type=ModelRuns)
    else:
        about = ModelRuns(
            name=_slug(choice),
            model=_model(choice),
            size=0 if choice.path is None else choice.path.stat().st_size,
            versions=_versions(),
            machine=f"{os.cpu_count()} cores, {platform.machine()}",
            minutes=minutes,
            begun_at=time.time(),
        )
    if commit is not None and commit not in about.commits:
        about = msgspec.structs.replace(about, commits=(*about.commits, commit))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(about), indent=2))


def _size(home: Path) -> int:
    return int(json.loads((home / ABOUT).read_text("utf-8"))["size"])


def _slug(choice: ModelChoice) -> str:
    return re.sub(r"[^\w.-]+", "-", choice.path.stem if choice.path is not None else choice.name)


def _commit() -> str | None:
    """The commit of this checkout, marked if files differ from it; None outside of one."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or None


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
