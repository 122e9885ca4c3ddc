"""The audit of the first confirmation service: it becomes an archive that `confirm audit` can show."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from seasoned.adopt.context import AdoptContext
from seasoned.adopt.record import AdoptFinding, AdoptItem, TakenItem, read_bytes
from seasoned.atomic_write import digest
from seasoned.confirm.audit.archive import ArchivedRequest, archive_folder, read_audit, write_archive
from seasoned.errors import SeasonedError
from seasoned.text import plural


def survey(context: AdoptContext) -> list[AdoptFinding]:
    """Each audit database, with how much is in it."""
    return [_finding(context, path) for path in context.found.audits]


def _finding(context: AdoptContext, path: Path) -> AdoptFinding:
    source = str(path)
    try:
        # What is not in the file yet lies in the log beside it.
        mark = digest((read_bytes(path) or b"") + (read_bytes(path.with_name(f"{path.name}-wal")) or b""))
        known = context.record.find("audit", source)
        if known is not None and known.digest == mark:
            return AdoptFinding(AdoptItem("audit", known.name, source, "taken"))
        requests = read_audit(path, redactor=context.redactor)
    except SeasonedError as error:
        return AdoptFinding(AdoptItem("audit", path.name, source, "left out", (str(error),)))
    if not requests:
        return AdoptFinding(AdoptItem("audit", path.name, source, "left out", ("It holds no requests.",)))
    notes = (f"{plural(len(requests), 'request')}, to read with `seasoned confirm audit --archive`.",)
    item = AdoptItem("audit", path.name, source, "new" if known is None else "changed", notes)
    return AdoptFinding(item, partial(_take, context, requests, item, mark))


def _take(
    context: AdoptContext, requests: list[ArchivedRequest], item: AdoptItem, mark: str
) -> tuple[TakenItem, tuple[str, ...]]:
    file = archive_folder(context.home) / f"{Path(item.name).stem}-{digest(item.source)[:8]}.jsonl"
    write_archive(file, requests, unfinished=context.home / "unfinished")
    return TakenItem("audit", item.name, item.source, mark, {"path": str(file)}), ()


def undo(taken: TakenItem) -> str | None:
    """Remove the archive; the database of the first version was never changed."""
    Path(taken.detail["path"]).unlink(missing_ok=True)
    return None
