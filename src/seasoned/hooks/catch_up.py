"""SessionStart: a new session knows what earlier ones taught, even those that were killed.

The background process does the reading. The agent waits for it a moment, and starts without it if that takes longer.
"""

from __future__ import annotations

import json
import os
import time

from seasoned.digest import short_digest
from seasoned.learn_queue import begin, folder, is_running, note, wait_until_learned, waiting
from seasoned.learn_queue import catch_up as finish_waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# How long a start may wait for new sessions to be learned from.
LIMIT_SECONDS = 1.0
# A file that was written just now belongs to a running session: it is read, but not waited for.
_ACTIVE_SECONDS = 10.0
# How often all histories of this user are checked, including those of agents that are not connected.
_LOOK_AGAIN_SECONDS = 3600.0
_EVERYTHING = "everything"
_BEGINS = ("startup", "clear")
# How many levels above a session's file the histories begin: Codex has folders for year, month and day.
_LEVELS = {"claude-code": 1, "codex": 4, "gemini": 1, "qwen": 1}


def catch_up(home: str, agent: str, event: bytes) -> None:
    """Start learning from new sessions before this one begins, and wait a moment for that."""
    begun: Any = json.loads(event)
    if begun.get("source") not in _BEGINS or begun.get("agent_id"):
        return
    transcript = str(begun.get("transcript_path") or "")
    if is_running(home) or waiting(home):
        finish_waiting(home, LIMIT_SECONDS)
        return
    now = time.time()
    changed = _changed_at(agent, transcript, _read_at(home, root_of(agent, transcript))) if transcript else 0.0
    if changed:
        note(home, "files", agent=agent, path=transcript)
    if now - _read_at(home, _EVERYTHING) > _LOOK_AGAIN_SECONDS:
        note(home, "everything")
    if waiting(home):
        begin(home)
        if changed and now - changed > _ACTIVE_SECONDS:
            wait_until_learned(home, LIMIT_SECONDS)


def root_of(agent: str, transcript: str) -> str:
    """The folder with the histories that are read when one of them has changed."""
    for _ in range(_LEVELS.get(agent, 0)):
        transcript = os.path.dirname(transcript)
    return transcript


def set_read(home: str, roots: Iterable[str], at: float, *, everything: bool) -> None:
    """Remember up to which time these folders were read."""
    for root in (*roots, *([_EVERYTHING] if everything else [])):
        path = _stamp(home, root)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(path, (at, at))


def _read_at(home: str, root: str) -> float:
    """The time up to which a folder was read; 0 if it never was."""
    found = 0.0
    for name in (root, _EVERYTHING):
        try:
            found = max(found, os.stat(_stamp(home, name)).st_mtime)
        except OSError:
            continue
    return found


def _stamp(home: str, root: str) -> str:
    return os.path.join(folder(home), "read", short_digest(root))


def _changed_at(agent: str, transcript: str, read_at: float) -> float:
    """When another session near this one was last written to, if that was after `read_at`; else 0."""
    newest = 0.0
    for place in _near(agent, transcript):
        try:
            entries = list(os.scandir(place))
        except OSError:
            continue
        for entry in entries:
            if entry.name.endswith(".jsonl") and entry.path != transcript:
                newest = max(newest, entry.stat().st_mtime)
    return newest if newest > read_at else 0.0


def _near(agent: str, transcript: str) -> list[str]:
    """The folders to check: that of the session; for Codex also the day before."""
    here = os.path.dirname(transcript)
    if agent != "codex":
        return [here]
    month = os.path.dirname(here)
    try:
        days = sorted(name for name in os.listdir(month) if name.isdigit())
    except OSError:
        return [here]
    return [os.path.join(month, day) for day in days[-2:]]
