"""The agents that can be connected: what each would get, and whether it is on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import msgspec

from seasoned.config import Config
from seasoned.connect.plan import PARTS, ConnectPlan, Part

_AFTER = "Hints come only after a call failed: it shows the model nothing before one."
_DENIES = "Its hooks cannot ask you: a refusal names the command that allows the call."


class KnownAgent(msgspec.Struct, frozen=True):
    """An agent that can be connected."""

    title: str
    connector: str
    """The module that connects it, or an object in one. It is imported only when its agent is asked for."""
    program: str
    folder: Callable[[Config], Path]
    lacks: tuple[str, ...] = ()
    """What the agent does not allow, each a sentence."""

    def is_found(self, config: Config) -> bool:
        """Whether it seems to be used on this machine."""
        return shutil.which(self.program) is not None or self.folder(config).is_dir()


AGENTS: dict[str, KnownAgent] = {
    "hermes": KnownAgent("Hermes", "hermes", "hermes", lambda config: config.hermes_home),
    "claude-code": KnownAgent(
        "Claude Code", "json_hooks:claude_code", "claude", lambda config: config.claude_config_dir
    ),
    "codex": KnownAgent("Codex", "codex", "codex", lambda config: config.codex_home),
    "gemini": KnownAgent(
        "Gemini CLI",
        "json_hooks:gemini",
        "gemini",
        lambda config: config.gemini_home,
        (_AFTER, "It shows no hint after a failure of a tool other than the shell.", _DENIES),
    ),
    "copilot": KnownAgent(
        "Copilot CLI",
        "json_hooks:copilot",
        "copilot",
        lambda config: config.copilot_home,
        ("It cannot tell you what a session was shown: run `seasoned receipt`.",),
    ),
    "opencode": KnownAgent(
        "OpenCode",
        "opencode",
        "opencode",
        lambda config: config.opencode_config_dir,
        (_AFTER, "It does not report the end of a session, so each turn is learned from.", _DENIES),
    ),
    "qwen": KnownAgent("Qwen Code", "json_hooks:qwen", "qwen", lambda config: config.qwen_home, (_AFTER,)),
    "cursor": KnownAgent(
        "Cursor",
        "json_hooks:cursor",
        "cursor-agent",
        lambda config: config.cursor_home,
        (
            "Its hooks cannot add to a prompt: a session sees only the sheet at its start.",
            _AFTER,
            "It shows no hint after a call that it reports as failed itself.",
            _DENIES,
        ),
    ),
}


class Connector(Protocol):
    """What the module for an agent offers."""

    def plan(self, config: Config, *, programs: Path, parts: Collection[Part] = PARTS) -> ConnectPlan:
        """What must change in the files as they are now; empty if everything is done."""

    def remove_ours(self, path: Path, data: bytes, before: bytes | None) -> bytes | None:
        """A changed file without our part; None if nothing is left. Raises CannotDo if it cannot be recognised.

        `before` is the file as it was when the agent was connected first.
        """


def connector(agent: str) -> Connector:
    """What connects an agent."""
    module, _, name = AGENTS[agent].connector.partition(":")
    found = import_module(f"seasoned.connect.{module}")
    return cast("Connector", getattr(found, name) if name else found)
