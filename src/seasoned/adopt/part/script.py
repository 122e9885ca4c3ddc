"""Scripts of jobs: copied into the folder that jobs may run scripts from."""

from __future__ import annotations

import stat
from functools import partial
from pathlib import Path

from seasoned.adopt.context import AdoptContext
from seasoned.adopt.record import AdoptFinding, AdoptItem, TakenItem, read_bytes
from seasoned.atomic_write import digest, write_atomic
from seasoned.errors import SeasonedError
from seasoned.schedule.script import FOLDER

_MOST_BYTES = 5_000_000


def survey(context: AdoptContext) -> list[AdoptFinding]:
    """Each file below `scripts`, with its path here."""
    return [_finding(context, path) for path in context.found.scripts]


def new_path(context: AdoptContext, path: Path) -> Path:
    """What a script is called here: as it was, unless another script has that path."""
    known = context.record.find("script", str(context.found.script_folder / path))
    if known is not None:
        return Path(known.name)
    here = read_bytes(context.home / FOLDER / path)
    if here is None or here == read_bytes(context.found.script_folder / path):
        return path
    return path.with_name(f"hermes-{path.name}")


def _finding(context: AdoptContext, path: Path) -> AdoptFinding:
    source = context.found.script_folder / path
    try:
        data = read_bytes(source) or b""
        name = new_path(context, path)
        known = context.record.find("script", str(source))
        target = context.home / FOLDER / name
        if known is not None and known.digest == digest(data):
            return AdoptFinding(AdoptItem("script", str(name), str(source), "taken"))
        if known is None and read_bytes(target) == data:
            return AdoptFinding(
                AdoptItem("script", str(name), str(source), "taken", ("The same file is here already.",))
            )
        if len(data) > _MOST_BYTES:
            raise ValueError(f"It has more than {_MOST_BYTES // 1_000_000} MB.")
        # An edit here must not be lost to a newer file there.
        if known is not None and digest(read_bytes(target) or b"") != known.digest:
            raise ValueError("It was edited here since it was taken over, and there too. Copy it by hand.")
    except (SeasonedError, ValueError) as error:
        return AdoptFinding(AdoptItem("script", str(path), str(source), "left out", (str(error),)))
    notes = () if name == path else (f"There is another {str(path)!r} here already.",)
    item = AdoptItem("script", str(name), str(source), "new" if known is None else "changed", notes)
    return AdoptFinding(item, partial(_take, context, item, data))


def _take(context: AdoptContext, item: AdoptItem, data: bytes) -> tuple[TakenItem, tuple[str, ...]]:
    target = context.home / FOLDER / item.name
    # As runnable as it was, and writable by its owner alone: the scheduler refuses other scripts.
    mode = 0o700 if Path(item.source).stat().st_mode & stat.S_IXUSR else 0o600
    write_atomic(target, data, unfinished=context.home / "unfinished", mode=mode)
    return TakenItem("script", item.name, item.source, digest(data), {"path": str(target)}), ()


def undo(taken: TakenItem) -> str | None:
    """Remove the copy, unless it was edited."""
    target = Path(taken.detail["path"])
    here = read_bytes(target)
    if here is None:
        return None
    if digest(here) != taken.digest:
        return f"The script {str(target)!r} was edited since and stays."
    target.unlink()
    return None
