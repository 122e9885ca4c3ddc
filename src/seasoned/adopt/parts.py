"""Each kind of thing that is taken over: `survey_…` finds it, `undo_…` brings back what was before."""

from __future__ import annotations

import re
import stat
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from seasoned.adopt.record import (
    AdoptContext,
    AdoptFinding,
    AdoptItem,
    TakenItem,
    keep_contents,
    kept_contents,
    read_bytes,
    settled,
)
from seasoned.atomic_write import digest, write_atomic
from seasoned.confirm.audit.archive import ArchivedRequest, archive_folder, read_audit, write_archive
from seasoned.errors import CannotDo, SeasonedError
from seasoned.experience.memory import FILES, MemoryFile, MemoryName
from seasoned.experience.memory import read as read_memory
from seasoned.review.journal import ChangeJournal, Provenance, preview
from seasoned.review.journal import find as find_change
from seasoned.review.memory_file import add as add_entry
from seasoned.review.skill_edit import create, write_file
from seasoned.review.skill_library import MAIN, Skill, ids, read_text, skills
from seasoned.review.undo import undo as undo_change
from seasoned.schedule.hermes_jobs import HermesJobs, ImportedJob, read_jobs
from seasoned.schedule.job import Job
from seasoned.schedule.job_table import add as add_job
from seasoned.schedule.job_table import discard as discard_job
from seasoned.schedule.job_table import jobs
from seasoned.schedule.script import FOLDER
from seasoned.store import Database, Store
from seasoned.template.example import name_from, name_key
from seasoned.template.library.exchange import MOST_BYTES, ImportedTemplate, read_template
from seasoned.template.library.storage import discard, is_empty, save_imported
from seasoned.text import plural


def survey_templates(context: AdoptContext) -> list[AdoptFinding]:
    """Each file, with the name that its template gets here."""
    used = {name_key(row["name"]) for row in context.store.rows("template.names")}
    used |= {name_key(one.name) for one in context.record.items if one.kind == "template"}
    return [_template_finding(context, path, used) for path in context.found.templates]


def _template_finding(context: AdoptContext, path: Path, used: set[str]) -> AdoptFinding:
    source = str(path)
    try:
        data = (read_bytes(path) or b"")[: MOST_BYTES + 1]
        known = context.record.find("template", source)
        if known is not None and known.digest == digest(data):
            return settled("template", known.name, source, "taken")
        name = known.name if known is not None else _free_name(data, path.stem, used)
        read = read_template(data, redactor=context.redactor, now=context.now, name=name, place=source)
    except SeasonedError as error:
        return settled("template", path.stem, source, "left out", str(error))
    if is_empty(read.template):
        return settled("template", name, source, "left out", "Nothing in it can be shown.", *_template_notes(read))
    used.add(name_key(name))
    item = AdoptItem("template", name, source, "new" if known is None else "changed", _template_notes(read))
    return AdoptFinding(item, partial(_take_template, context, read, item, digest(data), known))


def _free_name(data: bytes, stem: str, used: set[str]) -> str:
    """The template's own name, unless a template here has it already."""
    try:
        content: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        content = None
    own = content.get("name") if isinstance(content, dict) else None
    wanted = name_from(own if isinstance(own, str) and own.strip() else stem)
    if name_key(wanted) not in used:
        return wanted
    # Under the same name it would be saved as the next version of another template, and hide it.
    number = 1
    while name_key(name := name_from(f"{wanted}-hermes" + (f"-{number}" if number > 1 else ""))) in used:
        number += 1
    return name


def _template_notes(read: ImportedTemplate) -> tuple[str, ...]:
    count = len(read.template.examples)
    notes = [f"{plural(count, 'call')}, unverified until seen to work here."] if count else []
    if read.unproven:
        notes.append(f"{len(read.unproven)} of them held back: their results do not show that they worked.")
    if read.left_out:
        reasons = ", ".join(f"{number} {reason}" for reason, number in read.left_out.items())
        notes.append(f"Left out: {reasons}.")
    return tuple(notes)


def _take_template(
    context: AdoptContext, read: ImportedTemplate, item: AdoptItem, source_digest: str, known: TakenItem | None
) -> tuple[TakenItem, tuple[str, ...]]:
    kept = save_imported(
        context.store,
        read.template,
        unproven=read.unproven,
        usage_count=read.usage_count if known is None else 0,
        now=context.now,
    )
    versions = [*(known.detail["versions"] if known is not None else ()), kept.version]
    return TakenItem("template", kept.name, item.source, source_digest, {"versions": versions}), ()


def undo_template(store: Store, taken: TakenItem) -> str | None:
    """Remove the versions that were taken over; one that was built here since stays."""
    discard(store, taken.name, taken.detail["versions"])
    return None


