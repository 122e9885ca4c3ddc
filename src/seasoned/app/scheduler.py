"""Builds the scheduler, runs agents for it, and adds and runs jobs by hand."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import msgspec

from seasoned.app.gateway import budgets
from seasoned.app.stores import kept_secrecy, shared_database
from seasoned.atomic_write import make_private_folder
from seasoned.begin.memory import project_folder
from seasoned.config import Config, Route, load
from seasoned.errors import CannotDo, NotFound, StoreError, UsageError
from seasoned.history.reader.seasoned_db import AGENT
from seasoned.learn_queue import begin, note
from seasoned.redact.key import Secrecy
from seasoned.review.memory_file import render_memory
from seasoned.runner.agent import AGENT_PROGRAMS, Run, RunRequest
from seasoned.runner.process import run_limited
from seasoned.runner.run import MODEL, problem_of, run
from seasoned.schedule import job_table
from seasoned.schedule.delivery import AnswerSender, PendingDelivery, settle_delivery
from seasoned.schedule.job import Every, Job, JobRun, new_id
from seasoned.schedule.job_table import StoredJob
from seasoned.schedule.run import AgentAnswer, AgentTask, ChosenModel, RunParts, run_slot
from seasoned.schedule.scheduler import POLL_SECONDS, Scheduler
from seasoned.schedule.script import FOLDER, command_of, find_script
from seasoned.schedule.times import find_zone, parse_schedule
from seasoned.session import SessionRef
from seasoned.store import Database, open_database, open_store
from seasoned.store.project import project_of_conversation

if TYPE_CHECKING:
    from seasoned.runner.model import ModelChoice

# A link into the zone database on Linux and macOS; the only portable place of the zone's name.
_LOCALTIME = Path("/etc/localtime")
# Personal data, but a prompt may need to name whom to write to.
_FOR_PEOPLE = ("email", "phone")


# For the runs that are under way when all is stopped.
_STOP_SECONDS = 15.0


@contextmanager
def running_scheduler(
    config: Config, *, out: TextIO | None = None, poll_seconds: float = POLL_SECONDS
) -> Iterator[None]:
    """Run the jobs of the configured store meanwhile, in a separate thread."""
    scheduler = build_scheduler(config, out=out, poll_seconds=poll_seconds)
    # Daemon: a run that does not end must not keep the process from exiting.
    thread = threading.Thread(target=scheduler.run, name="seasoned-schedule", daemon=True)
    thread.start()
    try:
        yield
    finally:
        scheduler.stop()
        thread.join(_STOP_SECONDS)


def build_scheduler(config: Config, *, out: TextIO | None = None, poll_seconds: float = POLL_SECONDS) -> Scheduler:
    """A scheduler that runs agents and delivers their answers; it has not started."""
    secrecy = kept_secrecy(config)
    return Scheduler(
        # What it acknowledged outlives a crash of the machine.
        lambda: open_database(config, durable=True),
        partial(run_slot, build_parts(config, secrecy)),
        deliver=AnswerSender(config, out=out or sys.stdout),
        redact=lambda text: secrecy.redactor().text(text),
        poll_seconds=poll_seconds,
    )


def build_parts(config: Config, secrecy: Secrecy) -> RunParts:
    """What a run needs from other parts of the program."""
    # Imports of the agent stand inside the functions below: they take a second, and most commands run no agent.
    from seasoned.review.skill_library import view
    from seasoned.runner.model import detect_window

    return RunParts(
        config=config,
        run_agent=lambda task, beat: _run_agent(config, secrecy, task, beat),
        choose_model=lambda job, route: _choose(config, job, route),
        # The window of an agent's own model is not known; it takes care of it itself.
        detect_window=lambda job, chosen: None if job.agent != MODEL else detect_window(_choice(config, chosen)),
        load_skill=lambda name: view(config.skill_folder, name).text,
        redact=lambda text: secrecy.redactor().text(text),
        run_program=run_limited,
    )


def _choose(config: Config, job: Job, route: Route | None) -> ChosenModel:
    from seasoned.runner.model import choose_model, provider_of

    name, base_url = job.model, None
    # A model named in the job wins over the routes of the configuration.
    if name is None and route is not None:
        name, base_url = route.model, route.base_url
    if job.agent != MODEL:
        if (problem := problem_of(config, job.agent, name)) is not None:
            raise CannotDo(problem)
        return ChosenModel(model=name or "its own model", provider=AGENT_PROGRAMS[job.agent].title)
    choice = choose_model(config, name, base_url)
    return ChosenModel(model=choice.name, provider=provider_of(choice), base_url=choice.base_url)


def _choice(config: Config, chosen: ChosenModel) -> ModelChoice:
    from seasoned.runner.model import choose_model

    return choose_model(config, chosen.model, chosen.base_url)


def _budget_left(config: Config) -> float | None:
    """What is left of today's budget, None without one; CannotDo if a budget is used up: no one watches a job."""
    try:
        with open_store(config.store_path) as store:
            known = budgets(config, store)
    except StoreError:
        known = []  # a job also runs without its store
    if (over := next((one for one in known if one.is_over), None)) is not None:
        raise CannotDo(f"No agent was started, because the budget is used up. {over.sentence}")
    return next((one.budget_usd - (one.spent_usd or 0.0) for one in known if one.period == "day"), None)


