"""The agents that can be connected. A module for each plans the changes, and recognises them later."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from seasoned.config import Config
from seasoned.connect.plan import ConnectPlan

# By name: a module is imported only when its agent is asked for.
AGENTS = {
    "hermes": "seasoned.connect.hermes",
    "claude-code": "seasoned.connect.claude_code",
    "codex": "seasoned.connect.codex",
}


class Connector(Protocol):
    """What the module for an agent offers."""

    def plan(self, config: Config, *, programs: Path, prefill: str | None = None) -> ConnectPlan:
        """What must change in the files as they are now; empty if everything is done."""

    def left(self, path: Path, data: bytes) -> bytes | None:
        """A changed file without our part; None if nothing is left. Raises CannotDo if it cannot be recognised."""


def connector(agent: str) -> Connector:
    """The module for an agent."""
    return cast("Connector", import_module(AGENTS[agent]))


def own_programs() -> Path:
    """The absolute folder with `seasoned` and `seasoned-hook`: an agent may have another PATH."""
    return Path(sys.executable).parent
