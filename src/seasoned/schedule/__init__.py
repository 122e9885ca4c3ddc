"""Agents that run by themselves: jobs, a clock that several schedulers share, runs with a history."""

from seasoned.schedule.board import (
    Posted,
    add,
    ask_for_run,
    change,
    find,
    history,
    jobs,
    pause,
    remove,
    resume,
)
from seasoned.schedule.clock import Scheduler
from seasoned.schedule.delivery import Courier
from seasoned.schedule.desk import StoredJobs
from seasoned.schedule.heartbeat import Health, SchedulerState, health, schedulers
from seasoned.schedule.hermes_jobs import import_jobs
from seasoned.schedule.job import At, Cron, Every, Job, RunRecord, Slot
from seasoned.schedule.run import AgentAnswer, AgentTask, Parts, Runner
from seasoned.schedule.when import next_times, parse_schedule

__all__ = [
    "AgentAnswer",
    "AgentTask",
    "At",
    "Courier",
    "Cron",
    "Every",
    "Health",
    "Job",
    "Parts",
    "Posted",
    "RunRecord",
    "Runner",
    "Scheduler",
    "SchedulerState",
    "Slot",
    "StoredJobs",
    "add",
    "ask_for_run",
    "change",
    "find",
    "health",
    "history",
    "import_jobs",
    "jobs",
    "next_times",
    "parse_schedule",
    "pause",
    "remove",
    "resume",
    "schedulers",
]
