"""The command with which a person continues a recorded session in its own agent."""

from __future__ import annotations

import re
import shlex

# How each agent continues one of its sessions.
_COMMANDS = {
    "claude-code": "claude --resume {id}",
    "codex": "codex resume {id}",
    "hermes": "hermes --resume {id}",
    "opencode": "opencode --session {id}",
    "pi": "pi --session {id}",
    "gemini": "gemini --resume {id}",
    "copilot": "copilot --resume={id}",
}
# Agents whose sessions are found from any folder.
_ANYWHERE = frozenset({"hermes"})
# An id is pasted into a terminal, and a history may come from anywhere.
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{3,79}")


def resume_words(agent: str, native_id: str) -> list[str] | None:
    """The program and its arguments; None for other agents, and where the id is not plain text."""
    command = _COMMANDS.get(agent)
    # A side chain cannot be continued: its id is not plain.
    if command is None or not _PLAIN_ID.fullmatch(native_id):
        return None
    return command.format(id=native_id).split()


def resume_command(agent: str, native_id: str, folder: str | None) -> str | None:
    """`cd FOLDER && claude --resume ID` for a shell; None where there is none, or the folder is not plain text."""
    words = resume_words(agent, native_id)
    if words is None:
        return None
    if folder is None or agent in _ANYWHERE:
        return " ".join(words)
    return f"cd {shlex.quote(folder)} && {' '.join(words)}" if folder.isprintable() else None
