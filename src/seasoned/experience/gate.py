"""The gate for what a model sees from sessions: nothing dangerous, nothing that speaks to it, nothing redacted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seasoned.command.risk import may_be_example
from seasoned.template.admission.hostile import arguments_speak

# How a value looks that was redacted, or shortened for the store: the call would not work as it stands.
_INCOMPLETE = ("[redacted:", " characters]")


def may_be_told(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call that worked may be shown to later sessions of its project."""
    if not may_be_example(tool, arguments) or arguments_speak(dict(arguments)):
        return False
    return not any(mark in value for value in arguments.values() if isinstance(value, str) for mark in _INCOMPLETE)