_MOST_BYTES = 5_000_000


def survey_scripts(context: AdoptContext) -> list[AdoptFinding]:
    """Each file below `scripts`, with its path here."""
    return [_script_finding(context, path) for path in context.found.scripts]


def new_path(context: AdoptContext, path: Path) -> Path:
    """The path of a script here: the same, unless another script has it."""
    known = context.record.find("script", str(context.found.script_folder / path))
    if known is not None:
        return Path(known.name)
    here = read_bytes(context.home / FOLDER / path)
    if here is None or here == read_bytes(context.found.script_folder / path):
        return path
    return path.with_name(f"hermes-{path.name}")


def _script_finding(context: AdoptContext, path: Path) -> AdoptFinding:
    source = context.found.script_folder / path
    try:
        data = read_bytes(source) or b""
        name = new_path(context, path)
        known = context.record.find("script", str(source))
        target = context.home / FOLDER / name
        if known is not None and known.digest == digest(data):
            return settled("script", str(name), str(source), "taken")
        if known is None and read_bytes(target) == data:
            return settled("script", str(name), str(source), "taken", "The same file is here already.")
        if len(data) > _MOST_BYTES:
            raise ValueError(f"It has more than {_MOST_BYTES // 1_000_000} MB.")
        # A newer file there must not overwrite an edit here.
        if known is not None and digest(read_bytes(target) or b"") != known.digest:
            raise ValueError("It was edited here since it was taken over, and there too. Copy it by hand.")
    except (SeasonedError, ValueError) as error:
        return settled("script", str(path), str(source), "left out", str(error))
    notes = () if name == path else (f"There is another {str(path)!r} here already.",)
    item = AdoptItem("script", str(name), str(source), "new" if known is None else "changed", notes)
    return AdoptFinding(item, partial(_take_script, context, item, data))


def _take_script(context: AdoptContext, item: AdoptItem, data: bytes) -> tuple[TakenItem, tuple[str, ...]]:
    target = context.home / FOLDER / item.name
    # Executable if it was, and writable only by its owner: the scheduler refuses other scripts.
    mode = 0o700 if Path(item.source).stat().st_mode & stat.S_IXUSR else 0o600
    write_atomic(target, data, unfinished=context.home / "unfinished", mode=mode)
    return TakenItem("script", item.name, item.source, digest(data), {"path": str(target)}), ()


def undo_script(taken: TakenItem) -> str | None:
    """Remove the copy, unless it was edited."""
    target = Path(taken.detail["path"])
    here = read_bytes(target)
    if here is None:
        return None
    if digest(here) != taken.digest:
        return f"The script {str(target)!r} was edited since and stays."
    target.unlink()
    return None


def survey_jobs(context: AdoptContext) -> list[AdoptFinding]:
    """Each job, with its name here and notes about what does not fit."""
    file = context.found.jobs
    if file is None:
        return []
    try:
        found = read_jobs(file, zone=context.zone, now=context.now)
    except SeasonedError as error:
        return [settled("job", file.name, str(file), "left out", str(error))]
    stored = {one.job.id: one.job.name for one in jobs(context.database)}
    names = set(stored.values())
    made = [_job_finding(context, file, one, stored, names) for one in found.jobs]
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
    return [settled("job", one.place, str(file), "left out", _sentence(one.reason)) for one in found.left_out]


def _job_finding(
    context: AdoptContext, file: Path, found: ImportedJob, stored: dict[str, str], names: set[str]
) -> AdoptFinding:
    job = found.job
    source = f"{file}#{job.id}"
    known = context.record.find("job", source)
    if known is not None:
        return settled("job", known.name, source, "taken")
    if job.id in stored:
        note = "It was imported before; remove it first to take it over again."
        return settled("job", stored[job.id], source, "taken", note)
    notes = [_sentence(note) for note in found.notes]
    job = _with_script(context, job, notes)
    if job.name in names:
        job = msgspec.structs.replace(job, name=f"{job.name[:40].strip()} {job.id}")
    names.add(job.name)
    if not job.is_paused:
        notes.append("Paused, so that it does not run twice.")
    item = AdoptItem("job", job.name, source, "new", tuple(notes))
    return AdoptFinding(item, partial(_take_job, context, msgspec.structs.replace(job, is_paused=True), item))


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


def _take_job(context: AdoptContext, job: Job, item: AdoptItem) -> tuple[TakenItem, tuple[str, ...]]:
    add_job(context.database, job, now=context.now)
    return TakenItem("job", job.name, item.source, "", {"id": job.id}), ()


def undo_job(database: Database, taken: TakenItem, *, now: float) -> str | None:
    """Remove the job; its runs stay in the history."""
    discard_job(database, taken.detail["id"], now=now)
    return None


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


