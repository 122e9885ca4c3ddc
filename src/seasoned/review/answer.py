"""What a review may answer, and what is done with it: notes, skills and rules of the person, each checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from seasoned.begin.memory import SKILLS as SKILL_FOLDER
from seasoned.begin.memory import MemoryName, project_folder
from seasoned.lesson.rule import REVIEWED
from seasoned.redact.key import Secrecy
from seasoned.review import memory_file as memories
from seasoned.review import skill_edit
from seasoned.review.journal import ChangeJournal, ChangeKind, Provenance, WriteReply
from seasoned.review.overlap import ForeignTexts
from seasoned.review.skill_library import MAIN, ids
from seasoned.scan.intent import users_words
from seasoned.scan.spoken_rule import same_rule
from seasoned.session import Session, SessionRef
from seasoned.store import open_store


class NoteAnswer(msgspec.Struct, frozen=True):
    """A change of memory."""

    action: Literal["add", "replace", "remove"]
    target: MemoryName
    text: str
    old_text: str


class SkillAnswer(msgspec.Struct, frozen=True):
    """A change of a skill."""

    action: Literal["create", "patch", "write_file"]
    name: str
    description: str
    text: str
    old_text: str
    file: str
    scope: Literal["project", "everywhere"]


class RuleAnswer(msgspec.Struct, frozen=True):
    """What the user wants in this project from now on, and the user's sentence."""

    text: str
    quote: str


class ReviewAnswer(msgspec.Struct, frozen=True):
    """Everything that a review proposes."""

    notes: list[NoteAnswer]
    skills: list[SkillAnswer]
    rules: list[RuleAnswer]
    said: str


def answer_schema() -> dict[str, Any]:
    """The JSON schema of an answer: every field required and nothing else, as strict APIs want it."""
    (whole,), parts = msgspec.json.schema_components([ReviewAnswer], ref_template="{name}")

    def inline(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return inline(parts[value["$ref"]])
            kept = {key: inline(one) for key, one in value.items() if key not in ("title", "description")}
            # `description` is also a field of a skill.
            if "properties" in value:
                kept["properties"] = {key: inline(one) for key, one in value["properties"].items()}
                kept["additionalProperties"] = False
            if "enum" in value:
                kept["type"] = "string"
            return kept
        return [inline(one) for one in value] if isinstance(value, list) else value

    found: dict[str, Any] = inline(whole)
    return found


@dataclass(frozen=True, kw_only=True)
class Context:
    """Where a review writes, and on whose behalf."""

    home: Path
    secrecy: Secrecy
    memory_folder: Path
    skill_folder: Path
    # Names of sessions are `agent:native id`; the parent is the session that is reviewed.
    session: str | None = None
    parent: str | None = None
    platform: str | None = "cli"
    # The key of its project, whose notes and skills it reads and writes; None if it has none.
    project: str | None = None
    task: str | None = None
    # The kinds of changes that wait until a person accepts them.
    staged: tuple[ChangeKind, ...] = ()
    # The texts of the session, and whether everything waits if it read web pages.
    foreign: ForeignTexts | None = None
    stage_pages: bool = True

    @property
    def store_path(self) -> Path:
        return self.home / "seasoned.db"

    @property
    def project_folder(self) -> Path | None:
        """Where notes and skills of its project are."""
        return None if self.project is None else project_folder(self.home, self.project)

    @property
    def skill_folders(self) -> dict[str, Path]:
        """Where the skills are that the session has: of its project first."""
        own = self.project_folder
        return {**({} if own is None else {"project": own / SKILL_FOLDER}), "everywhere": self.skill_folder}

    @contextmanager
    def journal(self, *, skill_folder: Path | None = None) -> Iterator[ChangeJournal]:
        """A journal with its own connection to the store."""
        with open_store(self.store_path) as store:
            yield ChangeJournal(
                store=store,
                redactor=self.secrecy.redactor(),
                home=self.home,
                memory_folder=self.memory_folder,
                skill_folder=skill_folder or self.skill_folder,
                notes_folder=self.project_folder,
                staged=self.staged,
                foreign=self.foreign,
                stage_pages=self.stage_pages,
            )


def carry_out(answer: ReviewAnswer, context: Context, session: Session) -> tuple[list[WriteReply], int]:
    """Make the changes that an answer proposes; the replies, and the number of rules that were kept."""
    replies = [_write_note(note, context, _by(context, "memory", at)) for at, note in enumerate(answer.notes)]
    replies += [_write_skill(skill, context, _by(context, "skill", at)) for at, skill in enumerate(answer.skills)]
    return replies, _keep_rules(answer.rules, context, session)


def _by(context: Context, tool: str, at: int) -> Provenance:
    return Provenance(
        actor="review",
        origin="review",
        session=context.session,
        parent=context.parent,
        platform=context.platform,
        tool=tool,
        call_id=f"{tool} {at}",
        task=context.task,
    )


def _write_note(note: NoteAnswer, context: Context, by: Provenance) -> WriteReply:
    with context.journal() as journal:
        if note.action == "add":
            return memories.add(journal, note.target, note.text, by=by)
        if note.action == "replace":
            return memories.replace(journal, note.target, note.old_text, note.text, by=by)
        return memories.remove(journal, note.target, note.old_text, by=by)


def _write_skill(skill: SkillAnswer, context: Context, by: Provenance) -> WriteReply:
    folders = context.skill_folders
    if skill.action == "create":
        with context.journal(skill_folder=folders.get(skill.scope)) as journal:
            return skill_edit.create(journal, skill.name, skill.text, description=skill.description, by=by)
    names = {name: folder for folder in reversed(folders.values()) for name in ids(folder)}
    with context.journal(skill_folder=names.get(skill.name)) as journal:
        if skill.action == "patch":
            return skill_edit.patch(journal, skill.name, skill.old_text, skill.text, file=skill.file or MAIN, by=by)
        return skill_edit.write_file(journal, skill.name, skill.file, skill.text, by=by)


def _keep_rules(rules: list[RuleAnswer], context: Context, session: Session) -> int:
    """Keep what the user really said; wording that says more than the quote is replaced by the quote."""
    redactor = context.secrecy.redactor()
    said = [" ".join(redactor.text(words).split()) for one in session.messages if (words := _by_user(one))]
    found = []
    for rule in rules:
        quote = " ".join(rule.quote.split()).strip(" \"'“”")
        if any(quote in words for words in said) and (kept := same_rule(rule.text, quote)) is not None:
            found.append(kept)
    if not found:
        return 0
    with open_store(context.store_path) as store, store.write():
        ref: SessionRef = session.ref
        row = store.row("session.find_ref", {"agent": ref.agent, "native_id": ref.native_id})
        if row is None:
            return 0
        for kept in found:
            # Where notes wait, a person decides, as about any candidate.
            lasts = 1 if "memory" in context.staged else REVIEWED
            params = {"session_id": row["id"], "key": kept.key, "text": kept.text, "lasts": lasts, "said_at": None}
            store.run("rule.save", params)
    return len(found)


def _by_user(message: Any) -> str:
    return (users_words(message) or "") if message.role == "user" and not message.synthetic else ""
