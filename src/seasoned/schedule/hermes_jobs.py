"""Imports jobs from Hermes' `cron/jobs.json`; what does not fit is reported, never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from seasoned.errors import SeasonedError, SourceError, UsageError
from seasoned.schedule.job import At, Cron, Every, Job, Schedule, new_id
from seasoned.schedule.job_table import add, jobs
from seasoned.schedule.times import check_times, find_zone
from seasoned.store import Database

_PLATFORMS = ("telegram", "discord", "email")
# What toolsets of Hermes are called here.
_TOOLSETS = {one: one for one in ("terminal", "file", "code", "web", "memory", "skill")}
_TOOLSETS |= {"code_execution": "code", "skills": "skill", "browser": "web", "search": "web"}
# A list of jobs is small; a larger file was named by mistake.
_MAX_BYTES = 50_000_000


class ImportedJob(msgspec.Struct, frozen=True):
    """A job that was understood, with what could not be carried over."""

    job: Job
    notes: tuple[str, ...] = ()


class NotImported(msgspec.Struct, frozen=True):
    """An entry that was not imported, with the reason."""

    place: str
    reason: str


class HermesJobs(msgspec.Struct, frozen=True):
    """The jobs in a file of Hermes, and the entries that were left out."""

    jobs: tuple[ImportedJob, ...]
    left_out: tuple[NotImported, ...]


def read_jobs(path: Path, *, zone: str, now: float) -> HermesJobs:
    """The jobs in `cron/jobs.json`, or in the folder above it; cron expressions are meant in `zone`."""
    file = next((one for one in (path, path / "jobs.json", path / "cron" / "jobs.json") if one.is_file()), path)
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise SourceError(f"{str(file)!r} is too large for a list of jobs. Give the jobs.json of Hermes.")
        data = msgspec.json.decode(file.read_bytes())
    except OSError as error:
        raise SourceError(f"{str(file)!r} cannot be read ({error.strerror}). Give the jobs.json of Hermes.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{str(file)!r} is not valid JSON ({error}). Give the jobs.json of Hermes.") from error
    entries = data.get("jobs") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise SourceError(f"{str(file)!r} has no list of jobs. Give the jobs.json of Hermes.")
    find_zone(zone)
    return _sort(entries, zone, now)


def import_jobs(database: Database, path: Path, *, zone: str, now: float) -> HermesJobs:
    """Add the jobs of a file; those that were imported before stay unchanged."""
    found = read_jobs(path, zone=zone, now=now)
    here = {one.job.id for one in jobs(database)}
    added: list[ImportedJob] = []
    left_out = list(found.left_out)
    for one in found.jobs:
        place = f"job {one.job.name!r}"
        if one.job.id in here:
            left_out.append(NotImported(place, "it was imported before; remove it first to import it again"))
            continue
        try:
            add(database, one.job, now=now)
        except UsageError as error:
            left_out.append(NotImported(place, str(error)))
        else:
            added.append(one)
    return HermesJobs(tuple(added), tuple(left_out))


def _sort(entries: Iterable[object], zone: str, now: float) -> HermesJobs:
    found: list[ImportedJob] = []
    left_out: list[NotImported] = []
    names: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        place = f"job {number}"
        if not isinstance(entry, dict):
            left_out.append(NotImported(place, f"an entry is an object, not {type(entry).__name__}"))
            continue
        place += f" ({entry['name']!r})" if isinstance(entry.get("name"), str) else ""
        # Hermes keeps finished jobs in the same file.
        if (state := _text(entry, "state")) == "completed":
            left_out.append(NotImported(place, f"it is {state}"))
            continue
        try:
            one = _job(entry, zone, now, names)
        except (SeasonedError, ValueError, TypeError, OverflowError) as error:
            left_out.append(NotImported(place, str(error)))
        else:
            names.add(one.job.name)
            found.append(one)
    return HermesJobs(tuple(found), tuple(left_out))


def _job(entry: Mapping[str, Any], zone: str, now: float, names: set[str]) -> ImportedJob:
    notes: list[str] = []
    identity = _text(entry, "id")
    job_id = identity if re.fullmatch(r"[A-Za-z0-9_\-]{1,64}", identity) else new_id()
    skills = _skills(entry)
    script = _text(entry, "script") or None
    prompt = "" if entry.get("no_agent") is True else _text(entry, "prompt")
    if not prompt and skills and entry.get("no_agent") is not True:
        prompt = f"Do what the skill {skills[0]!r} says."
    for field, lost in (("base_url", "its own endpoint"), ("context_from", "the output of other jobs")):
        if entry.get(field):
            notes.append(f"{lost} ({field}) is not carried over")
    job = Job(
        id=job_id,
        name=_name(entry, prompt or script or job_id, job_id, names),
        schedule=_schedule(entry.get("schedule"), zone),
        zone=zone,
        created_at=_time(entry["created_at"], zone) if _text(entry, "created_at") else now,
        prompt=prompt,
        skills=skills,
        script=script,
        model=_text(entry, "model") or None,
        provider=_text(entry, "provider") or None,
        toolsets=_toolsets(entry, notes),
        folder=_text(entry, "workdir") or None,
        delivery=_delivery(entry, notes),
        repeat=_repeat(entry),
        is_paused=entry.get("enabled") is False or _text(entry, "state") == "paused" or bool(entry.get("paused_at")),
    )
    return ImportedJob(check_times(job, now=now), tuple(notes))


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field)
    return value.strip() if isinstance(value, str) else ""


def _name(entry: Mapping[str, Any], fallback: str, job_id: str, names: set[str]) -> str:
    wanted = _text(entry, "name") or fallback
    # What `check_job` does not allow in a name becomes a space.
    name = re.sub(r"[^\w .:@+\-]+|\s+", " ", wanted).strip(" .:@+-")[:60].strip() or job_id
    return f"{name} {job_id}" if name in names else name


def _skills(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The list, or the single skill of older versions."""
    given = entry.get("skills")
    if given is None:
        given = entry.get("skill")
    found = given if isinstance(given, list) else [given]
    return tuple(dict.fromkeys(one.strip() for one in found if isinstance(one, str) and one.strip()))


