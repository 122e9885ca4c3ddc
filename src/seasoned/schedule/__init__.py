"""Agents that run by themselves: jobs, a clock that several schedulers share, runs with a history."""

from seasoned.schedule.agent_jobs import AgentJobs
from seasoned.schedule.delivery import AnswerSender
from seasoned.schedule.health import ScheduleHealth, SchedulerState, health, schedulers
from seasoned.schedule.hermes_jobs import import_jobs
from seasoned.schedule.job import At, Cron, Every, Job, JobRun, Slot
from seasoned.schedule.job_table import (
    StoredJob,
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
from seasoned.schedule.run import AgentAnswer, AgentTask, JobRunner, RunParts
from seasoned.schedule.scheduler import Scheduler
from seasoned.schedule.times import next_times, parse_schedule

__all__ = [
    "AgentAnswer",
    "AgentJobs",
    "AgentTask",
    "AnswerSender",
    "At",
    "Cron",
    "Every",
    "Job",
    "JobRun",
    "JobRunner",
    "RunParts",
    "ScheduleHealth",
    "Scheduler",
    "SchedulerState",
    "Slot",
    "StoredJob",
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
