"""The environment as a hook needs it before anything else is imported; `config` reads all settings from it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HOME = "SEASONED_HOME"
# Set for an agent that reviews: its hooks have nothing to say to it, and its session is not learned from.
APART = "SEASONED_APART"
# What a background process needs of the environment of an agent, whose keys and tokens it must not keep.
_FEW = ("HOME", "PATH", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def home_folder(environment: Mapping[str, str] | None = None) -> str:
    """The folder in which Seasoned keeps its store, key and logs."""
    env = os.environ if environment is None else environment
    return os.path.expanduser(env.get(_HOME) or "~/.seasoned")


def agent_project_folder(environment: Mapping[str, str] | None = None) -> str:
    """The folder that Claude Code was started in, as it tells its hooks; empty for other agents."""
    env = os.environ if environment is None else environment
    return env.get("CLAUDE_PROJECT_DIR", "")


def is_apart() -> bool:
    """Whether the agent around this process was started by us to review a session."""
    return bool(os.environ.get(APART))


def use_home(folder: str) -> None:
    """Make this process use another home folder, as if SEASONED_HOME were set."""
    os.environ[_HOME] = folder


def whole() -> dict[str, str]:
    """The entire environment, for a process that reads the settings again."""
    return dict(os.environ)


def for_git() -> dict[str, str]:
    """For git in a repository of anyone: it fetches nothing, prompts for nothing, and runs nothing else."""
    return {
        **few(),
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def few() -> dict[str, str]:
    """What a background process needs to start, without anything secret."""
    return {name: os.environ[name] for name in _FEW if name in os.environ}
