"""The environment as a hook needs it before anything else is imported; `config` reads all settings from it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HOME = "SEASONED_HOME"


def home_folder(environment: Mapping[str, str] | None = None) -> str:
    """The folder in which Seasoned keeps its store, key and logs."""
    env = os.environ if environment is None else environment
    return os.path.expanduser(env.get(_HOME) or "~/.seasoned")


def use_home(folder: str) -> None:
    """Make this process use another home folder, as if SEASONED_HOME were set."""
    os.environ[_HOME] = folder


def whole() -> dict[str, str]:
    """All of it, for a process that reads the settings again."""
    return dict(os.environ)