BY = Provenance(actor="person", origin="import", platform="cli")


def survey_memories(context: AdoptContext) -> list[AdoptFinding]:
    """Both files, if Hermes has them."""
    folder = context.found.memory
    if folder is None:
        return []
    return [_memory_finding(context, folder, which) for which in FILES if (folder / FILES[which]).is_file()]


def _memory_finding(context: AdoptContext, folder: Path, which: MemoryName) -> AdoptFinding:
    theirs = read_memory(folder, which, limit=context.journal.limit(which))
    source = str(theirs.path)
    if folder.resolve() == context.journal.memory_folder.resolve():
        return settled("memory", FILES[which], source, "taken", "Both programs share this file already.")
    if theirs.problem is not None:
        why = f"It is damaged: {theirs.problem}. Fix it and try again."
        return settled("memory", FILES[which], source, "left out", why)
    known = context.record.find("memory", source)
    if known is not None and known.digest == digest(theirs.raw):
        return settled("memory", FILES[which], source, "taken")
    ours = read_memory(context.journal.memory_folder, which, limit=context.journal.limit(which))
    news = [entry for entry in theirs.entries if entry not in ours.entries]
    if not news:
        return settled("memory", FILES[which], source, "taken", "All its entries are here already.")
    notes = (f"{plural(len(news), 'entry', 'entries')}.",)
    item = AdoptItem("memory", FILES[which], source, "new" if known is None else "changed", notes)
    return AdoptFinding(item, partial(_take_memory, context, theirs, news, known))


def _take_memory(
    context: AdoptContext, theirs: MemoryFile, news: list[str], known: TakenItem | None
) -> tuple[TakenItem, tuple[str, ...]]:
    which = theirs.which
    ours = read_bytes(context.journal.memory_folder / FILES[which])
    # The journal undoes entries. The exact bytes are saved as well, for whitespace and line ends.
    before = known.detail["before"] if known is not None else keep_contents(context.home, ours)
    replies = [(entry, add_entry(context.journal, which, entry, by=BY)) for entry in news]
    changes = [reply.change for _, reply in replies if reply.state == "kept"]
    refused = [f"Left out {preview(entry)!r}: {reply.said}" for entry, reply in replies if not reply.ok]
    detail = {
        "which": which,
        "before": before,
        "changes": [*(known.detail["changes"] if known is not None else ()), *changes],
    }
    return TakenItem("memory", FILES[which], str(theirs.path), digest(theirs.raw), detail), tuple(refused)


def undo_memory(journal: ChangeJournal, home: Path, taken: TakenItem) -> str | None:
    """Remove the entries that were added; if nothing else changed, the file is restored byte for byte."""
    problems = undo_changes(journal, taken.detail["changes"])
    which: MemoryName = taken.detail["which"]
    path = journal.memory_folder / FILES[which]
    before = kept_contents(home, taken.detail["before"])
    with journal.memory_lock(journal.memory_folder, which):
        now = read_memory(journal.memory_folder, which, limit=journal.limit(which))
        if before is None:
            if not now.entries and now.problem is None:
                path.unlink(missing_ok=True)
        elif now.problem is None and now.raw != before and now.entries == _entries(before):
            journal.write_file(path, before)
    return problems


def _entries(data: bytes) -> tuple[str, ...]:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return tuple(entry for part in text.split("\n§\n") if (entry := part.strip()))


def undo_changes(journal: ChangeJournal, changes: list[int]) -> str | None:
    """Undo changes of the journal, newest first; a sentence about those that could not be undone."""
    problems = []
    for number in reversed(changes):
        change = find_change(journal.store, number)
        if change.state != "kept":
            continue
        reply = undo_change(journal, number, decided_by="adopt")
        if not reply.ok:
            problems.append(reply.said)
    return " ".join(problems) or None


def survey_skills(context: AdoptContext) -> list[AdoptFinding]:
    """Each skill, with its name here."""
    folder = context.found.skills
    if folder is None or folder.resolve() == context.journal.skill_folder.resolve():
        return []
    bundled = _bundled(folder) - skills_of(context)
    taken = {known.rpartition("/")[2]: known for known in ids(context.journal.skill_folder)}
    found = [one for one in skills(folder) if one.name not in bundled]
    return [_skill_finding(context, one, taken) for one in found]


def _bundled(folder: Path) -> set[str]:
    """Skills that came with Hermes and are listed in its manifest, a line `name:hash` each."""
    data = read_bytes(folder / ".bundled_manifest") or b""
    return {line.partition(":")[0].strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()}


