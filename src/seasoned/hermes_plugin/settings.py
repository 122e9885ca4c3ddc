"""What is laid down in `hermes.toml`: what the plugin does, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from seasoned.config import read_settings

FILE = "hermes.toml"


class HermesSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the plugin works; what is left out is as here."""

    warm: bool = True
    """Whether new conversations get a block of examples."""
    template: str | None = None
    """The template to show; without it the one that fits."""
    budget: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    """Tokens of a block at most."""
    experiment: str | None = None
    """The experiment whose arms decide which conversations start warm."""
    confirm: bool = True
    """Whether calls of high risk wait for a person."""
    wait_seconds: Annotated[float, msgspec.Meta(ge=1, le=3600)] = 240
    """How long a person may take. Hermes' scheduler ends a job that is silent for 600 seconds."""
    judge: bool = True
    """Whether calls are judged and kept as they happen."""


def load_settings(path: Path) -> HermesSettings:
    """The settings of a file, checked; the defaults where there is none."""
    return read_settings(path, HermesSettings)
