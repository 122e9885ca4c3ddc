"""The vocabulary of templates: examples, and the template that holds them. Frozen values, no I/O."""

from __future__ import annotations

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
    schema_hash: str | None = None  # of the tool's schema when the example was made; None if no session recorded it
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
# File systems allow 255 bytes, and a suffix must still fit.
_LONGEST_BYTES = 200
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin", "conout", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
# Alphabets with letters that look the same: a name may use only one of them.
_ALIKE = ("LATIN", "CYRILLIC", "GREEK")


def check_name(name: str) -> str:
    """The name as it is stored (NFKC); UsageError says what is wrong with it."""
    wrong = _wrong(name)
    if wrong is not None:
        shown = name if len(name) <= MAX_NAME_CHARS else name[:MAX_NAME_CHARS] + "…"
        raise UsageError(f"{shown!r} cannot be the name of a template: {wrong}.")
    return unicodedata.normalize("NFKC", name)


def name_from(text: str) -> str:
    """A valid name close to a text; different texts that are too long get different names."""
    kept = "".join(one if _is_allowed(one) else "-" for one in unicodedata.normalize("NFKC", text))
    while ".." in kept:
        kept = kept.replace("..", ".")
    kept = kept.strip("-.")
    if len(kept) > MAX_NAME_CHARS:
        kept = f"{kept[: MAX_NAME_CHARS - 9].rstrip('-.')}-{short_digest(text)[:8]}"
    # The result may still be reserved, or mix alphabets that look alike.
    return kept if _wrong(kept) is None else f"template-{short_digest(text)[:8]}"


def name_key(name: str) -> str:
    """A key that is equal for names that differ only in capitals."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _wrong(name: str) -> str | None:
    if len(name) > 4 * MAX_NAME_CHARS:
        return f"it has more than {MAX_NAME_CHARS} characters"
    kept = unicodedata.normalize("NFKC", name)
    if not kept:
        return "it is empty"
    if len(kept) > MAX_NAME_CHARS or len(kept.encode("utf-8", "replace")) > _LONGEST_BYTES:
        return f"it has more than {MAX_NAME_CHARS} characters"
    for character in kept:
        if not _is_allowed(character):
            return f"{character!r} is not allowed (only letters, digits, '-', '_' and '.')"
    if kept[0] in ".-":
        return "it begins with a dot or a dash"
    if kept[-1] == "." or ".." in kept:
        return "it has a dot at its end or two in a row"
    if name_key(kept.partition(".")[0]) in _DEVICES:
        return "Windows reserves it for a device"
    if len({unicodedata.name(letter, "").partition(" ")[0] for letter in kept if letter.isalpha()} & {*_ALIKE}) > 1:
        return "it mixes letters of alphabets that look alike"
    # Some letters become several when case is folded: the key must be valid too.
    if not all(map(_is_allowed, name_key(kept))):
        return "it has letters whose capitals differ between systems"
    return None


def _is_allowed(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in "-_."
    category = unicodedata.category(character)
    # Fillers count as letters but are invisible.
    return category in ("Lu", "Ll", "Lo", "Lm", "Nd") and "FILLER" not in unicodedata.name(character, "FILLER")