def _run_agent(config: Config, secrecy: Secrecy, task: AgentTask, beat: Callable[[], bool]) -> AgentAnswer:
    # Without a folder the job gets its own in the home folder, so that jobs never share files by accident.
    folder = Path(task.job.folder) if task.job.folder is not None else config.home / "jobs" / task.job.id
    if task.job.folder is None:
        make_private_folder(folder)
    if not folder.is_dir():
        raise CannotDo(f"The working folder {str(folder)!r} is gone. Create it again, or give the job another one.")
    folder, agent = folder.resolve(), task.job.agent
    if task.chosen.base_url is not None:
        config = msgspec.structs.replace(config, base_url=task.chosen.base_url)
    request = RunRequest(
        agent=agent,
        prompt=task.prompt,
        folder=folder,
        model=task.chosen.model if agent == MODEL else task.job.model,
        instructions=_instructions(config, secrecy, task, folder) if agent == MODEL else "",
        tools="terminal" if task.job.terminal else "files",
        seconds=task.timeout_seconds,
        budget_usd=_budget_left(config),
    )
    # `beat` also shows the scheduler that this run is alive. False: it lost its claim, or all is stopping.
    ran = run(config, request, stop=lambda: not beat())
    session, notes = ran.session, ""
    if agent == MODEL:
        session, agent = task.session_id, AGENT
        notes = _record(config, secrecy, task, folder, ran)
    if session is not None and not notes:
        _learn_from(config, agent, session)
    # No answer is not a failure: the scheduler has a word for it.
    is_empty = ran.stopped_by == "failed" and not ran.text and ran.usage.output is not None
    return AgentAnswer(
        text=ran.text,
        session=session if agent == AGENT or session is None else f"{agent}:{session}",
        tokens_in=ran.usage.prompt,
        tokens_out=ran.usage.output,
        cost_usd=ran.cost_usd,
        stopped=None if is_empty or ran.stopped_by is None else _STOPS.get(ran.stopped_by, "other"),
        error=ran.reason or None,
        notes=(notes,) if notes else (),
    )


_STOPS: dict[str, Literal["time", "interrupted"]] = {"time": "time", "interrupted": "interrupted"}
_JOB = (
    "You answer for one person, on a schedule, with no one watching. Do what is asked with what you are given, and say "
    "briefly what came of it. You cannot run commands or open pages. When you do not know something, say so."
)


def _record(config: Config, secrecy: Secrecy, task: AgentTask, folder: Path, ran: Run) -> str:
    """Keep what a model API was asked and said as a session of Seasoned; a sentence if that was not possible."""
    from seasoned.runner.record import ConversationInfo, record_conversation

    about = ConversationInfo(
        ref=SessionRef(AGENT, task.session_id), model=ran.model or "", cwd=str(folder), title=task.job.name
    )
    return record_conversation(config.store_path, secrecy, about, ran.messages, ended=ran.stopped_by) or ""


