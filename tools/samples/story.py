"""What a story is made of: steps, and calls that know what was planted in them. Plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Fate = Literal["answered", "declined", "cancelled", "aborted", "lost", "late"]


@dataclass(frozen=True)
class Call:
    """A tool call, whichever agent makes it."""

    pattern: str | None = field(default=None, kw_only=True)
    """The convention of the project that this call breaks or keeps; a kept one repairs the broken one before it."""
    verdict: str | None = field(default=None, kw_only=True)
    fault: str | None = field(default=None, kw_only=True)
    fate: Fate = field(default="answered", kw_only=True)
    reply: str = field(default="", kw_only=True)
    """What the user said when declining."""


@dataclass(frozen=True)
class Shell(Call):
    """A command with its scripted output."""

    command: str
    output: str = ""
    code: int = 0
    about: str = ""
    benign: str = ""
    """The harness's own reading of a non-zero code that is no failure."""
    ends: str = "at once"
    """at once | later (a poll brings the code) | never"""
    seconds: int = 1


@dataclass(frozen=True)
class Poll(Call):
    """Waiting for a command that was still running."""

    output: str = ""
    running: bool = False
    seconds: int = 20


@dataclass(frozen=True)
class Read(Call):
    """Reading a file of the project, or a part of it."""

    path: str
    first: int = 1
    limit: int | None = None


@dataclass(frozen=True)
class Find(Call):
    """Searching text in files of the project."""

    text: str
    path: str = ""
    names_only: bool = False


@dataclass(frozen=True)
class Edit(Call):
    """Replacing text in a file. The problem says why it cannot work."""

    path: str
    old: str
    new: str
    problem: str = ""
    """'' | unread | absent | twice"""


@dataclass(frozen=True)
class Write(Call):
    """Writing a whole file."""

    path: str
    content: str


@dataclass(frozen=True)
class Plan(Call):
    """The agent's list of things to do, with how many of them are done."""

    items: tuple[str, ...]
    done: int = 0


@dataclass(frozen=True)
class Atlas(Call):
    """The company's code search; it wants paths such as ws/waypost/src."""

    query: str
    path: str
    hits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Other(Call):
    """A tool that only one agent has, with its result as that agent writes it."""

    tool: str
    arguments: dict[str, Any]
    result: Any
    failed: bool = False
    data: Any = None


@dataclass(frozen=True)
class User:
    """The person says something."""

    text: str
    after: int = 40


@dataclass(frozen=True)
class Do:
    """The agent says something and makes one or more calls at the same time."""

    text: str
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Say:
    """The agent ends its turn."""

    text: str


@dataclass(frozen=True)
class Compact:
    """The context is summarised."""

    summary: str


@dataclass(frozen=True)
class Interrupt:
    """The person stops the agent."""


@dataclass(frozen=True)
class Resume:
    """The session is taken up again later."""

    hours: float


@dataclass(frozen=True)
class Broken:
    """The program died while it wrote a line."""


@dataclass(frozen=True)
class ApiError:
    """The provider did not answer."""


@dataclass(frozen=True)
class Delegate:
    """A sub-agent does a part of the work."""

    title: str
    prompt: str
    steps: tuple[Any, ...]
    answer: str


Step = User | Do | Say | Compact | Interrupt | Resume | Broken | ApiError | Delegate


def do(*parts: str | Call) -> Do:
    """A step of the agent: an optional sentence, then calls made together."""
    text = parts[0] if parts and isinstance(parts[0], str) else ""
    return Do(text, tuple(part for part in parts if isinstance(part, Call)))


def each(*calls: Call) -> list[Step]:
    """Calls made one after another without a word."""
    return [Do("", (call,)) for call in calls]


@dataclass(frozen=True)
class Story:
    """One session: when it starts, what happens, and what is particular about its file."""

    name: str
    start: str
    steps: tuple[Step, ...]
    options: dict[str, Any] = field(default_factory=dict)
