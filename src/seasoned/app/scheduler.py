"""Builds the scheduler, runs agents for it, and adds and runs jobs by hand."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from seasoned.app.stores import kept_secrecy, shared_database
from seasoned.config import Config, Route, load
from seasoned.errors import CannotDo, UsageError
from seasoned.learn_queue import begin, note
from seasoned.redact.key import Secrecy
from seasoned.schedule import job_table
from seasoned.schedule.delivery import AnswerSender, PendingDelivery, settle_delivery
from seasoned.schedule.job import Every, Job, JobRun, new_id
from seasoned.schedule.job_table import StoredJob, add_checked, check_folder
from seasoned.schedule.run import AgentAnswer, AgentTask, ChosenModel, RunParts, run_slot
from seasoned.schedule.scheduler import POLL_SECONDS, Scheduler
from seasoned.schedule.script import FOLDER
from seasoned.schedule.times import find_zone, parse_schedule
from seasoned.store import Database, open_database

if TYPE_CHECKING:
    from seasoned.runner.conversation import Conversation
    from seasoned.runner.model import ModelChoice

# Sessions of jobs are recorded under this name, so that they can be told from others.
PLATFORM = "cron"
# How often a run checks whether it should stop; a stopped run ends within about this time.
_LOOK_SECONDS = 1.0
# How pydantic-ai begins its error when a model keeps answering with nothing.
_EMPTY = "Exceeded maximum output retries"
# A link into the zone database on Linux and macOS; the only portable place of the zone's name.
_LOCALTIME = Path("/etc/localtime")
_PROVIDERS = ("openai", "anthropic", "local")


class RunningScheduler:
    """A scheduler in a separate thread."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        # Daemon: a run that does not end must not keep the process from exiting.
        self._thread = threading.Thread(target=scheduler.run, name="seasoned-schedule", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, timeout_seconds: float = 15.0) -> None:
        """Stop it: no new runs, and a short time for those that are running."""
        self.scheduler.stop()
        self._thread.join(timeout_seconds)


def start_scheduler(
    config: Config, *, out: TextIO | None = None, poll_seconds: float = POLL_SECONDS
) -> RunningScheduler:
    """Run the jobs of the configured store until `stop` is called."""
    return RunningScheduler(build_scheduler(config, out=out, poll_seconds=poll_seconds))


def build_scheduler(config: Config, *, out: TextIO | None = None, poll_seconds: float = POLL_SECONDS) -> Scheduler:
    """A scheduler that runs agents and delivers their answers; it has not started."""
    secrecy = kept_secrecy(config)
    return Scheduler(
        lambda: open_jobs(config),
        partial(run_slot, build_parts(config, secrecy)),
        deliver=AnswerSender(config, out=out or sys.stdout),
        redact=lambda text: secrecy.redactor().text(text),
        poll_seconds=poll_seconds,
    )


def open_jobs(config: Config) -> Database:
    """The database of the jobs; what it acknowledged outlives a crash of the machine."""
    return open_database(config, durable=True)


def build_parts(config: Config, secrecy: Secrecy) -> RunParts:
    """What a run needs from other parts of the program."""
    # Imports of the agent stand inside the functions below: they take a second, and most commands run no agent.
    from seasoned.review.skill_library import view
    from seasoned.runner.model import detect_window

    return RunParts(
        config=config,
        run_agent=lambda task, beat: _run_agent(config, secrecy, task, beat),
        choose_model=lambda job, route: _choose(config, job, route),
        detect_window=lambda chosen: detect_window(_choice(config, chosen)),
        load_skill=lambda name: view(config.skill_folder, name).text,
        redact=lambda text: secrecy.redactor().text(text),
    )


def _choose(config: Config, job: Job, route: Route | None) -> ChosenModel:
    from seasoned.runner.model import choose_model, provider_of

    name, base_url = job.model, None
    # A model named in the job wins over the routes of the configuration.
    if name is None and route is not None:
        name, base_url = route.model, route.base_url
    if job.provider is not None:
        name, base_url = _of_provider(job.provider, name, base_url)
    choice = choose_model(config, name, base_url)
    return ChosenModel(model=choice.name, provider=provider_of(choice), base_url=choice.base_url)


