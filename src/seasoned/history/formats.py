"""Which formats there are, and which one a file is in. Asked in this order: the most particular first."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from seasoned.errors import SourceError
from seasoned.history.sample import Sample, take_sample
from seasoned.session import Session

_ORDER = (
    "claude_code",
    "codex",
    "hermes_db",
    "seasoned_db",
    "copilot",
    "managed_agent",
    "otel",
    "inspect_log",
    "gemini",
    "openhands",
    "mini_swe_agent",
    "swe_agent",
    "tau_bench",
    "hermes_file",
    "sharegpt",
    "anthropic_log",
    "openai_log",
)
_FIRST_LOOK = 3


class Format(Protocol):
    """A module of this folder that reads one format."""

    NAME: str

    def recognises(self, sample: Sample) -> bool:
        """Whether the file is in this format, by its content."""

    def read(self, path: Path) -> Iterator[Session]:
        """Every session of the file."""


def named(module: str) -> Format:
    """The format that the module of this name reads; imported when it is asked for."""
    return cast("Format", import_module(f"seasoned.history.{module}"))


def all_formats() -> list[Format]:
    """Every format, in the order in which they are asked."""
    return [named(module) for module in _ORDER]


def recognise(path: Path) -> str | None:
    """The module that reads this file, None when it is no history that Seasoned knows."""
    sample = take_sample(path, records=_FIRST_LOOK)
    for module in _ORDER[:2] if sample.kind == "lines" else ():
        if named(module).recognises(sample):
            return module
    if sample.kind == "lines":
        sample = take_sample(path)
    if sample.kind == "other":
        return None
    for module in _ORDER:
        if named(module).recognises(sample):
            return module
    return None


def read_file(path: Path) -> Iterator[Session]:
    """Every session of one file. SourceError where it is no history that Seasoned knows."""
    module = recognise(path)
    if module is None:
        raise SourceError(
            f"{str(path)!r} is no history that Seasoned can read: it knows "
            "Claude Code, Codex, Hermes, Gemini, Copilot, OpenAI- and Anthropic-style logs and others (see the docs)."
        )
    yield from named(module).read(path)
