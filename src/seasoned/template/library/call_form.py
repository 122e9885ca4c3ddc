"""The manner of a call: how it was written, so that one can say whether a session followed an example."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from seasoned.command.tool import command_of
from seasoned.insight.mistake.call_target import MANNER
from seasoned.session import ToolCall
from seasoned.template.anonymize.shape import shape
from seasoned.template.mine.merge import pattern_of

_LONGEST = 80
_DEPTH = 3
_FIGURES = re.compile(r"0+")
_WORDS = re.compile(r"[Aa]+\Z")
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class CallForm(msgspec.Struct, frozen=True):
    """A tool, and the shape of each value it was given; for a shell the pattern of its command."""

    tool: str
    shapes: Mapping[str, str]
    pattern: str | None = None

    def follows(self, example: CallForm) -> bool:
        """Whether this call was made as the example shows it: what the example gives, in the same shape."""
        if self.tool != example.tool or self.pattern != example.pattern:
            return False
        return all(self.shapes.get(name) == value for name, value in example.shapes.items())


def call_form_of(tool: str, raw_arguments: str) -> CallForm | None:
    """The manner of a call from its arguments as JSON; None where they are no object."""
    try:
        arguments = _decode(raw_arguments)
    except msgspec.DecodeError:
        return None
    if command_of(ToolCall("", tool, arguments)) is not None:
        return CallForm(tool, {}, pattern_of(tool, arguments))
    return CallForm(tool, {name: _shape(value) for name, value in arguments.items() if name not in MANNER})


def _shape(value: Any, depth: int = _DEPTH) -> str:
    if isinstance(value, bool) or value is None:
        return "switch"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return _text_shape(value)
    if isinstance(value, Mapping):
        inner = sorted(f"{name}:{_shape(item, depth - 1)}" for name, item in value.items()) if depth else ()
        return "{" + ",".join(inner) + "}"
    several = sorted({_shape(item, depth - 1) for item in value}) if depth else ()
    return "[" + "|".join(several) + "]"


def _text_shape(value: str) -> str:
    text = value.strip()
    if not text or len(text) > _LONGEST or any(c.isspace() for c in text):
        return "words"
    first, _, rest = text.partition("/")
    if rest and ":" not in first:
        # Where a path begins is often the whole convention; how deep it goes is not.
        return f"{first}/{'' if rest.endswith('/') else 'path'}"
    written = _FIGURES.sub("0", shape(text))
    # A word may become two; that it is written in capitals can be what a tool insists on.
    return "words" if _WORDS.match(written) and written != "A" else written
