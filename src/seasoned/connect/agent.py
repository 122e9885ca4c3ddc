"""The agents that can be connected: what each would get, whether it is on this machine, and advice about reviews."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import msgspec

from seasoned.atomic_write import make_private_folder, write_atomic
from seasoned.config import Config
from seasoned.connect.plan import PARTS, ConnectPlan, Part
from seasoned.review.due import has_model

_AFTER = "Hints come only after a call failed: it shows the model nothing before one."
_DENIES = "Its hooks cannot ask you: without a confirmation service, high-risk calls are denied."


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

    def plan(
        self, config: Config, *, programs: Path, parts: Collection[Part] = PARTS, prefill: str | None = None
    ) -> ConnectPlan:
        """What must change in the files as they are now; empty if everything is done."""

    def remove_ours(self, path: Path, data: bytes) -> bytes | None:
        """A changed file without our part; None if nothing is left. Raises CannotDo if it cannot be recognised."""


def connector(agent: str) -> Connector:
    """What connects an agent."""
    module, _, name = AGENTS[agent].connector.partition(":")
    found = import_module(f"seasoned.connect.{module}")
    return cast("Connector", getattr(found, name) if name else found)


# The provider whose key an agent runs with. The reviewer is started by its hooks, so it has that key too.
_PROVIDERS = {"claude-code": ("anthropic", "ANTHROPIC_API_KEY"), "codex": ("openai", "OPENAI_API_KEY")}


def review_advice(config: Config, agent: str) -> str | None:
    """Why there are no reviews and how to get them; None if a model is configured, or if this was said before."""
    if has_model(config) or _mark(config, agent).exists():
        return None
    # Imported here: pages that only list the agents need no models.
    from seasoned.runner.model import DEFAULTS

    file = config.home / "config.toml"
    said = "No model is configured for reviews, so sessions leave no notes or skills behind (hints need no model)."
    if agent in _PROVIDERS:
        provider, variable = _PROVIDERS[agent]
        return (
            f'{said} To get reviews, write `review_model = "{DEFAULTS[provider]}"` into {file}: '
            f"they use the {variable} that {AGENTS[agent].title} runs with. A login without such a key cannot be used."
        )
    if agent == "hermes":
        return (
            f"{said} To get reviews, write `model` and `base_url` of the server that Hermes uses into {file}; "
            "its key goes into OPENAI_API_KEY. Until then only Hermes' own reviews happen."
        )
    return (
        f'{said} To get reviews, write `review_model` into {file}, such as "{DEFAULTS["anthropic"]}" or '
        f'"{DEFAULTS["openai"]}", and start {AGENTS[agent].title} where its key is set (ANTHROPIC_API_KEY, '
        "OPENAI_API_KEY)."
    )


def advised(config: Config, agent: str) -> None:
    """Remember that the advice was given."""
    mark = _mark(config, agent)
    for folder in (config.home, mark.parent.parent, mark.parent):
        make_private_folder(folder)
    write_atomic(mark, b"", unfinished=mark.parent / ".unfinished")


def _mark(config: Config, agent: str) -> Path:
    return config.home / "connect" / ".review" / f"{agent}.advised"
