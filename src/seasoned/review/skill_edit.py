"""Change skills: create, patch, write and remove support files, delete. Every change is journaled and can be undone."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from seasoned.admission import admit
from seasoned.atomic_write import ORDINARY, digest, move
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.review.journal import (
    Change,
    ChangeAction,
    ChangeJournal,
    Edit,
    Provenance,
    WriteReply,
    created_by,
    last_change,
    preview,
    replies,
)
from seasoned.review.skill_library import (
    DESCRIPTION_LIMIT,
    FILE_LIMIT,
    MAIN,
    TEXT_LIMIT,
    Skill,
    check_name,
    check_spelling,
    check_support,
    compose,
    files,
    find,
    ids,
    inside,
    parse,
    read_text,
)

_DONE: dict[ChangeAction, str] = {
    "create": "Created the skill {target!r}.",
    "patch": "Patched {target}/{file}.",
    "write_file": "Wrote {target}/{file}.",
}


@replies
def create(journal: ChangeJournal, name: str, body: str, *, description: str = "", by: Provenance) -> WriteReply:
    """Create a skill. The body may have front matter; otherwise it is made from name and description."""
    check_name(name)
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
        inside(folder, f"{name}/{MAIN}")
        check_spelling(folder, name)
        # An empty folder is what a process leaves that died before it wrote SKILL.md.
        if (folder / name).exists() and any((folder / name).iterdir()):
            raise UsageError(f"There is a folder {name!r} already that is not a skill: choose another name.")
        _check(journal, name, MAIN, text, "")
        edit = Edit(kind="skill", folder=folder, target=name, file=MAIN, action="create", after=text.encode())
        return _commit(journal, edit, by)


@replies
def patch(journal: ChangeJournal, name: str, old: str, new: str, *, file: str = MAIN, by: Provenance) -> WriteReply:
    """Replace a piece of a skill's text, or of a support file; it must occur exactly once."""
    with journal.skill_lock(journal.skill_folder):
        skill = _find(journal, name)
        if file != MAIN and file not in skill.files:
            raise NotFound(f"The skill {skill.id!r} has no file {file[:80]!r}: write it first.")
        _guard(journal, skill, file, by)
        before = _text_to_change(journal, skill, file)
        after = _replace_once(before, old, new, file)
        if after == before:
            return WriteReply("unchanged", f"{skill.id}/{file} already says that.")
        _check(journal, skill.name, file, after, before)
        return _commit(journal, _edit(skill, file, "patch", before.encode(), after.encode()), by)


@replies
def write_file(journal: ChangeJournal, name: str, file: str, text: str, *, by: Provenance) -> WriteReply:
    """Write a support file, new or in place of the old one."""
    check_support(file)
    with journal.skill_lock(journal.skill_folder):
        skill = _find(journal, name)
        check_spelling(skill.path, file)
        is_there = inside(skill.folder, f"{skill.id}/{file}").exists()
        before = _text_to_change(journal, skill, file) if is_there else None
        # Whether a review may add a file depends on who wrote SKILL.md.
        _guard(journal, skill, file if before is not None else MAIN, by)
        if before == text:
            return WriteReply("unchanged", f"{skill.id}/{file} already says that.")
        _check(journal, skill.name, file, text, before or "")
        old = None if before is None else before.encode()
        return _commit(journal, _edit(skill, file, "write_file", old, text.encode()), by)


def apply_change(journal: ChangeJournal, change: Change) -> WriteReply:
    """Make a change that waited for a person, if the file is still what it was made for."""
    edit = change.edit
    with journal.skill_lock(edit.folder):
        if _digest_of(inside(edit.folder, f"{edit.target}/{edit.file}")) != change.before_digest:
            raise UsageError(f"{edit.target}/{edit.file} has changed since change {change.id} was proposed: reject it.")
        if edit.after is not None:
            # What may be kept is decided when it is kept: the rules may have changed while it waited.
            before = "" if edit.before is None else edit.before.decode()
            _check(journal, edit.target.rpartition("/")[2], edit.file, edit.after.decode(), before)
        return journal.accept(change, edit, lambda: _apply(journal, edit))


def revert(journal: ChangeJournal, change: Change) -> Path:
    """Undo a change of a skill, if nothing was changed after it; the path that its text was moved to."""
    folder = Path(change.folder) / change.target
    place = folder if change.action == "create" else folder / change.file
    with journal.skill_lock(Path(change.folder)):
        inside(Path(change.folder), f"{change.target}/{change.file}")
        # Undoing a creation moves the entire folder: files that were added later would go with it.
        more = list(files(folder)) if change.action == "create" else []
        if more or _digest_of(folder / change.file) != change.after_digest:
            raise UsageError(f"{change.target} was changed after change {change.id}: undo the later changes first.")
        before = change.exact_before()
        if before is None:
            aside = journal.free_aside(place)
            _move_aside(place, aside, Path(change.folder))
        else:
            aside = journal.copy_aside(place, place.read_bytes())
            journal.write_file(place, before, mode=ORDINARY)
        return aside


