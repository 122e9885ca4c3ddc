"""The block that is shown to one session, before it has a format; and how its texts are cleaned."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Literal

import msgspec

from seasoned.digest import short_digest
from seasoned.example.example import Example
from seasoned.lazy_regex import LazyRegex
from seasoned.marks import BLOCK_OPENS

Format = Literal["openai", "responses", "anthropic", "hermes", "pydantic-ai", "text"]
Form = Literal["messages", "text"]
FORMATS: tuple[Format, ...] = ("openai", "responses", "anthropic", "hermes", "pydantic-ai", "text")
FORMS: tuple[Form, ...] = ("messages", "text")

_NOT_A_NAME = LazyRegex(r"[^\w.@-]")
_MARK = LazyRegex(r"\[(?=\s*seasoned\s*:)", re.IGNORECASE)
_CONTROL_TOKEN = LazyRegex("<([|｜])([^<>|｜\\s]{1,60})([|｜])>")
_SURROGATE = LazyRegex("[\ud800-\udfff]")
_INVISIBLE = LazyRegex(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LINE_END = LazyRegex("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = LazyRegex("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_DEEPEST = 64


class Block(msgspec.Struct, frozen=True):
    """What is shown to one session: chosen examples and the template's addendum."""

    template: str  # `name@version`
    examples: tuple[Example, ...]
    addendum: str = ""

    @property
    def digest(self) -> str:
        """A digest of exactly what can be shown."""
        parts = [self.template, self.addendum, str(len(self.examples))]
        for example in self.examples:
            parts += [example.tool, example.arguments, example.result, example.intent]
        # With their lengths, texts that contain a separator cannot make two blocks look alike.
        return short_digest(*[str(len(part)) for part in parts], *parts)

    @property
    def mark(self) -> str:
        """The line that opens the block."""
        return f"{BLOCK_OPENS}v1 {_NOT_A_NAME.compiled.sub('_', self.template)} {self.digest}]"


def clean_text(text: str) -> str:
    """The text, unable to end the block, steer a chat format, or hide what it says."""
    return _without_marks(_CONTROL.compiled.sub("", _LINE_END.compiled.sub("\n", text))).strip()


def clean_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of an example with sorted keys; None if they are not an object that every provider accepts."""
    try:
        found = json.loads(text, parse_float=_finite, parse_constant=str)
        return _cleaned(found, _DEEPEST) if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        return None


def canonical(value: object) -> str:
    """JSON with one spelling: sorted keys, no spaces, no escapes that are not needed."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _cleaned(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        # Other control characters can be the point (a key to press), and JSON makes them harmless.
        return _without_marks(value.replace("\0", ""))
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {_cleaned(key, depth): _cleaned(value[key], depth - 1) for key in sorted(value)}
    if isinstance(value, list):
        return [_cleaned(part, depth - 1) for part in value]
    return value


def _finite(literal: str) -> float | str:
    number = float(literal)
    return number if math.isfinite(number) else literal


def _without_marks(text: str) -> str:
    """The text without marks. They are replaced last, because what is removed before could have split one."""
    if not text.isascii():
        text = _INVISIBLE.compiled.sub("", _SURROGATE.compiled.sub("\ufffd", text))
    if "[" in text:
        text = _MARK.compiled.sub("(", text)
    return _CONTROL_TOKEN.compiled.sub(r"<\1 \2 \3>", text) if "<" in text else text