def _schedule(given: object, zone: str) -> Schedule:
    if not isinstance(given, dict):
        raise UsageError(f"its schedule cannot be read: {given!r}.")
    kind = given.get("kind")
    if kind == "interval" and isinstance(minutes := given.get("minutes"), int | float):
        return Every(round(minutes * 60))
    if kind == "cron" and isinstance(expression := given.get("expr"), str):
        if len(expression.split()) != 5:
            raise UsageError(f"its cron expression {expression!r} does not have five fields.")
        return Cron(" ".join(expression.split()))
    if kind == "once" and isinstance(moment := given.get("run_at"), str):
        return At(_time(moment, zone))
    raise UsageError(f"its kind of schedule is not supported: {given!r}.")


def _time(text: str, zone: str) -> float:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=find_zone(zone))
    return float(int(moment.timestamp()))


def _toolsets(entry: Mapping[str, Any], notes: list[str]) -> tuple[str, ...] | None:
    given = entry.get("enabled_toolsets")
    if not isinstance(given, list):
        return None
    gone = [one for one in given if not isinstance(one, str) or one not in _TOOLSETS]
    if gone:
        notes.append(f"toolsets that do not exist here: {', '.join(map(repr, gone))}")
    return tuple(dict.fromkeys(_TOOLSETS[one] for one in given if one not in gone))


def _delivery(entry: Mapping[str, Any], notes: list[str]) -> tuple[str, ...]:
    found: list[str] = []
    for wanted in (part.strip() for part in (_text(entry, "deliver") or "local").split(",")):
        target = _origin(entry) if wanted == "origin" else wanted
        platform = target.partition(":")[0]
        if platform in _PLATFORMS and (platform != "email" or ":" in target):
            found.append(target)
        elif target != "local":
            notes.append(f"the delivery {wanted!r} is not known here; answers stay in the history")
    return tuple(dict.fromkeys(found)) or ("none",)


def _origin(entry: Mapping[str, Any]) -> str:
    """Where the job was asked for, as an address."""
    origin = entry.get("origin")
    if not isinstance(origin, dict):
        return "origin"
    return f"{origin.get('platform')}:{origin.get('chat_id')}"


def _repeat(entry: Mapping[str, Any]) -> int | None:
    given = entry.get("repeat")
    times = given.get("times") if isinstance(given, dict) else given
    if not isinstance(times, int) or isinstance(times, bool) or times <= 0:
        return None
    completed = given.get("completed") if isinstance(given, dict) else 0
    left = times - (completed if isinstance(completed, int) else 0)
    if left <= 0:
        raise UsageError(f"it has already run {times} times, as often as it should.")
    return left
