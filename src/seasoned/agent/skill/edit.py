"""Writing skills: create, patch, support files, removal; each is written down first, and can be taken back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from seasoned.agent.memory.journal import (
    Change,
    ChangeState,
    Edit,
    Journal,
    Provenance,
    WriteReply,
    copy_aside,
    created_by,
    free_place,
    last_change,
    mark,
    preview,
    put_aside,
    record,
    replies,
    stage,
    unsettled,
)
from seasoned.agent.memory.screen import objection
from seasoned.agent.skill.frontmatter import compose, parse
from seasoned.agent.skill.library import (
    DESCRIPTION_LIMIT,
    FILE_LIMIT,
    MAIN,
    TEXT_LIMIT,
    Skill,
    check_name,
    check_spelling,
    check_support,
    files,
    find,
    ids,
    inside,
    read_text,
)
from seasoned.atomic_write import ORDINARY, digest, move, place_folder, write_atomic
from seasoned.errors import CannotDo, NotFound, UsageError

_SHOWN = 5


@replies
def create(
    journal: Journal, name: str, body: str, *, description: str = "", category: str | None = None, by: Provenance
) -> WriteReply:
    """A new skill. The body may bring its own front matter; else it is made of name and description."""
    check_name(name)
    target = name if category is None else f"{check_name(category, 'category')}/{name}"
    text = body.replace("\r\n", "\n")
    if not text.lstrip().startswith("---\n"):
        text = compose(name, " ".join(description.split()), text)
    text = text.lstrip()
    folder = journal.skill_folder
    with journal.skill_lock(folder):
        _settle(journal)
        taken = next((known for known in ids(folder) if known.rpartition("/")[2] == name), None)
        if taken is not None:
            raise UsageError(f"There is a skill {taken!r} already: patch it, or choose another name.")
        if category is not None and (folder / category / MAIN).exists():
            raise UsageError(f"{category!r} is itself a skill, and no category: choose another category.")
        inside(folder, f"{target}/{MAIN}")
        check_spelling(folder, target)
        if (folder / target).exists():
            raise UsageError(f"There is a folder {target!r} already that is no skill: choose another name.")
        _check(journal, name, MAIN, text, "")
        edit = Edit(kind="skill", folder=folder, target=target, file=MAIN, action="create", after=text.encode())
        return _commit(journal, edit, by)


@replies
def patch(journal: Journal, name: str, old: str, new: str, *, file: str = MAIN, by: Provenance) -> WriteReply:
    """Replace a piece of a skill's text, or of one of its support files, that stands there once."""
    with journal.skill_lock(journal.skill_folder):
        _settle(journal)
        skill = find(journal.skill_folder, name)
        if file != MAIN and file not in skill.files:
            raise NotFound(f"The skill {skill.id!r} has no file {file[:80]!r}: write it first.")
        _guard(journal, skill, file, by)
        before = _whole(journal, skill, file)
        after = _replaced(before, old, new, file)
        if after == before:
            return WriteReply("unchanged", f"{skill.id}/{file} says so already.")
        _check(journal, skill.name, file, after, before)
        return _commit(journal, _edit(skill, file, "patch", before, after), by)


@replies
def write_file(journal: Journal, name: str, file: str, text: str, *, by: Provenance) -> WriteReply:
    """Write a support file, new or in place of the old one."""
    check_support(file)
    with journal.skill_lock(journal.skill_folder):
        _settle(journal)
        skill = find(journal.skill_folder, name)
        check_spelling(skill.path, file)
        before = _whole(journal, skill, file) if inside(skill.folder, f"{skill.id}/{file}").exists() else None
        _guard(journal, skill, file if before is not None else MAIN, by)
        if before == text:
            return WriteReply("unchanged", f"{skill.id}/{file} says so already.")
        _check(journal, skill.name, file, text, before or "")
        return _commit(journal, _edit(skill, file, "write_file", before, text), by)


@replies
def remove_file(journal: Journal, name: str, file: str, *, by: Provenance) -> WriteReply:
    """Put a support file aside."""
    with journal.skill_lock(journal.skill_folder):
        _settle(journal)
        skill = find(journal.skill_folder, name)
        if file not in skill.files:
            raise NotFound(f"The skill {skill.id!r} has no support file {file[:80]!r}: view it to see what it has.")
        _guard(journal, skill, file, by)
        before = inside(skill.folder, f"{skill.id}/{file}").read_bytes()
        return _commit(journal, msgspec.structs.replace(_edit(skill, file, "remove_file"), before=before), by)


