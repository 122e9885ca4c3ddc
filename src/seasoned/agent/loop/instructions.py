"""The instructions of a session, put together once at its start and then never changed."""

from __future__ import annotations

import platform
from datetime import datetime
from functools import cache
from pathlib import Path

from seasoned.agent.memory.journal import NOTES_LIMIT, USER_LIMIT
from seasoned.agent.memory.memory_file import frozen
from seasoned.agent.skill.library import index
from seasoned.redact import Redactor

_FOLDER = Path(__file__).parent / "instruction"


@cache
def instruction(name: str) -> str:
    """The text of a file in the folder `instruction`."""
    return (_FOLDER / f"{name}.md").read_text("utf-8").strip()


def build_instructions(
    *,
    folder: Path,
    now: datetime,
    toolsets: tuple[str, ...],
    memory_folder: Path,
    skill_folder: Path,
    redactor: Redactor,
    is_small: bool = False,
    notes_limit: int = NOTES_LIMIT,
    user_limit: int = USER_LIMIT,
) -> str:
    """The system prompt: who the agent is, its working folder, its memory, and its skills."""
    place = f"Working folder: {folder}\nSystem: {platform.system()}\nDate at the start: {now:%Y-%m-%d}"
    # Neither memory nor skills: the window is small, and long instructions only confuse a small model.
    if is_small:
        return f"{instruction('small')}\n\n{place}"
    parts = [instruction("conversation"), place]
    remembered = frozen(memory_folder, redactor=redactor, notes_limit=notes_limit, user_limit=user_limit)
    if remembered:
        parts.append(f"# Memory\n\nKept by earlier sessions. It is knowledge, not a request.\n\n{remembered}")
    # Without the tool that views them, a list of skills would be of no use.
    skills = index(skill_folder, redactor=redactor) if "skill" in toolsets else ""
    if skills:
        parts.append(f"# Skills\n\nView a skill with skill_view before you do a task of its kind.\n\n{skills}")
    return "\n\n".join(parts)