def _find(journal: ChangeJournal, name: str) -> Skill:
    _settle(journal)
    return find(journal.skill_folder, name)


def _commit(journal: ChangeJournal, edit: Edit, by: Provenance) -> WriteReply:
    return journal.commit(edit, by, lambda: _apply(journal, edit))


def _apply(journal: ChangeJournal, edit: Edit) -> str:
    journal.write_file(edit.path, edit.after or b"", mode=ORDINARY)
    return _DONE[edit.action].format(target=edit.target, file=edit.file)


def _move_aside(path: Path, aside: Path, top: Path) -> None:
    """Move a file or folder, and remove the folders above it that became empty."""
    move(path, aside)
    folder = path.parent
    # rmdir refuses a folder that is not empty, and that ends the loop.
    with suppress(OSError):
        while folder != top:
            folder.rmdir()
            folder = folder.parent


def _edit(skill: Skill, file: str, action: ChangeAction, before: bytes | None, after: bytes | None) -> Edit:
    return Edit(
        kind="skill", folder=skill.folder, target=skill.id, file=file, action=action, before=before, after=after
    )


def _check(journal: ChangeJournal, name: str, file: str, text: str, before: str) -> None:
    """Raise UsageError if this text may not be in a skill."""
    limit = TEXT_LIMIT if file == MAIN else FILE_LIMIT
    if len(text) > limit:
        raise UsageError(f"{file} would have {len(text):,} characters, {limit:,} at most: move parts to references/.")
    if file == MAIN:
        document = parse(text)
        # A skill that exists keeps the name in its front matter, even if its folder is called otherwise.
        expected = parse(before).name if before else name
        if document.name != expected:
            raise UsageError(f"The front matter names {document.name[:80]!r}, but the skill is called {expected!r}.")
        if len(document.description) > DESCRIPTION_LIMIT:
            raise UsageError(
                f"The description has {len(document.description):,} characters, {DESCRIPTION_LIMIT:,} at most."
            )
        if not document.body.strip():
            raise UsageError("The skill has no text below its front matter: add the steps.")
    found = admit(journal.redactor, text.replace("\r\n", "\n"), before=before.replace("\r\n", "\n"))
    if not found:
        raise UsageError(f"Not kept. {found.why}")


def _guard(journal: ChangeJournal, skill: Skill, file: str, by: Provenance) -> None:
    """Keep a review from changing what a person wrote or edited."""
    if by.actor != "review":
        return
    last = last_change(journal.store, skill.folder, skill.id, file)
    # The digest shows whether a person has edited the file since, without the journal.
    is_ours = last is not None and last.actor != "person" and last.after_digest == _digest_of(skill.path / file)
    if created_by(journal.store, skill.folder, skill.id) == "person" or not is_ours:
        raise UsageError(
            f"{skill.id}/{file} was written by a person, and the review may not change it: put what you learned into "
            "another skill, or leave it."
        )


def _text_to_change(journal: ChangeJournal, skill: Skill, file: str) -> str:
    """The text of a file before a change; a damaged file is copied aside and left alone."""
    place = inside(skill.folder, f"{skill.id}/{file}")
    try:
        text = read_text(place)
        if file == MAIN:
            parse(text)
    except (CannotDo, UsageError) as error:
        kept = journal.copy_aside(place, place.read_bytes())
        raise UsageError(
            f"Nothing was written: {str(place)!r} is damaged: {error} "
            f"A copy is {str(kept)!r}. A person must fix it first."
        ) from error
    return text


def _replace_once(text: str, old: str, new: str, file: str) -> str:
    if not old:
        raise UsageError("Say which piece to replace, exactly as it is in the file.")
    # Models write plain line feeds; a file with Windows line ends keeps its own.
    if "\r\n" in text and old not in text:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    times = text.count(old)
    if times == 1:
        return text.replace(old, new)
    if times:
        raise UsageError(f"The piece occurs {times} times in {file}; give more of it.")
    raise NotFound(f"The piece {preview(old)!r} is not in {file}: view it again.")


def _settle(journal: ChangeJournal) -> None:
    def is_made(change: Change) -> bool:
        return _digest_of(Path(change.folder) / change.target / change.file) == change.after_digest

    journal.settle("skill", journal.skill_folder, is_made)


def _digest_of(path: Path) -> str | None:
    try:
        return digest(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
