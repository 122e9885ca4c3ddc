"""The gate for what a model sees from sessions: nothing dangerous, nothing that speaks to it, nothing redacted."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.risk import may_be_example
from seasoned.template.admission.hostile import arguments_speak

# How a value looks that was redacted, or shortened for the store: the call would not work as it stands.
_INCOMPLETE = ("[redacted:", " characters]")


@lru_cache(maxsize=4096)
def may_be_told(tool: str, text: str) -> bool:
    """Whether a call that worked may be shown to later sessions: a command of a shell, or the JSON of arguments."""
    if any(mark in text for mark in _INCOMPLETE):
        return False
    given: dict[str, Any] = {"command": text} if tool == "shell" else msgspec.json.decode(text)
    return may_be_example("Bash" if tool == "shell" else tool, given) and not arguments_speak(given)
