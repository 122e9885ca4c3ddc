"""Reviews for tests: a session, real stores, and a model that plays a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seasoned.begin.memory import MemoryName, read
from seasoned.config import Config
from seasoned.redact.key import Secrecy
from seasoned.review.answer import Context
from seasoned.review.due import Reviewer
from seasoned.review.ledger import Review, reviews
from seasoned.review.run import review_session
from seasoned.session import Message, Session, SessionRef
from seasoned.store import Store, open_store
from tests.scripted_model import Answer, Step, serve_script

NOW = 1_790_000_000.0
SECRECY = Secrecy(b"k" * 32)
STEPS = "1. Run the build.\n2. Read the first error.\n"
MODEL = Reviewer("model")
Proposal = dict[str, str]


def note(text: str, target: str = "notes", *, action: str = "add", old: str = "") -> Proposal:
    return {"action": action, "target": target, "text": text, "old_text": old}


def skill(name: str, text: str = STEPS, *, action: str = "create", **more: str) -> Proposal:
    empty = {"description": "Do it.", "old_text": "", "file": "", "scope": "project"}
    return {**empty, "action": action, "name": name, "text": text, **more}


def rule(text: str, quote: str) -> Proposal:
    return {"text": text, "quote": quote}


def data(*proposals: Proposal, said: str = "Kept.") -> dict[str, Any]:
    """An answer with these proposals."""
    notes = [one for one in proposals if "target" in one]
    skills = [one for one in proposals if "name" in one]
    return {"notes": notes, "skills": skills, "rules": [one for one in proposals if "quote" in one], "said": said}


def answer(*proposals: Proposal, said: str = "Kept.") -> str:
    return json.dumps(data(*proposals, said=said))


def context_at(home: Path, **more: Any) -> Context:
    values = {
        "home": home,
        "secrecy": SECRECY,
        "memory_folder": home / "memory",
        "skill_folder": home / "skills",
        "platform": "test",
    }
    return Context(**{**values, **more})


def session_about(*said: str) -> Session:
    """A session of one turn."""
    prompts = tuple(Message("user", text) for text in said)
    return Session(SessionRef("codex", "s1"), "codex", "", (*prompts, Message("assistant", "Done.")))


def open_at(home: Path) -> Store:
    return open_store(home / "seasoned.db")


def review_now(
    home: Path, session: Session, step: Step | Answer, *, context: Context | None = None, **settings: Any
) -> Review:
    """One review of a session by a model that gives this answer."""
    with serve_script(step) as server:
        given = {name if name == "inbox_accepts" else f"review_{name}": value for name, value in settings.items()}
        config = Config(home=home, model="scripted", base_url=server.base_url, **given)
        return review_session(config, context or context_at(home), session, MODEL)


def notes_of(home: Path, which: MemoryName = "notes") -> list[str]:
    return list(read(home / "memory", which).entries)


def ledger_of(home: Path) -> list[Review]:
    with open_at(home) as store:
        return reviews(store, now=NOW)
