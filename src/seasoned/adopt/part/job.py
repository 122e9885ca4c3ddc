"""Jobs of `cron/jobs.json`. They come paused: while Hermes has them too, they would run twice."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import msgspec

from seasoned.adopt.context import AdoptContext
from seasoned.adopt.part.script import new_path
from seasoned.adopt.record import AdoptFinding, AdoptItem, TakenItem
from seasoned.errors import SeasonedError
from seasoned.schedule.hermes_jobs import HermesJobs, ImportedJob, read_jobs
from seasoned.schedule.job import Job
from seasoned.schedule.job_table import add, discard, jobs
from seasoned.store import Database


def survey(context: AdoptContext) -> list[AdoptFinding]:
    """Each job, with its name here; what does not fit is said."""
    file = context.found.jobs
    if file is None:
        return []
    try:
        found = read_jobs(file, zone=context.zone, now=context.now)
    except SeasonedError as error:
        return [AdoptFinding(AdoptItem("job", file.name, str(file), "left out", (str(error),)))]
    stored = {one.job.id: one.job.name for one in jobs(context.database)}
    names = set(stored.values())
    made = [_finding(context, file, one, stored, names) for one in found.jobs]
    return [*made, *(_left_out(file, found))]


def skills_of(context: AdoptContext) -> set[str]:
    """The names of the skills that the jobs of the first version use."""
    if context.found.jobs is None:
        return set()
    try:
        found = read_jobs(context.found.jobs, zone=context.zone, now=context.now)
    except SeasonedError:
        return set()
    return {skill.rpartition("/")[2] for one in found.jobs for skill in one.job.skills}


def _left_out(file: Path, found: HermesJobs) -> list[AdoptFinding]:
    return [
        AdoptFinding(AdoptItem("job", one.place, str(file), "left out", (_sentence(one.reason),)))
        for one in found.left_out
    ]


def _finding(
    context: AdoptContext, file: Path, found: ImportedJob, stored: dict[str, str], names: set[str]
) -> AdoptFinding:
    job = found.job
    source = f"{file}#{job.id}"
    known = context.record.find("job", source)
    if known is not None:
        return AdoptFinding(AdoptItem("job", known.name, source, "taken"))
    if job.id in stored:
        note = "It was imported before; remove it first to take it over again."
        return AdoptFinding(AdoptItem("job", stored[job.id], source, "taken", (note,)))
    notes = [_sentence(note) for note in found.notes]
    job = _with_script(context, job, notes)
    if job.name in names:
        job = msgspec.structs.replace(job, name=f"{job.name[:40].strip()} {job.id}")
    names.add(job.name)
    if not job.is_paused:
        notes.append("Paused, so that it does not run twice.")
    item = AdoptItem("job", job.name, source, "new", tuple(notes))
    return AdoptFinding(item, partial(_take, context, msgspec.structs.replace(job, is_paused=True), item))


def _with_script(context: AdoptContext, job: Job, notes: list[str]) -> Job:
    """The job with the path of its script inside our folder of scripts."""
    if job.script is None:
        return job
    folder = context.found.script_folder
    path = folder / re.sub(r"\A~(?=/)", str(Path.home()), job.script)
    inside = path.relative_to(folder) if path.is_relative_to(folder) else None
    if inside is None or inside not in context.found.scripts:
        notes.append(f"Its script {job.script!r} is not in {str(folder)!r}, so it was not taken over.")
        return job
    return msgspec.structs.replace(job, script=str(new_path(context, inside)))


def _take(context: AdoptContext, job: Job, item: AdoptItem) -> tuple[TakenItem, tuple[str, ...]]:
    add(context.database, job, now=context.now)
    return TakenItem("job", job.name, item.source, "", {"id": job.id}), ()


def undo(database: Database, taken: TakenItem, *, now: float) -> str | None:
    """Remove the job; its runs stay in the history."""
    discard(database, taken.detail["id"], now=now)
    return None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
