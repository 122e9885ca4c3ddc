"""Applies plans and undoes them. Each file is replaced completely, and its former contents are kept."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from seasoned.atomic_write import ORDINARY, digest, make_private_folder, write_atomic
from seasoned.connect.json_text import keep_empty
from seasoned.connect.plan import (
    ConnectPlan,
    FileChange,
    LinkedFolder,
    Part,
    change_of,
    decode_text,
    diff_of,
    guard_file,
    made_links,
    make_links,
    read_present,
)
from seasoned.errors import CannotDo, NotFound
from seasoned.file_lock import locked
from seasoned.text import plural

STAYS = "stay there"
# Where the records of connected agents are.
_AREA = "connect"

# A file without our part, None for nothing; raises CannotDo if our part cannot be recognised. The last argument is the
# file before we changed it first, None if it was not there: what was empty then stays as an empty list.
RemoveOurs = Callable[[Path, bytes, bytes | None], bytes | None]


class _ChangedFile(msgspec.Struct, frozen=True):
    """A file that was changed. Its contents before and after are stored next to the record, named by digest."""

    path: str
    before: str | None
    after: str | None
    why: str
    made_folders: tuple[str, ...] = ()


class _ConnectRecord(msgspec.Struct, frozen=True):
    """What connecting an agent changed."""

    agent: str
    files: tuple[_ChangedFile, ...]
    links: tuple[LinkedFolder, ...] = ()
    parts: tuple[Part, ...] = ()
    """What the user chose."""
    python: str | None = None
    """The Python of an installation that can review, since an agent's own environment may not."""
    made_folders: tuple[str, ...] = ()
    """Folders that were created for links, innermost first."""


def apply_plan(
    plan: ConnectPlan,
    *,
    home: Path,
    remove_ours: RemoveOurs | None = None,
    area: str = _AREA,
) -> Path:
    """Apply a plan; returns the folder with the former contents. Nothing is written if a file changed since.

    `area` is the folder of the records: what is applied to the same file in another area is undone separately.
    """
    folder = home / area / plan.agent
    make_private_folder(folder)
    with locked(home / area / ".lock"):
        for one in plan.changes:
            if read_present(one.path) != one.before:
                raise CannotDo(f"{str(one.path)!r} changed since the plan was made. Run the command again.")
        # Connecting again extends the first record: undoing leads back to before the first time.
        old = _load(folder)
        files = {one.path: one for one in (old.files if old else ())}
        for one in plan.changes:
            files[str(one.path)] = _record_change(folder, one, files.get(str(one.path)), remove_ours)
        # Without repeats, since every plan names the same folders.
        links = tuple(dict.fromkeys([*(old.links if old else ()), *plan.links]))
        made = [str(path) for one in plan.links for path in _missing_folders(one.folder / "skill")]
        made_folders = tuple(dict.fromkeys([*(old.made_folders if old else ()), *made]))
        record = _ConnectRecord(plan.agent, tuple(files.values()), links, plan.parts, _python(), made_folders)
        # Saved first, so that the work of a killed process can be undone.
        _save(folder, record)
        try:
            _write_all(plan.changes, unfinished=home / area / ".unfinished")
        except CannotDo:
            if old is None:
                _drop(folder)
            else:
                _save(folder, old)
            raise
        set_guard(plan, home=home)
        # The files are changed by now. If a link fails the record stays, so that they can be restored.
        for each in plan.links:
            make_links(each)
    return folder


def set_guard(plan: ConnectPlan, *, home: Path) -> None:
    """Refuse calls that cannot be checked from now on, if confirmations are a part of the connection."""
    guard = guard_file(home, plan.agent)
    if "confirmations" in plan.parts:
        guard.touch(mode=0o600)
    else:
        guard.unlink(missing_ok=True)


