"""Seasoned gives new agent sessions the experience of earlier ones, and measures whether it helps."""

from __future__ import annotations

import sys

# Not from typing, which takes three milliseconds: every hook imports this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from seasoned.app.lessons import backtest
    from seasoned.app.messages import compare, compress_check, profile
    from seasoned.app.template import begin, build, provision
    from seasoned.history.read import read
    from seasoned.outcome.judge import judge_session as judge
    from seasoned.project import project_of
    from seasoned.project import project_of as project

__version__ = "1.0.0"
__all__ = [
    "__version__",
    "backtest",
    "begin",
    "build",
    "compare",
    "compress_check",
    "judge",
    "profile",
    "project",
    "project_of",
    "provision",
    "read",
]

# Where each function of the library lives.
_HOMES = {
    "backtest": ("seasoned.app.lessons", "backtest"),
    "begin": ("seasoned.app.template", "begin"),
    "build": ("seasoned.app.template", "build"),
    "compare": ("seasoned.app.messages", "compare"),
    "compress_check": ("seasoned.app.messages", "compress_check"),
    "judge": ("seasoned.outcome.judge", "judge_session"),
    "profile": ("seasoned.app.messages", "profile"),
    "project": ("seasoned.project", "project_of"),
    "project_of": ("seasoned.project", "project_of"),
    "provision": ("seasoned.app.template", "provision"),
    "read": ("seasoned.history.read", "read"),
}


def __getattr__(name: str) -> Any:
    """Import a function of the library when it is first used: importing the package alone imports nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'seasoned' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Library(type(sys)):  # type: ignore[misc]
    """This package. Importing a module of `seasoned.begin` does not hide the function of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOMES:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library
