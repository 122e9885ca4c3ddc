"""The vocabulary of templates: examples, and the template that holds them. Frozen values, no I/O."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Literal

import msgspec

from seasoned.command.tool import TaskType
from seasoned.digest import short_digest
from seasoned.errors import UsageError

ExampleKind = Literal["init", "sequence", "recovery", "final"]
# How much an example is trusted: mined from this user's histories, recorded by Seasoned, or imported from a file.
Tier = Literal["own", "recorded", "imported"]
INTENT_CHARS = 200
RESULT_CHARS = 500


class Source(msgspec.Struct, frozen=True, order=True):
    """Where an example comes from: one call of one session."""

    session: str  # `agent:native id`
    call: str
    root: str  # the lineage: support counts lineages, so that a fork does not count twice
    time: float | None = None


class Repaired(msgspec.Struct, frozen=True):
    """What a recovery repaired: evidence for people, never shown to a session."""

    arguments: str  # of the failed call, as JSON
    signature: str  # its error, with what varies masked
    changed: tuple[str, ...]


class Example(msgspec.Struct, frozen=True):
    """A call that worked, ready to be shown: redacted, short, and without any orders."""

    tool: str
    arguments: str  # JSON with sorted keys
    result: str
    intent: str
    kind: ExampleKind
    pattern: str  # calls of one tool whose arguments are alike share a pattern
    support: int = 1  # lineages in which calls of this pattern worked
    sources: tuple[Source, ...] = ()
    first_seen: float | None = None
    last_seen: float | None = None
    tier: Tier = "own"
    # How often calls of this tool fail in the mined sessions: tools that fail most are shown first.
    error_rate: float | None = None
    # The actions that a person must have allowed before it is shown: a call that moves money looks approved.
    needs: tuple[str, ...] = ()
    repaired: Repaired | None = None

    @property
    def id(self) -> str:
        """A digest of what is shown, so that equal examples have equal ids everywhere."""
        return short_digest(self.tool, self.arguments, self.result, self.intent)


class TemplateMetrics(msgspec.Struct, frozen=True):
    """What mining saw and kept."""

    sessions_scanned: int = 0
    sessions_qualified: int = 0
    calls_seen: int = 0
    repairs_found: int = 0
    dropped_unclean: int = 0  # examples that still looked as if they held a secret, or that spoke to the reader
    avg_proficiency_gain: float | None = None


class Template(msgspec.Struct, frozen=True):
    """What was learned from good sessions, under a name and a version."""

    name: str
    version: int = 1
    description: str = ""
    task_type: TaskType | None = None
    tags: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    addendum: str = ""  # goes into the opening of the block, never into the caller's own system message
    sources: tuple[str, ...] = ()  # sessions, as `agent:native id`
    created_at: float = 0.0
    metrics: TemplateMetrics = TemplateMetrics()

    @property
    def mark(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"


def content_digest(template: Template) -> str:
    """A digest of what a template shows, the same under any name and on any machine."""
    return short_digest(template.addendum, *[one.id for one in template.examples], size=16)


MAX_AGE_DAYS = 180.0
DAY_SECONDS = 86400.0
# Names of templates that were built without being asked for begin so.
AUTO_PREFIX = "auto-"


def seen_at(example: Example) -> float | None:
    """When it was last seen to work; None if unknown."""
    return example.last_seen if example.last_seen is not None else example.first_seen


def ages_at(template: Template, example: Example, vouched: float | None = None) -> float | None:
    """When it becomes too old; None if never. `vouched` is when a person last restored it."""
    seen = seen_at(example) if template.name.startswith(AUTO_PREFIX) else None
    return None if seen is None else max(seen, vouched or seen) + MAX_AGE_DAYS * DAY_SECONDS


def age_reason(example: Example, now: float) -> tuple[str, dict[str, Any]]:
    """Why it is too old, in words and figures."""
    seen = seen_at(example) or 0.0
    days = (now - seen) / DAY_SECONDS
    reason = f"It was last seen to work {days:.0f} days ago (limit: {MAX_AGE_DAYS:g})."
    return reason, {"last_seen": seen, "days": round(days, 1)}


MAX_NAME_CHARS = 64
# A file of this name stays in its folder, and its name fits into every file system.
_NAME = re.compile(r"\w[\w-]*(?:\.[\w-]+)*\Z")
_LONGEST_BYTES = 200
_NOT_IN_A_NAME = re.compile(r"[^\w-]+")


def check_name(name: str) -> str:
    """The name as it is stored (NFKC); UsageError says what is allowed."""
    kept = unicodedata.normalize("NFKC", name[: 4 * MAX_NAME_CHARS])
    fits = len(kept) <= MAX_NAME_CHARS and len(kept.encode("utf-8", "replace")) <= _LONGEST_BYTES
    # Some letters become several when case is folded: the key must be valid too.
    if not fits or not _NAME.match(kept) or not _NAME.match(name_key(kept)):
        shown = name if len(name) <= MAX_NAME_CHARS else name[:MAX_NAME_CHARS] + "…"
        raise UsageError(
            f"{shown!r} cannot be the name of a template: use letters, digits, '-', '_' and single dots, "
            f"at most {MAX_NAME_CHARS} characters."
        )
    return kept


def name_from(text: str) -> str:
    """A valid name close to a text; different texts that are too long get different names."""
    kept = _NOT_IN_A_NAME.sub("-", unicodedata.normalize("NFKC", text)).strip("-")
    if not kept or len(kept.encode()) > MAX_NAME_CHARS:
        kept = f"{kept[:20].strip('-') or 'template'}-{short_digest(text)[:8]}"
    return kept


def name_key(name: str) -> str:
    """A key that is equal for names that differ only in capitals."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
