"""The vocabulary of templates: examples, notes, workflows, and the template that holds them. Frozen values, no I/O."""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal

import msgspec

from seasoned.command.tool import TaskType

ExampleKind = Literal["init", "sequence", "recovery", "final"]
Tier = Literal["own", "recorded", "imported"]
"""How far an example is trusted: mined from histories of this user's agents, recorded by Seasoned, from a file."""
INTENT_CHARS = 200
RESULT_CHARS = 500


class Source(msgspec.Struct, frozen=True, order=True):
    """Where an example comes from: one call of one session."""

    session: str
    """`agent:native id`."""
    call: str
    root: str
    """The lineage: support counts lineages, so that a fork is no second witness."""
    time: float | None = None


class Repaired(msgspec.Struct, frozen=True):
    """What a recovery repaired. Evidence: it is kept to be looked at, and never shown to a session."""

    arguments: str
    """Of the failed call, as JSON."""
    signature: str
    """Its error, with what varies masked."""
    changed: tuple[str, ...]
    how: str


class Example(msgspec.Struct, frozen=True):
    """A call that worked, ready to be shown: bound, short, and with nothing in it that a session could obey."""

    tool: str
    arguments: str
    """JSON with sorted keys."""
    result: str
    intent: str
    kind: ExampleKind
    pattern: str
    """Calls of one tool whose arguments are alike share a pattern."""
    support: int = 1
    """Lineages in which calls of this pattern worked."""
    sources: tuple[Source, ...] = ()
    first_seen: float | None = None
    last_seen: float | None = None
    schema_hash: str | None = None
    """Of the tool's schema when the example was made; None where no session recorded it."""
    tier: Tier = "own"
    error_rate: float | None = None
    """How often calls of this tool fail in the mined sessions: what sessions get wrong is shown first."""
    repaired: Repaired | None = None

    @property
    def id(self) -> str:
        """A digest of what is shown, so that equal examples have equal ids everywhere."""
        return digest(self.tool, self.arguments, self.result, self.intent)


class Note(msgspec.Struct, frozen=True):
    """What a tool wants, said positively in plain words."""

    tool: str
    text: str
    support: int


class Workflow(msgspec.Struct, frozen=True):
    """Steps that recur in this order in several lineages."""

    steps: tuple[str, ...]
    support: int


class Metrics(msgspec.Struct, frozen=True):
    """What mining saw and kept."""

    sessions_scanned: int = 0
    sessions_qualified: int = 0
    calls_seen: int = 0
    repairs_found: int = 0
    dropped_unclean: int = 0
    """Examples that still looked as if they held a secret, or that spoke to the reader."""
    avg_proficiency_gain: float | None = None


class Template(msgspec.Struct, frozen=True):
    """What is learned from good sessions, under a name and a version."""

    name: str
    version: int = 1
    description: str = ""
    task_type: TaskType | None = None
    tags: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    notes: tuple[Note, ...] = ()
    workflows: tuple[Workflow, ...] = ()
    addendum: str = ""
    """Goes into the opening of the block, never into the caller's own system message."""
    sources: tuple[str, ...] = ()
    """Sessions, as `agent:native id`."""
    created_at: float = 0.0
    metrics: Metrics = Metrics()

    @property
    def mark(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"


def digest(*parts: str) -> str:
    """A short digest of texts in order."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()
