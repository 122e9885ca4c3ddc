"""Follows the sessions that are running on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seasoned.app.stores import make_redactor, own_paths
from seasoned.config import Config
from seasoned.live.follow import LiveReader, RunningSessions


def live_sessions(config: Config, paths: Sequence[Path] = ()) -> RunningSessions:
    """The running sessions under these paths, or of this user's agents."""
    return RunningSessions(tuple(paths) or own_paths(config), LiveReader(make_redactor(config)))
