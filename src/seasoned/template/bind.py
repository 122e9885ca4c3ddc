"""Puts values of the same shape in the place of paths, ids, hosts, digests, names and dates of one session."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.template.binding import Binding
from seasoned.template.example import INTENT_CHARS
from seasoned.template.neutral import arguments_speak, shortened
from seasoned.template.vocabulary import Vocabulary, vocabulary_of

__all__ = ["Bound", "Vocabulary", "bind", "vocabulary_of"]


class Bound(msgspec.Struct, frozen=True):
    """What is shown of a call, with stand-ins for what belonged to one session."""

    arguments: dict[str, Any]
    result: str
    intent: str


def bind(arguments: dict[str, Any], result: str, intent: str, *, vocabulary: Vocabulary, seed: str) -> Bound:
    """The same with stand-ins; equal values get equal stand-ins, and equal seeds equal ones in every process."""
    if arguments_speak(arguments):
        # Binding might hide what it says from the gate that drops it.
        return Bound(arguments, result, intent)
    binding = Binding(vocabulary, seed)
    binding.introduce(intent)
    bound = binding.arguments(arguments)
    return Bound(bound, binding.answer(result), shortened(binding.prose(intent), max(len(intent), INTENT_CHARS)))