@replies
def delete(journal: Journal, name: str, *, by: Provenance) -> WriteReply:
    """Put a whole skill aside."""
    with journal.skill_lock(journal.skill_folder):
        _settle(journal)
        skill = find(journal.skill_folder, name)
        for file in (MAIN, *skill.files):
            _guard(journal, skill, file, by)
        before = inside(skill.folder, f"{skill.id}/{MAIN}").read_bytes()
        return _commit(journal, msgspec.structs.replace(_edit(skill, MAIN, "delete"), before=before), by)


def apply_change(journal: Journal, change: Change) -> WriteReply:
    """Make an edit that waited for a person, if what it was made for is still as it was."""
    edit = change.edit
    with journal.skill_lock(edit.folder):
        if _digest(edit) != change.before_digest:
            raise UsageError(f"{edit.target}/{edit.file} has changed since change {change.id} was proposed: reject it.")
        aside = _aside(journal, edit)
        if aside is not None:
            put_aside(journal.store, change.id, aside)
        mark(journal.store, change.id, "writing")
        return _make(journal, edit, change.id, aside, otherwise=change.state)


def revert(journal: Journal, change: Change) -> Path | None:
    """Undo a change of a skill, if nothing was changed after it; the path where lies what it had written."""
    folder = Path(change.folder) / change.target
    place = folder if change.action in ("create", "delete") else folder / change.file
    with journal.skill_lock(Path(change.folder)):
        if change.action in ("delete", "remove_file"):
            if place.exists() or place.is_symlink():
                raise UsageError(f"{str(place)!r} is there again: move it away first.")
            if change.aside is None or not Path(change.aside).exists():
                raise CannotDo(f"What change {change.id} removed was put aside and is gone.")
            move(Path(change.aside), place)
            return None
        inside(Path(change.folder), f"{change.target}/{change.file}")
        more = list(files(folder)) if change.action == "create" else []
        if more or _digest_of(folder / change.file) != change.after_digest:
            raise UsageError(f"{change.target} was changed after change {change.id}: undo the later changes first.")
        before = change.exact_before()
        if before is None:
            aside = free_place(journal.home, place, now=journal.clock())
            move(place, aside)
            _tidy(place.parent, Path(change.folder))
        else:
            aside = copy_aside(journal.home, place, place.read_bytes(), now=journal.clock())
            write_atomic(place, before, unfinished=journal.unfinished, mode=ORDINARY)
        return aside


def _commit(journal: Journal, edit: Edit, by: Provenance) -> WriteReply:
    if journal.staging and by.actor != "person":
        return stage(journal, edit, by)
    aside = _aside(journal, edit)
    return _make(journal, edit, record(journal, edit, by, "writing", aside=aside), aside)


def _make(
    journal: Journal, edit: Edit, change: int, aside: Path | None, *, otherwise: ChangeState = "failed"
) -> WriteReply:
    state = otherwise
    try:
        _apply(journal, edit, aside)
        state = "kept"
    except OSError as error:
        raise CannotDo(f"{edit.target}/{edit.file} cannot be written: {error.strerror or error}.") from error
    finally:
        mark(journal.store, change, state)
    done = {
        "create": f"Created the skill {edit.target!r}.",
        "delete": f"Put the skill {edit.target!r} aside.",
        "patch": f"Patched {edit.target}/{edit.file}.",
        "write_file": f"Wrote {edit.target}/{edit.file}.",
        "remove_file": f"Put {edit.target}/{edit.file} aside.",
    }
    return WriteReply("kept", done[edit.action], change)


def _apply(journal: Journal, edit: Edit, aside: Path | None) -> None:
    folder = edit.folder / edit.target
    if aside is not None:
        place = folder if edit.action == "delete" else folder / edit.file
        move(place, aside)
        _tidy(place.parent, edit.folder)
    elif edit.action == "create":
        place_folder(folder, {MAIN: edit.after or b""}, unfinished=journal.unfinished)
    else:
        write_atomic(folder / edit.file, edit.after or b"", unfinished=journal.unfinished, mode=ORDINARY)


def _aside(journal: Journal, edit: Edit) -> Path | None:
    if edit.action not in ("delete", "remove_file"):
        return None
    name = edit.target if edit.action == "delete" else edit.file
    return free_place(journal.home, Path(name), now=journal.clock())


