"""Starts a round with the team's server. Apart from the round itself, so that a scan need not load what that needs."""

from __future__ import annotations

from pathlib import Path

from seasoned.background import start
from seasoned.config import Config

PROCESS = "seasoned.app.team.machine"


def token_file(config: Config) -> Path:
    """Where the token of this machine is; it exists if this machine is in a team."""
    return config.home / "secrets" / "team_token"


def sync_in_background(config: Config) -> None:
    """Push and pull in a separate process, if this machine is in a team."""
    # The file is looked at first: most machines are in none, and their store need not be opened.
    if token_file(config).exists():
        start(PROCESS, str(config.home))