def undo_plan(agent: str, *, home: Path, remove_ours: RemoveOurs | None = None, area: str = _AREA) -> ConnectPlan:
    """What undoing would change. A file that was edited since only loses our part; if that is impossible, it raises."""
    record = _load(home / area / agent)
    if record is None:
        done = "connected" if area == _AREA else "applied"
        raise NotFound(f"{agent} is not {done}: there is nothing to undo.")
    changes = [_undo_change(home / area / agent, one, remove_ours) for one in record.files]
    links = tuple(one for one in record.links if made_links(one))
    return ConnectPlan(agent, tuple(change for one in changes for change in one), links=links)


def undo(agent: str, *, home: Path, remove_ours: RemoveOurs | None = None, area: str = _AREA) -> ConnectPlan:
    """Undo what connecting an agent changed; returns what was done."""
    folder = home / area / agent
    with locked(home / area / ".lock"):
        plan = undo_plan(agent, home=home, remove_ours=remove_ours, area=area)
        record = _load(folder)
        _write_all(plan.changes, unfinished=home / area / ".unfinished")
        for each in plan.links:
            for link in made_links(each):
                link.unlink(missing_ok=True)
        # Only folders that connecting made, and after their files are gone.
        files = () if record is None else record.files
        for name in [*(record.made_folders if record else ()), *(name for one in files for name in one.made_folders)]:
            with suppress(OSError):
                Path(name).rmdir()  # only if it is empty
        _drop(folder)
    return plan


def is_connected(agent: str, *, home: Path) -> bool:
    """Whether a plan for the agent was applied and not undone."""
    return (home / "connect" / agent / "record.json").is_file()


def chosen_parts(agent: str, *, home: Path) -> tuple[Part, ...] | None:
    """The parts with which an agent was connected; None if it is not."""
    record = _load(home / "connect" / agent)
    return None if record is None else record.parts


def link_skills_of(agent: str, *, home: Path) -> None:
    """Link new skills into the folders of an agent, if it is connected."""
    if not is_connected(agent, home=home):
        return
    # Locked: undone meanwhile, the links would stay.
    with locked(home / _AREA / ".lock"):
        record = _load(home / _AREA / agent)
        for folder in () if record is None else record.links:
            make_links(folder)


