"""Imports jobs from Hermes' `cron/jobs.json`; what does not fit is reported, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from seasoned.errors import SeasonedError, SourceError, UsageError
from seasoned.schedule.job import At, Cron, Every, Job, Schedule
from seasoned.schedule.job_table import add, jobs
from seasoned.schedule.times import find_zone
from seasoned.store import Database

_PLATFORMS = ("telegram", "discord", "email")


class HermesJobs(msgspec.Struct, frozen=True):
    """The jobs that were added, and the entries that were left out: where they are, and why."""

    jobs: tuple[Job, ...]
    left_out: tuple[tuple[str, str], ...]


def import_jobs(database: Database, path: Path, *, zone: str, now: float) -> HermesJobs:
    """Add the jobs of a file, or of the folder above it; those that were imported before stay unchanged."""
    file = next((one for one in (path, path / "jobs.json", path / "cron" / "jobs.json") if one.is_file()), path)
    try:
        data = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{str(file)!r} cannot be read ({error}). Give the jobs.json of Hermes.") from error
    entries = data.get("jobs") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise SourceError(f"{str(file)!r} has no list of jobs. Give the jobs.json of Hermes.")
    find_zone(zone)
    here = {one.job.id for one in jobs(database)}
    added: list[Job] = []
    left_out: list[tuple[str, str]] = []
    for number, entry in enumerate(entries, start=1):
        try:
            job = _job(entry, zone, now)
            if job.id in here:
                raise UsageError("it was imported before")
            added.append(add(database, job, now=now).job)
        except (SeasonedError, LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
            name = entry.get("name") if isinstance(entry, dict) else None
            left_out.append((f"job {number}{f' ({name!r})' if name else ''}", str(error)))
    return HermesJobs(tuple(added), tuple(left_out))


def _job(entry: Mapping[str, Any], zone: str, now: float) -> Job:
    # The list, or the single skill of older versions.
    skills = entry.get("skills") or ([entry["skill"]] if entry.get("skill") else [])
    prompt = entry.get("prompt") or (f"Do what the skill {skills[0]!r} says." if skills else "")
    wanted = [part.strip() for part in (entry.get("deliver") or "local").split(",")]
    repeat = entry.get("repeat") or {}
    times = repeat.get("times") if isinstance(repeat, dict) else repeat
    if entry.get("state") == "completed":
        raise UsageError("it is completed")
    if times and (left := times - (repeat.get("completed") or 0 if isinstance(repeat, dict) else 0)) <= 0:
        raise UsageError(f"it has already run {times} times, as often as it should")
    return Job(
        id=entry["id"],
        name=entry.get("name") or entry["id"],
        schedule=_schedule(entry["schedule"], zone),
        zone=zone,
        created_at=now,
        prompt="" if entry.get("no_agent") is True else prompt,
        skills=tuple(skills),
        script=entry.get("script") or None,
        model=entry.get("model") or None,
        provider=entry.get("provider") or None,
        folder=entry.get("workdir") or None,
        # Other places of Hermes are not known here: answers stay in the history.
        delivery=tuple(one for one in wanted if one.partition(":")[0] in _PLATFORMS) or ("none",),
        repeat=left if times else None,
        is_paused=entry.get("enabled") is False or entry.get("state") == "paused",
    )


def _schedule(given: Mapping[str, Any], zone: str) -> Schedule:
    if given["kind"] == "interval":
        return Every(round(given["minutes"] * 60))
    if given["kind"] == "cron":
        return Cron(" ".join(given["expr"].split()))
    moment = datetime.fromisoformat(given["run_at"])
    return At(moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=find_zone(zone)).timestamp())