def _of_provider(provider: str, name: str | None, base_url: str | None) -> tuple[str | None, str | None]:
    """Model name and address for `choose_model`, which takes a provider as a prefix of the name."""
    if provider.startswith(("http://", "https://")):
        return name, provider
    if provider not in _PROVIDERS:
        raise UsageError(f"The provider {provider!r} is unknown. Use {', '.join(_PROVIDERS)}, or a server's address.")
    if name is None or name == provider or name.startswith(f"{provider}:"):
        return name or (provider if provider == "local" else None), base_url
    return f"{provider}:{name}", base_url


def _choice(config: Config, chosen: ChosenModel) -> ModelChoice:
    from seasoned.runner.model import choose_model

    return choose_model(config, chosen.model, chosen.base_url)


def _run_agent(config: Config, secrecy: Secrecy, task: AgentTask, beat: Callable[[], bool]) -> AgentAnswer:
    from seasoned.app.conversation import JobConversation, start_job
    from seasoned.runner.conversation import TurnLimits

    # Without a folder the job gets its own in the home folder, so that jobs never share files by accident.
    folder = Path(task.job.folder) if task.job.folder is not None else check_folder(config.home / "jobs" / task.job.id)
    if not folder.is_dir():
        raise CannotDo(f"The working folder {str(folder)!r} is gone. Create it again, or give the job another one.")
    conversation = start_job(
        config,
        secrecy,
        JobConversation(
            choice=_choice(config, task.chosen),
            folder=folder.resolve(),
            session_id=task.session_id,
            title=task.job.name,
            platform=PLATFORM,
            limits=TurnLimits(steps=config.turn_steps, turn_seconds=task.timeout_seconds),
            context_length=task.job.context_length,
        ),
    )
    try:
        with asyncio.Runner() as runner:
            return runner.run(_turn(conversation, task.prompt, beat))
    finally:
        close_and_learn(config, conversation)


def close_and_learn(config: Config, conversation: Conversation) -> str | None:
    """End a conversation, and have a background process learn from it; a sentence if it could not be recorded."""
    problem = conversation.close()
    if conversation.recorder is not None:
        # A home folder that cannot be written has been reported by the recorder.
        with suppress(OSError):
            ref = conversation.ref
            note(str(config.home), "session", agent=ref.agent, session=ref.native_id)
            begin(str(config.home))
    return problem


async def _turn(conversation: Conversation, prompt: str, beat: Callable[[], bool]) -> AgentAnswer:
    async def watch() -> None:
        # `beat` also shows the scheduler that this run is alive. False: it lost its claim, or all is stopping.
        while beat():
            await asyncio.sleep(_LOOK_SECONDS)
        conversation.stop()

    # `stop` ends the turn with what it has so far; a cancelled task would lose the answer.
    async with conversation:
        watching = asyncio.create_task(watch())
        try:
            turn = await conversation.turn(prompt)
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                # Awaited, or the loop would complain about a task that was never finished.
                await watching
    if turn.stopped == "error" and not turn.text.strip() and _EMPTY in (turn.reason or ""):
        # The model did answer, but with nothing, however often the library asked again. That is not a failed run.
        turn = msgspec.structs.replace(turn, stopped=None, reason=None)
    return AgentAnswer(
        text=turn.text,
        session=conversation.ref.native_id,
        tokens_in=turn.usage.prompt,
        tokens_out=turn.usage.output,
        cost_usd=turn.cost_usd,
        stopped=None if turn.stopped is None else turn.stopped if turn.stopped in ("time", "interrupted") else "other",
        error=turn.reason,
        notes=turn.notes,
    )


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
    limit = parse_schedule(f"every {timeout}", now=now)
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
    # A prompt that holds a secret is refused: jobs are stored as they are and shown in lists.
    kinds = [hit.kind for hit in redactor.find(job.prompt)]
    return add_checked(database, job, now=now, scripts=config.home / FOLDER, kinds=kinds)


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
