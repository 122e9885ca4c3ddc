"""The instructions of a review: texts in files, which a person can replace by their own."""

from __future__ import annotations

from pathlib import Path

from seasoned.agent.memory import frozen
from seasoned.agent.review.due import Topic
from seasoned.agent.skill import index
from seasoned.errors import CannotDo
from seasoned.redact import Redactor

_FOLDER = Path(__file__).parent / "instructions"
_LONGEST = 50_000


def instructions(topic: Topic, own: Path | None = None) -> str:
    """The instructions for a topic: the file `<topic>.md` of the folder given, else ours."""
    if own is not None and (text := _own(own / f"{topic}.md")):
        return text
    return (_FOLDER / f"{topic}.md").read_text("utf-8").strip()


def digest_instructions() -> str:
    """What a model is told that was not there when the session happened."""
    return (_FOLDER / "digest.md").read_text("utf-8").strip()


def prompt_of(text: str, *, memory_folder: Path, skill_folder: Path, redactor: Redactor) -> str:
    """The instructions, and what is kept already: the conversation shows it only as it was at its start."""
    kept = frozen(memory_folder, redactor=redactor) or "(empty)"
    known = index(skill_folder, redactor=redactor) or "(none yet)"
    return f"{text}\n\n## What is kept now\n\nMemory:\n\n{kept}\n\nSkills:\n\n{known}"


def _own(path: Path) -> str | None:
    try:
        text = path.read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"The instructions {str(path)!r} cannot be read: {error}.") from error
    if len(text) > _LONGEST:
        raise CannotDo(f"The instructions {str(path)!r} have {len(text):,} characters, {_LONGEST:,} at most.")
    return text or None