def _drop(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def _record_change(
    folder: Path, change: FileChange, old: _ChangedFile | None, remove_ours: RemoveOurs | None
) -> _ChangedFile:
    before: bytes | None = change.before
    if old is not None:
        # Unchanged since we wrote it: the state before the first change stays the one to restore.
        if change.before is not None and digest(change.before) == old.after:
            before = _state(folder, old.before)
        # Edited since: what undoing restores is that text without our part, so the edits survive.
        elif change.before is not None and remove_ours is not None:
            before = remove_ours(change.path, change.before, _state(folder, old.before))
    made = old.made_folders if old else tuple(str(one) for one in _missing_folders(change.path))
    return _ChangedFile(str(change.path), _keep(folder, before), _keep(folder, change.after), change.why, made)


def _undo_change(folder: Path, one: _ChangedFile, remove_ours: RemoveOurs | None) -> tuple[FileChange, ...]:
    path = Path(one.path)
    present, before, after = read_present(path), _state(folder, one.before), _state(folder, one.after)
    # The user has undone the change or deleted the file: both are respected.
    if present in (before, None):
        return ()
    if present == after:
        return change_of(path, present, before, "as it was before")
    try:
        found = (
            remove_ours(path, present, before)
            if remove_ours
            else _lines_as_before(before=before or b"", after=after or b"", present=present)
        )
        if before is not None:
            found = _keep_own(path, before, present, found)
    except CannotDo as error:
        since = diff_of(after, present, path)
        ours = diff_of(before, after, path)
        raise CannotDo(
            f"{one.path!r} was edited since, and our part cannot be recognised ({error}). Remove it by hand and try "
            f"again.\nChanged by connecting:\n{ours}Changed since:\n{since}"
        ) from error
    kept = Counter((found or b"").splitlines()) - Counter((before or b"").splitlines())
    return change_of(path, present, found, f"without our part; {plural(kept.total(), 'line')} written since {STAYS}")


def _lines_as_before(*, before: bytes, after: bytes, present: bytes) -> bytes:
    """The file with the lines that we replaced as they were; raises CannotDo if one of them was edited since."""
    pairs = zip(after.splitlines(keepends=True), before.splitlines(keepends=True), strict=True)
    replaced = [(new, old) for new, old in pairs if new != old]
    old_of, lines = dict(replaced), present.splitlines(keepends=True)
    # Each of them once: of two lines that are the same, it is not known which one was ours.
    if sorted(line for line in lines if line in old_of) != sorted(new for new, _ in replaced):
        raise CannotDo("the same lines were changed")
    return b"".join(old_of.get(line, line) for line in lines)


def _keep_own(path: Path, before: bytes, present: bytes, found: bytes | None) -> bytes:
    """What is left of a file that existed before: it stays, with the empty objects and lists it had."""
    if path.suffix != ".json":
        return found or b""
    was, now, left = (decode_text(data, path) for data in (before or b"{}", present, found or b"{}\n"))
    return keep_empty(was, now, left, path).encode()


def _write_all(changes: tuple[FileChange, ...], *, unfinished: Path) -> None:
    done: list[FileChange] = []
    try:
        for one in changes:
            _write(one.path, one.after, unfinished)
            done.append(one)
    except OSError as error:
        # All or nothing: an agent with half of its hooks would behave in a way that was never shown.
        for one in reversed(done):
            with suppress(OSError):
                _write(one.path, one.before, unfinished)
        path = changes[len(done)].path
        raise CannotDo(
            f"{str(path)!r} cannot be written ({error}), and nothing was changed. Check the permissions of its folder."
        ) from error


def _write(path: Path, data: bytes | None, unfinished: Path) -> None:
    # A symbolic link stays one: it may lead to settings under version control.
    real = path.resolve()
    if data is None:
        real.unlink(missing_ok=True)
        return
    write_atomic(real, data, unfinished=unfinished, mode=ORDINARY)


def _missing_folders(path: Path) -> list[Path]:
    """Folders that have to be created for a file, innermost first."""
    return [one for one in path.resolve().parents if not one.exists()]


def _keep(folder: Path, data: bytes | None) -> str | None:
    if data is None:
        return None
    # Named by content: the same state is stored once, and damage is noticed when it is read.
    name = digest(data)
    if not (folder / name).is_file():
        write_atomic(folder / name, data, unfinished=folder.parent / ".unfinished")
    return name


def _state(folder: Path, name: str | None) -> bytes | None:
    if name is None:
        return None
    data = read_present(folder / name)
    if data is None or digest(data) != name:
        raise CannotDo(f"The former state {str(folder / name)!r} is missing or was changed. Restore the file by hand.")
    return data


def _load(folder: Path) -> _ConnectRecord | None:
    data = read_present(folder / "record.json")
    try:
        return (
            None
            if data is None
            else msgspec.json.decode(data, type=_ConnectRecord, dec_hook=lambda kind, text: kind(text))
        )
    except msgspec.DecodeError as error:
        raise CannotDo(f"{str(folder / 'record.json')!r} cannot be read ({error}). Restore by hand.") from error


def _save(folder: Path, record: _ConnectRecord) -> None:
    data = msgspec.json.format(msgspec.json.encode(record, enc_hook=str))
    write_atomic(folder / "record.json", data, unfinished=folder.parent / ".unfinished")


def reviewing_python(agent: str, *, home: Path) -> str | None:
    """A Python whose Seasoned can review: this one, else that with which the agent was connected."""
    record = _load(home / "connect" / agent)
    return _python() or (None if record is None else record.python)


def _python() -> str | None:
    # Looked for without importing it, which takes a second.
    return None if find_spec("pydantic_ai") is None else sys.executable


def own_programs() -> Path:
    """The absolute folder with `seasoned` and `seasoned-hook`: an agent may have another PATH."""
    return Path(sys.executable).parent
