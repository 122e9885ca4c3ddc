"""What a session begins with besides examples: the sheet of its project and memory; and the line a user sees."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from seasoned.begin.memory import MemoryPlaces, Remembered, remembered
from seasoned.config import Config, WarmSettings
from seasoned.digest import short_digest
from seasoned.example.library.storage import WarmBlock, find_block, keep_block
from seasoned.lesson.ask import lookup_for
from seasoned.lesson.lesson import Lesson
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS
from seasoned.store import Store
from seasoned.store.project import project_of_conversation
from seasoned.text import plural

if TYPE_CHECKING:
    from seasoned.redact import Redactor


# The name of sheets among the blocks of templates. No template can have it, because of the slash.
SHEET = "project/sheet"


def begin_with_sheet(
    store: Store, session_id: str, folder: str | None, settings: WarmSettings, *, now: float
) -> bytes | None:
    """What a session begins with if neither a template nor an experiment decides.

    `warm_start.begin` gives the same, but imports everything that templates need, which takes a hook too long.
    """
    if not settings.tells("start"):
        return None
    block, _ = ensure_sheet(store, session_id, folder, now=now)
    return None if block is None else block.content


def ensure_sheet(
    store: Store, session_id: str, folder: str | None, *, now: float
) -> tuple[WarmBlock, bool] | tuple[None, bool]:
    """The sheet of a conversation, and whether it is new: made at its start and stored. None if nothing is known."""
    known = find_block(store, session_id, "text")
    if known is not None:
        return known, False
    lookup = lookup_for(store, session_id, folder)
    text, lines = ("", ()) if lookup is None else lookup.sheet()
    if lookup is None or not text:
        return None, False
    kept = _kept(store, session_id, text, line_ids(lines), now)
    lookup.tell_once("start", text)
    return kept, True


def line_ids(lines: Iterable[Lesson]) -> tuple[str, ...]:
    """The names of lines in the logs of experiments; a line has the same name in every session."""
    return tuple(f"sheet:{short_digest(line.key)}" for line in lines)


def sheet_ids(store: Store, session_id: str, folder: str | None) -> tuple[str, ...]:
    """What a session would be shown at its start; nothing is kept."""
    lookup = lookup_for(store, session_id, folder)
    return () if lookup is None else line_ids(lookup.sheet()[1])


def _kept(store: Store, session_id: str, text: str, ids: tuple[str, ...], now: float) -> WarmBlock:
    name = short_digest(text)
    content = f"{BLOCK_OPENS}v1 {SHEET}@1 {name}]\n{text}\n{BLOCK_ENDS}".encode()
    return keep_block(store, WarmBlock(session_id, "text", "text", SHEET, 1, ids, content, name, now))


PLACE = "memory"
MEMORY_OPENS = "[seasoned:memory]"


def find_memory(store: Store, session_id: str) -> Remembered | None:
    """What a conversation was shown when it began, without counts: they are news no longer. None for nothing."""
    row = store.row("receipt.shown", {"conversation": session_id, "place": PLACE})
    return None if row is None else Remembered(_marked(row["text"]))


def begin_with_memory(
    store: Store,
    config: Config,
    session_id: str,
    settings: WarmSettings,
    *,
    folder: str | None = None,
    project: str | None = None,
    now: float,
) -> Remembered | None:
    """The memory that a session begins with, made and stored at its start; None for nothing.

    A session in a folder belongs to the project of that folder; `project` is for callers that know only its key. A
    session without a project sees only what is known about the user.
    """
    known = find_memory(store, session_id)
    if known is not None or not settings.tells("memory"):
        return known
    key = project_of_conversation(store, session_id, folder) if folder else project
    places = MemoryPlaces(config.home, config.memory_folder, key)
    made = remembered(store, places, lambda: _redactor(config))
    if made is None:
        return None
    row = {"conversation": session_id, "project": key or "", "place": PLACE, "text": made.text, "told_at": now}
    with store.write():
        store.run("receipt.tell", {**row, "digest": short_digest(made.text)})
    return msgspec.structs.replace(made, text=_marked(made.text))


def _marked(text: str) -> str:
    return f"{MEMORY_OPENS}\n{text}\n{BLOCK_ENDS}"


def _redactor(config: Config) -> Redactor:
    # Imported here: only needed when memory has changed since the last session.
    from seasoned.redact.key import Secrecy, load_key

    return Secrecy(load_key(config.home), config.redact).redactor()


_MOST_CHARS = 160
# What was kept longer ago is no longer news.
_NEWS_SECONDS = 7 * 24 * 3600.0
# How the line of a review begins that waits for a decision; it names the command that shows it.
_WAITS = "Waiting for you"
# Ids of Codex begin with the time, so their beginnings are alike.
_ID_CHARS = {"claude-code": 8, "codex": 13}


def start_notice(conversation: str, commands: int, memory: Remembered | None, *, examples: int = 0) -> str:
    """The line after a session began; empty if it was shown nothing."""
    shown = [plural(commands, "command") + " of this project"] if commands else []
    shown += [plural(examples, "example")] if examples else []
    if memory is not None:
        shown += [plural(memory.notes, "note")] if memory.notes else []
        shown += ["what is known about you"] if memory.user else []
        shown += [plural(memory.skills, "skill")] if memory.skills else []
    if not shown:
        return ""
    listed = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    return f"Seasoned showed this session {listed}. {_more(conversation)}"


def hint_notice(conversation: str, text: str) -> str:
    """The line after a hint at a prompt or a call."""
    flat = " ".join(text.split()).rstrip(".")
    cut = flat if len(flat) <= _MOST_CHARS else flat[: _MOST_CHARS - 1] + "…"
    return f"Seasoned told the agent: {cut}. {_more(conversation)}"


def kept_notice(store: Store, agent: str) -> str:
    """What reviews of this agent's sessions kept since the last time; each is said once. Empty for nothing."""
    now = time.time()
    rows = store.rows("receipt.news", {"agent": agent, "since": now - _NEWS_SECONDS})
    if not rows:
        return ""
    said = []
    with store.write():
        for row in rows:
            text = row["said"] or "something was kept"
            told = {"conversation": row["session"], "project": "", "place": "kept", "text": text, "told_at": now}
            # Another hook of the same moment may have said it.
            if store.run("receipt.tell", {**told, "digest": f"review {row['id']}"}):
                said.append(text.removeprefix("Kept: "))
    if not said:
        return ""
    flat = " ".join("; ".join(said).split())
    cut = flat if len(flat) <= _MOST_CHARS else flat[: _MOST_CHARS - 1] + "…"
    if all(one.startswith(_WAITS) for one in said):
        return f"Seasoned learned from earlier sessions. {cut}"
    return f"Seasoned kept from earlier sessions: {cut}. See them: seasoned memory --history"


def _more(conversation: str) -> str:
    agent, _, native = conversation.partition(":")
    # What can be typed where Hermes is installed, whichever environment that is.
    program = "hermes seasoned" if agent == "hermes" else "seasoned"
    return f"Details: {program} receipt {native[: _ID_CHARS.get(agent, 40)]}"
