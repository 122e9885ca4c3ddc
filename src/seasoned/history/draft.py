"""Messages and calls while they are still being put together: more of them may stand further on in the file."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.session import Marks, Message, Result, Role, ToolCall, Usage

CUT_SHORT = Result("", Marks(interrupted=True))
"""The result of a call whose turn was broken off, until a real one comes."""


class CallDraft(msgspec.Struct):
    """A call, with the places where something was said of it."""

    id: str
    tool: str
    arguments: dict[str, Any]
    index: int
    message: int
    time: float | None
    places: list[int]
    result: Result | None = None
    synthetic: bool = False
    taken: bool = False

    @property
    def is_open(self) -> bool:
        return self.result is None or self.result.marks.running or self.result == CUT_SHORT

    def freeze(self) -> ToolCall:
        """The call as it is known now."""
        return ToolCall(
            self.id,
            self.tool,
            self.arguments,
            self.result,
            self.index,
            self.message,
            self.time,
            self.places[0],
            self.synthetic,
        )


class MessageDraft(msgspec.Struct):
    """A message, with the parts of its text."""

    role: Role
    index: int
    time: float | None
    place: int
    key: str | None = None
    model: str | None = None
    summary: bool = False
    synthetic: bool = False
    usage: Usage | None = None
    answers: str | None = None
    texts: list[str] = []
    calls: list[CallDraft] = []

    def freeze(self) -> Message:
        """The message as it is known now."""
        texts = self.texts
        return Message(
            self.role,
            texts[0] if len(texts) == 1 else "\n".join(texts),
            tuple([call.freeze() for call in self.calls]) if self.calls else (),
            self.time,
            self.place,
            self.synthetic,
            self.summary,
            self.model,
            self.answers,
        )
