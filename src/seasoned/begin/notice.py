"""The line that a user sees when a session was shown something, or when something was kept."""

from __future__ import annotations

import time

from seasoned.begin.memory import Remembered
from seasoned.store import Store
from seasoned.text import plural

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
    return f"Seasoned kept from earlier sessions: {cut}. See them: seasoned memory --history, seasoned skill --history"


def _more(conversation: str) -> str:
    agent, _, native = conversation.partition(":")
    # What can be typed where Hermes is installed, whichever environment that is.
    program = "hermes seasoned" if agent == "hermes" else "seasoned"
    return f"Details: {program} receipt {native[: _ID_CHARS.get(agent, 40)]}"
