"""Skills that the user or an agent wrote, and those that jobs need; what Hermes brings with it is left there."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from seasoned.adopt.context import AdoptContext
from seasoned.adopt.part.job import skills_of
from seasoned.adopt.part.memory import BY, undo_changes
from seasoned.adopt.record import AdoptFinding, AdoptItem, TakenItem, read_bytes
from seasoned.agent.memory.journal import ChangeJournal
from seasoned.agent.skill.edit import create, write_file
from seasoned.agent.skill.library import MAIN, Skill, ids, read_text, skills
from seasoned.atomic_write import digest
from seasoned.errors import CannotDo, SeasonedError
from seasoned.text import plural


def survey(context: AdoptContext) -> list[AdoptFinding]:
    """Each skill, with its name here."""
    folder = context.found.skills
    if folder is None or folder.resolve() == context.journal.skill_folder.resolve():
        return []
    bundled = _bundled(folder) - skills_of(context)
    taken = {known.rpartition("/")[2]: known for known in ids(context.journal.skill_folder)}
    found = [one for one in skills(folder) if one.name not in bundled]
    return [_finding(context, one, taken) for one in found]


def _bundled(folder: Path) -> set[str]:
    """Skills that came with Hermes and are listed in its manifest, a line `name:hash` each."""
    data = read_bytes(folder / ".bundled_manifest") or b""
    return {line.partition(":")[0].strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()}


def _finding(context: AdoptContext, skill: Skill, taken: dict[str, str]) -> AdoptFinding:
    source = str(skill.path / MAIN)
    if skill.problem is not None:
        return AdoptFinding(AdoptItem("skill", skill.id, source, "left out", (f"It is damaged: {skill.problem}",)))
    try:
        mark = _mark(skill)
    except (SeasonedError, OSError) as error:
        return AdoptFinding(AdoptItem("skill", skill.id, source, "left out", (str(error),)))
    known = context.record.find("skill", source)
    if known is not None:
        # Both sides may have been edited since, so a skill is taken over once.
        notes = () if known.digest == mark else ("It was changed there since, and is not taken over again.",)
        return AdoptFinding(AdoptItem("skill", known.name, source, "taken", notes))
    if skill.name in taken:
        here = context.journal.skill_folder / taken[skill.name]
        is_same = read_bytes(here / MAIN) == read_bytes(skill.path / MAIN)
        note = "The same skill is here already." if is_same else f"There is a skill {taken[skill.name]!r} here already."
        return AdoptFinding(AdoptItem("skill", skill.id, source, "taken" if is_same else "left out", (note,)))
    notes = (f"With {plural(len(skill.files), 'file')}.",) if skill.files else ()
    item = AdoptItem("skill", skill.id, source, "new", notes)
    return AdoptFinding(item, partial(_take, context, skill, item, mark))


def _mark(skill: Skill) -> str:
    """A digest of the skill and all its files."""
    return digest("\n".join(f"{name} {digest((skill.path / name).read_bytes())}" for name in (MAIN, *skill.files)))


def _take(context: AdoptContext, skill: Skill, item: AdoptItem, mark: str) -> tuple[TakenItem, tuple[str, ...]]:
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


def undo(journal: ChangeJournal, taken: TakenItem) -> str | None:
    """Remove the skill, unless it was edited since."""
    return undo_changes(journal, taken.detail["changes"])
