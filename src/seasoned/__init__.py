"""Seasoned gives new agent sessions the experience of earlier ones, and measures whether it helps."""

from __future__ import annotations

# Not from typing, which takes three milliseconds: every hook imports this package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from seasoned.app.template import build, provision
    from seasoned.history.read import read
    from seasoned.insight.profile import profile_session as profile
    from seasoned.outcome.judge import judge_session as judge
    from seasoned.project import project_of

__version__ = "0.1.0"
__all__ = ["__version__", "build", "judge", "profile", "project_of", "provision", "read"]

# Where each function of the library lives.
_HOMES = {
    "build": ("seasoned.app.template", "build"),
    "judge": ("seasoned.outcome.judge", "judge_session"),
    "profile": ("seasoned.insight.profile", "profile_session"),
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
