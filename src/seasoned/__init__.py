"""Seasoned gives every new agent session the experience of the best earlier ones, and proves whether it helped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seasoned.history.read import read
    from seasoned.insight.profile import profile_session as profile
    from seasoned.outcome.judge import judge_session as judge

__version__ = "0.1.0"
__all__ = ["__version__", "judge", "profile", "read"]

_HOMES = {
    "judge": ("seasoned.outcome.judge", "judge_session"),
    "profile": ("seasoned.insight.profile", "profile_session"),
    "read": ("seasoned.history.read", "read"),
}


def __getattr__(name: str) -> Any:
    """The library's functions, imported when they are first asked for: importing the package does nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'seasoned' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