def _tidy(folder: Path, until: Path) -> None:
    """Remove folders that became empty."""
    with suppress(OSError):
        while folder != until:
            folder.rmdir()
            folder = folder.parent


def _edit(skill: Skill, file: str, action: str, before: str | None = None, after: str | None = None) -> Edit:
    return msgspec.convert(
        {
            "kind": "skill",
            "folder": skill.folder,
            "target": skill.id,
            "file": file,
            "action": action,
            "before": None if before is None else before.encode(),
            "after": None if after is None else after.encode(),
        },
        Edit,
    )


def _check(journal: Journal, name: str, file: str, text: str, before: str) -> None:
    """Whether a text may stand in a skill."""
    limit = TEXT_LIMIT if file == MAIN else FILE_LIMIT
    if len(text) > limit:
        raise UsageError(f"{file} would have {len(text):,} characters, {limit:,} at most: move parts to references/.")
    if file == MAIN:
        document = parse(text)
        expected = parse(before).name if before else name
        if document.name != expected:
            raise UsageError(f"The front matter names {document.name[:80]!r}: the skill is called {expected!r}.")
        if len(document.description) > DESCRIPTION_LIMIT:
            raise UsageError(
                f"The description has {len(document.description):,} characters, {DESCRIPTION_LIMIT:,} at most."
            )
        if not document.body.strip():
            raise UsageError("The skill says nothing below its front matter: add the steps.")
    if why := objection(journal.redactor, text.replace("\r\n", "\n"), before=before.replace("\r\n", "\n")):
        raise UsageError(f"Not kept. {why}")


def _guard(journal: Journal, skill: Skill, file: str, by: Provenance) -> None:
    """The review does not change what a person wrote, or changed by hand, unless that is allowed."""
    if by.actor != "review" or journal.allow_person_skills:
        return
    last = last_change(journal.store, skill.folder, skill.id, file)
    is_ours = last is not None and last.actor != "person" and last.after_digest == _digest_of(skill.path / file)
    if created_by(journal.store, skill.folder, skill.id) == "person" or not is_ours:
        raise UsageError(
            f"{skill.id}/{file} was written by a person, and the review may not change it: put what you learned into "
            "another skill, or leave it."
        )


def _whole(journal: Journal, skill: Skill, file: str) -> str:
    """The text of a file that is to be changed; a damaged one is copied aside and left alone."""
    place = inside(skill.folder, f"{skill.id}/{file}")
    try:
        text = read_text(place)
        if file == MAIN:
            parse(text)
    except (CannotDo, UsageError) as error:
        kept = copy_aside(journal.home, place, place.read_bytes(), now=journal.clock())
        raise UsageError(
            f"Nothing was written: {str(place)!r} is damaged: {error} "
            f"A copy is {str(kept)!r}. A person must mend it first."
        ) from error
    return text


def _replaced(text: str, old: str, new: str, file: str) -> str:
    if not old:
        raise UsageError("Say which piece to replace, as it stands in the file.")
    if "\r\n" in text and old not in text:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    times = text.count(old)
    if times == 1:
        return text.replace(old, new)
    if times:
        lines: list[str] = []
        at = text.find(old)
        while at >= 0 and len(lines) < _SHOWN:
            number = text.count("\n", 0, at)
            lines.append(f"line {number + 1}: {preview(text.splitlines()[number])!r}")
            at = text.find(old, at + len(old))
        raise UsageError(f"The piece stands {times} times in {file}; give more of it. {'; '.join(lines)}")
    from difflib import get_close_matches

    near = get_close_matches(old.strip().split("\n")[0], [line.strip() for line in text.split("\n")], n=2, cutoff=0.5)
    hint = f": the nearest lines are {'; '.join(repr(preview(line)) for line in near)}." if near else ": view it again."
    raise NotFound(f"The piece {preview(old)!r} is not in {file}{hint}")


def _settle(journal: Journal) -> None:
    """Say of changes whose process died whether they were made: the files know."""
    for change in unsettled(journal.store, "skill", journal.skill_folder):
        place = Path(change.folder) / change.target / change.file
        if change.action in ("delete", "remove_file"):
            is_made = not place.exists()
        else:
            is_made = _digest_of(place) == change.after_digest
        mark(journal.store, change.id, "kept" if is_made else "failed")


def _digest(edit: Edit) -> str | None:
    return _digest_of(inside(edit.folder, f"{edit.target}/{edit.file}"))


def _digest_of(path: Path) -> str | None:
    try:
        return digest(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
