"""Templates of warm_sessions and session-templates. Every call in them is judged by its result."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from seasoned.adopt.context import AdoptContext
from seasoned.adopt.record import AdoptFinding, AdoptItem, TakenItem, read_bytes
from seasoned.atomic_write import digest
from seasoned.errors import SeasonedError
from seasoned.store import Store
from seasoned.template.example import name_from, name_key
from seasoned.template.library.exchange import MOST_BYTES, ImportedTemplate, read_template
from seasoned.template.library.storage import discard, is_empty, save_imported
from seasoned.text import plural


def survey(context: AdoptContext) -> list[AdoptFinding]:
    """Each file, with the name that its template gets here."""
    used = {name_key(row["name"]) for row in context.store.rows("template.names")}
    used |= {name_key(one.name) for one in context.record.items if one.kind == "template"}
    return [_finding(context, path, used) for path in context.found.templates]


def _finding(context: AdoptContext, path: Path, used: set[str]) -> AdoptFinding:
    source = str(path)
    try:
        data = (read_bytes(path) or b"")[: MOST_BYTES + 1]
        known = context.record.find("template", source)
        if known is not None and known.digest == digest(data):
            return AdoptFinding(AdoptItem("template", known.name, source, "taken"))
        name = known.name if known is not None else _free_name(data, path.stem, used)
        read = read_template(data, redactor=context.redactor, now=context.now, name=name, place=source)
    except SeasonedError as error:
        return AdoptFinding(AdoptItem("template", path.stem, source, "left out", (str(error),)))
    if is_empty(read.template):
        return AdoptFinding(
            AdoptItem("template", name, source, "left out", ("Nothing in it can be shown.", *_notes(read)))
        )
    used.add(name_key(name))
    item = AdoptItem("template", name, source, "new" if known is None else "changed", _notes(read))
    return AdoptFinding(item, partial(_take, context, read, item, digest(data), known))


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
    # Saved under the same name it would be the next version of something else, and hide it.
    number = 1
    while name_key(name := name_from(f"{wanted}-hermes" + (f"-{number}" if number > 1 else ""))) in used:
        number += 1
    return name


def _notes(read: ImportedTemplate) -> tuple[str, ...]:
    count = len(read.template.examples)
    notes = [f"{plural(count, 'call')}, unverified until seen to work here."] if count else []
    if read.unproven:
        notes.append(f"{len(read.unproven)} of them held back: their results do not show that they worked.")
    if read.left_out:
        reasons = ", ".join(f"{number} {reason}" for reason, number in read.left_out.items())
        notes.append(f"Left out: {reasons}.")
    return tuple(notes)


def _take(
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


def undo(store: Store, taken: TakenItem) -> str | None:
    """Remove the versions that were taken over; one that was built here since stays."""
    discard(store, taken.name, taken.detail["versions"])
    return None
