"""Replaces secrets and personal data before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seasoned.redact.key import Secrecy, load_key, new_key
    from seasoned.redact.redactor import Redactor
    from seasoned.redact.value import Hit

__all__ = ["Hit", "Redactor", "Secrecy", "load_key", "new_key"]

_HOMES = {"Hit": "value", "Redactor": "redactor", "Secrecy": "key", "load_key": "key", "new_key": "key"}


def __getattr__(name: str) -> Any:
    """Import on first use: a scan that finds nothing new needs the key, but not the rules."""
    if name not in _HOMES:
        raise AttributeError(f"module 'seasoned.redact' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"seasoned.redact.{_HOMES[name]}"), name)
