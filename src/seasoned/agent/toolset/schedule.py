"""The tool by which an agent schedules work. A person allows each change; scheduled runs do not have the tool."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from pydantic_ai import RunContext

from seasoned.agent.loop.context import Context, JobScheduler
from seasoned.command.risk import Danger
from seasoned.errors import SeasonedError, UsageError

Answer = dict[str, Any]
Action = Literal["list", "add", "pause", "resume", "remove", "history"]
# These start nothing and lose nothing.
_HARMLESS = ("list", "history", "pause")


def danger_in_schedule(action: str) -> Danger | None:
    """Whether a person must allow it: actions that make an agent run by itself, or remove a job."""
    if action in _HARMLESS:
        return None
    return Danger("changes what agents do by themselves later, with no one watching", "schedule: change")


async def schedule(
    ctx: RunContext[Context],
    action: Action,
    name: str | None = None,
    when: str | None = None,
    prompt: str | None = None,
    zone: str = "UTC",
    delivery: Literal["none", "telegram", "discord", "webhook"] | None = None,
    skills: list[str] | None = None,
) -> Answer:
    """Have an agent do something later or repeatedly, and manage such jobs.

    The run begins without this conversation: the prompt must say everything that is needed. Its answer is delivered.

    Args:
        action: "list" all jobs, "add" one, "pause", "resume" or "remove" one, or show its "history" of runs.
        name: What the job is called; needed for everything but "list".
        when: For "add": "30 8 * * 1-5" (cron), "every 2h", "in 20m" or "2030-12-24 18:00".
        prompt: For "add": what is to be done, complete in itself.
        zone: The time zone of the times, for example "Europe/Berlin".
        delivery: Where answers go; "none", or left out, keeps them in the history.
        skills: Names of skills that the run should load.
    """
    scheduler = ctx.deps.jobs
    if scheduler is None:
        return {"success": False, "error": "This session cannot schedule jobs. Ask the user to do it."}

    def do() -> Answer:
        if action == "list":
            return {"jobs": scheduler.jobs()}
        if not name:
            raise UsageError(f"the action {action!r} needs the name of the job.")
        if action == "add":
            return _add(scheduler, name, when, prompt, zone, delivery, skills)
        if action == "history":
            return {"runs": scheduler.history(name)}
        if action == "remove":
            return {"job": scheduler.remove(name)}
        return {"job": scheduler.set_paused(name, is_paused=action == "pause")}

    try:
        # In a thread: the jobs are in a database, and the conversation must not wait for it.
        return {"success": True, **await asyncio.to_thread(do)}
    except SeasonedError as error:
        return {"success": False, "error": str(error)}


def _add(
    scheduler: JobScheduler,
    name: str,
    when: str | None,
    prompt: str | None,
    zone: str,
    delivery: str | None,
    skills: list[str] | None,
) -> Answer:
    if not when or not prompt:
        raise UsageError("a new job needs `when` and `prompt`.")
    return {
        "job": scheduler.add(name=name, schedule=when, prompt=prompt, zone=zone, delivery=delivery, skills=skills or ())
    }


SCHEDULE = (schedule,)
