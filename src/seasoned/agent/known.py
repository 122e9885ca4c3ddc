"""What a conversation has learned until now, so that a summary can be held to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.reader.seasoned_db import NAME, read_message
from seasoned.insight.mistake.repair import repairs
from seasoned.insight.prior_knowledge import lost_knowledge
from seasoned.insight.track import JudgedCall, track_of
from seasoned.session import SessionRef

_MOST = 20
"""Of each kind, those that were used most."""
_SHOWN_CHARS = 200


class Known(msgspec.Struct, frozen=True):
    """One thing that was learned: how it is told, and by which words it is recognised in a summary."""

    told: str
    words: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        return all(word in text for word in self.words)


def known_in(bodies: Sequence[dict[str, Any]], ref: SessionRef) -> list[Known]:
    """Commands, paths and shapes of arguments that worked more than once, and mistakes that were corrected."""
    builder = SessionBuilder(ref, format=NAME, path="")
    for place, body in enumerate(bodies):
        read_message(builder, body, place=place)
    calls = track_of(builder.take()).calls
    knowledge = lost_knowledge(calls, ())
    found = [Known(_command(one.what, calls), (one.what,)) for one in knowledge.commands.lost[:_MOST]]
    found += [Known(f"path: {one.what}", (one.what,)) for one in knowledge.paths.lost[:_MOST]]
    found += [Known(f"arguments: {one.what}", (one.what.partition("(")[0],)) for one in knowledge.shapes.lost[:_MOST]]
    for repair in repairs(calls)[-_MOST:]:
        wrong, right = _short(calls[repair.failed]), _short(calls[repair.repaired])
        if wrong != right:
            found.append(Known(f"mistake: `{wrong}` failed; `{right}` worked ({repair.how})", (right,)))
    return list({one.told: one for one in found}.values())


def _command(label: str, calls: Sequence[JudgedCall]) -> str:
    """A command by its program, with the last way in which it worked."""
    program = label.split()[0]
    for call in reversed(calls):
        if call.verdict == "ok" and call.command is not None and program in call.command:
            return f"command: {label}, last as `{call.command[:_SHOWN_CHARS]}`"
    return f"command: {label}"


def _short(call: JudgedCall) -> str:
    text = call.command or f"{call.tool} {call.raw_arguments}"
    return " ".join(text.split())[:_SHOWN_CHARS]