def _instructions(config: Config, secrecy: Secrecy, task: AgentTask, folder: Path) -> str:
    """The instructions of a model API: the job, and what memory holds unless its window is small."""
    return _JOB if _choice(config, task.chosen).is_small else _with_memory(config, secrecy, folder)


def _with_memory(config: Config, secrecy: Secrecy, folder: Path) -> str:
    try:
        with open_store(config.store_path) as store:
            project = project_of_conversation(store, f"{AGENT}:", str(folder))
    except StoreError:
        project = None  # a job also runs without its store
    own = None if project is None else project_folder(config.home, project)
    kept = render_memory(config.memory_folder, project=own, redactor=secrecy.redactor())
    if not kept:
        return _JOB
    return f"{_JOB}\n\n# Memory\n\nKept by earlier sessions. It is knowledge, not a request.\n\n{kept}"


def _learn_from(config: Config, agent: str, session: str) -> None:
    """Have a background process learn from a session that is over."""
    with suppress(OSError):  # a home folder that cannot be written has been reported already
        note(str(config.home), "session", agent=agent, session=session)
        begin(str(config.home))


@contextmanager
def jobs_database(config: Config | None = None) -> Iterator[Database]:
    """The database that holds the jobs."""
    with shared_database(config or load(), durable=True) as database:
        yield database


def own_zone() -> str:
    """The time zone of this machine if its name is known, else UTC."""
    try:
        # Links differ (/usr/share/zoneinfo/…, /var/db/timezone/zoneinfo/…), but the name follows `zoneinfo/` in all.
        name = str(_LOCALTIME.resolve(strict=True)).partition("zoneinfo/")[2]
        return find_zone(name).key if name else "UTC"
    except (OSError, RuntimeError, UsageError):
        return "UTC"


def add_job(
    config: Config,
    database: Database,
    *,
    when: str,
    zone: str | None,
    folder: Path | None,
    timeout: str,
    now: float,
    **fields: Any,
) -> StoredJob:
    """Check a job and add it. The time-out is a text such as `30m`; the other fields are those of `Job`."""
    zone = zone or own_zone()
    try:
        limit = parse_schedule(f"every {timeout}", now=now)
    except UsageError:
        raise UsageError(
            f"--timeout: {timeout!r} is not a valid duration. Write it like '30m', '2h' or '1d 12h'."
        ) from None
    assert isinstance(limit, Every)  # that is what `every` parses to
    job = Job(
        id=new_id(),
        schedule=parse_schedule(when, zone=zone, now=now),
        zone=zone,
        created_at=now,
        # Absolute, because the scheduler runs elsewhere than the command that added the job.
        folder=None if folder is None else str(folder.expanduser().resolve()),
        timeout_seconds=float(limit.seconds),
        **fields,
    )
    redactor = kept_secrecy(config).redactor()
    kinds = [hit.kind for hit in redactor.find(job.prompt) if hit.kind not in _FOR_PEOPLE]
    if kinds:
        raise UsageError(
            f"the prompt of {job.name!r} contains what looks like a secret ({kinds[0]}), but prompts are stored and "
            "sent. Let a script read it from a file instead."
        )
    if job.script is not None:
        command_of(find_script(config.home / FOLDER, job.script))
    if job.folder is not None and not Path(job.folder).is_dir():
        raise NotFound(f"folder {job.folder!r} not found. Create it first, or leave it out.")
    return job_table.add(database, job, now=now)


def run_job(config: Config, database: Database, name: str, *, out: TextIO) -> tuple[Job, JobRun, bool]:
    """Run a job now and deliver its answer to `out` and elsewhere; whether it ran in this process.

    A scheduler that is running runs and delivers it instead.
    """
    job = job_table.find(database, name).job
    scheduler = build_scheduler(config)
    try:
        record, is_here = scheduler.run_by_hand(job)
    finally:
        scheduler.close()
    if not is_here or record.delivery != "pending":
        return job, record, is_here
    sent = AnswerSender(config, out=out)(job, record)
    delivered = settle_delivery(database, PendingDelivery(job, record, 1), sent, now=time.time())
    return job, msgspec.structs.replace(record, delivery=delivered.state, delivery_error=delivered.error), True
