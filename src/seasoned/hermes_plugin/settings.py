"""The settings of the plugin: `hermes.toml` in the home folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from seasoned.begin.settings import FormerSettings
from seasoned.config import read_settings

FILE = "hermes.toml"


class HermesSettings(FormerSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the plugin works. What concerns warm starts belongs in config.toml, and is still read here."""

    confirm: bool = True  # whether calls of high risk wait for a person
    # How long a person may take. Hermes' scheduler ends a job that is silent for 600 seconds.
    wait_seconds: Annotated[float, msgspec.Meta(ge=1, le=3600)] = 240
    judge: bool = True  # whether calls are judged and stored as they happen
    reviews: bool = True  # whether sessions are reviewed, if a model for reviews is configured


def load_settings(path: Path) -> HermesSettings:
    """The settings in a file, checked; the defaults if it does not exist."""
    return read_settings(path, HermesSettings)
