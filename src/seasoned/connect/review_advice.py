"""What to do for reviews where no model is configured for them, said once for each agent."""

from __future__ import annotations

from pathlib import Path

from seasoned.agent.loop.model import DEFAULTS
from seasoned.agent.review.due import has_model
from seasoned.atomic_write import make_private_folder, write_atomic
from seasoned.config import Config
from seasoned.connect.agent import AGENTS

# The provider whose key an agent runs with. The reviewer is started by its hooks, so it has that key too.
_PROVIDERS = {
    "claude-code": ("anthropic", "ANTHROPIC_API_KEY"),
    "codex": ("openai", "OPENAI_API_KEY"),
}


def review_advice(config: Config, agent: str) -> str | None:
    """That no reviews happen and how to get them; None if a model is configured, or if it was said before."""
    if has_model(config) or _mark(config, agent).exists():
        return None
    file = config.home / "config.toml"
    said = "No model is configured for reviews, so sessions leave no notes or skills behind (hints need no model)."
    if agent in _PROVIDERS:
        provider, variable = _PROVIDERS[agent]
        return (
            f'{said} To have reviews, write `review_model = "{DEFAULTS[provider]}"` into {file}: '
            f"they use the {variable} that {AGENTS[agent].title} runs with. A login without such a key cannot be used."
        )
    if agent == "hermes":
        return (
            f"{said} To have reviews, write `model` and `base_url` of the server that Hermes uses into {file}; "
            "its key goes into OPENAI_API_KEY. Until then only Hermes' own reviews happen."
        )
    return (
        f'{said} To have reviews, write `review_model` into {file}, such as "{DEFAULTS["anthropic"]}" or '
        f'"{DEFAULTS["openai"]}", and start {AGENTS[agent].title} where its key is set (ANTHROPIC_API_KEY, '
        "OPENAI_API_KEY)."
    )


def advised(config: Config, agent: str) -> None:
    """Remember that it was said."""
    make_private_folder(config.home)
    make_private_folder(_mark(config, agent).parent.parent)
    make_private_folder(_mark(config, agent).parent)
    write_atomic(_mark(config, agent), b"", unfinished=_mark(config, agent).parent / ".unfinished")


def _mark(config: Config, agent: str) -> Path:
    return config.home / "connect" / ".review" / f"{agent}.advised"
