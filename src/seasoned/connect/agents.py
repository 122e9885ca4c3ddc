"""The agents that can be connected, each with a module that plans what to change and knows its own part again."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from seasoned.config import Config
from seasoned.connect.plan import ConnectPlan

AGENTS = {
    "hermes": "seasoned.connect.hermes",
    "claude-code": "seasoned.connect.claude_code",
    "codex": "seasoned.connect.codex",
}


class Connector(Protocol):
    """What a module of this folder offers."""

    def plan(self, config: Config, *, programs: Path, prefill: str | None = None) -> ConnectPlan:
        """What must change, seen from the files as they are now; empty where all is done."""

    def left(self, path: Path, data: bytes) -> bytes | None:
        """A changed file without our part; None where nothing is left. CannotDo where that cannot be told."""


def connector(agent: str) -> Connector:
    """The module for an agent."""
    return cast("Connector", import_module(AGENTS[agent]))


def own_programs() -> Path:
    """The folder that `seasoned` and `seasoned-hook` were installed into, whole: an agent may have another PATH."""
    return Path(sys.executable).parent