def _skill_finding(context: AdoptContext, skill: Skill, taken: dict[str, str]) -> AdoptFinding:
    source = str(skill.path / MAIN)
    if skill.problem is not None:
        return settled("skill", skill.id, source, "left out", f"It is damaged: {skill.problem}")
    try:
        mark = _mark(skill)
    except (SeasonedError, OSError) as error:
        return settled("skill", skill.id, source, "left out", str(error))
    known = context.record.find("skill", source)
    if known is not None:
        # Both sides may have been edited since, so a skill is taken over once.
        notes = () if known.digest == mark else ("It was changed there since, and is not taken over again.",)
        return settled("skill", known.name, source, "taken", *notes)
    if skill.name in taken:
        here = context.journal.skill_folder / taken[skill.name]
        is_same = read_bytes(here / MAIN) == read_bytes(skill.path / MAIN)
        note = "The same skill is here already." if is_same else f"There is a skill {taken[skill.name]!r} here already."
        return settled("skill", skill.id, source, "taken" if is_same else "left out", note)
    notes = (f"With {plural(len(skill.files), 'file')}.",) if skill.files else ()
    item = AdoptItem("skill", skill.id, source, "new", notes)
    return AdoptFinding(item, partial(_take_skill, context, skill, item, mark))


def _mark(skill: Skill) -> str:
    """A digest of the skill and all its files."""
    return digest("\n".join(f"{name} {digest((skill.path / name).read_bytes())}" for name in (MAIN, *skill.files)))


def _take_skill(context: AdoptContext, skill: Skill, item: AdoptItem, mark: str) -> tuple[TakenItem, tuple[str, ...]]:
    made = create(context.journal, skill.name, read_text(skill.path / MAIN), category=skill.category, by=BY)
    if not made.ok:
        raise CannotDo(made.said)
    changes, notes = [made.change], []
    for file in skill.files:
        try:
            reply = write_file(context.journal, skill.id, file, read_text(skill.path / file), by=BY)
            said = None if reply.ok else reply.said
        except CannotDo as error:
            said = str(error)
        else:
            changes += [reply.change] if reply.ok else []
        notes += [f"Left out {file!r}: {said}"] if said else []
    return TakenItem("skill", skill.id, item.source, mark, {"changes": changes}), tuple(notes)


def undo_skill(journal: ChangeJournal, taken: TakenItem) -> str | None:
    """Remove the skill, unless it was edited since."""
    return undo_changes(journal, taken.detail["changes"])


def survey_audits(context: AdoptContext) -> list[AdoptFinding]:
    """Each audit database, with how much is in it."""
    return [_audit_finding(context, path) for path in context.found.audits]


def _audit_finding(context: AdoptContext, path: Path) -> AdoptFinding:
    source = str(path)
    try:
        # Recent changes may still be in the write-ahead log next to the file.
        mark = digest((read_bytes(path) or b"") + (read_bytes(path.with_name(f"{path.name}-wal")) or b""))
        known = context.record.find("audit", source)
        if known is not None and known.digest == mark:
            return settled("audit", known.name, source, "taken")
        requests = read_audit(path, redactor=context.redactor)
    except SeasonedError as error:
        return settled("audit", path.name, source, "left out", str(error))
    if not requests:
        return settled("audit", path.name, source, "left out", "It holds no requests.")
    notes = (f"{plural(len(requests), 'request')}, to read with `seasoned confirm audit --archive`.",)
    item = AdoptItem("audit", path.name, source, "new" if known is None else "changed", notes)
    return AdoptFinding(item, partial(_take_audit, context, requests, item, mark))


def _take_audit(
    context: AdoptContext, requests: list[ArchivedRequest], item: AdoptItem, mark: str
) -> tuple[TakenItem, tuple[str, ...]]:
    file = archive_folder(context.home) / f"{Path(item.name).stem}-{digest(item.source)[:8]}.jsonl"
    write_archive(file, requests, unfinished=context.home / "unfinished")
    return TakenItem("audit", item.name, item.source, mark, {"path": str(file)}), ()


def undo_audit(taken: TakenItem) -> str | None:
    """Remove the archive; the database of the first version was never changed."""
    Path(taken.detail["path"]).unlink(missing_ok=True)
    return None


# Scripts and skills before the jobs that use them.
SURVEYS = (survey_templates, survey_scripts, survey_skills, survey_jobs, survey_memories, survey_audits)


def undo_item(taken: TakenItem, *, home: Path, journal: ChangeJournal, database: Database, now: float) -> str | None:
    """Undo one item; returns why something had to stay, if it did."""
    match taken.kind:
        case "template":
            return undo_template(journal.store, taken)
        case "script":
            return undo_script(taken)
        case "skill":
            return undo_skill(journal, taken)
        case "job":
            return undo_job(database, taken, now=now)
        case "memory":
            return undo_memory(journal, home, taken)
        case "audit":
            return undo_audit(taken)
