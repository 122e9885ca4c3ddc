"""The turns of a request, put together in the order they come: each call has an id of its own, warm ones are marked."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from seasoned.history.builder import is_synthetic_id
from seasoned.history.shape import identity
from seasoned.session import NO_MARKS, Marks, Message, Result, Role, ToolCall
from seasoned.template.block import ENDS, OPENS

_OLDER_BLOCKS = ("[WARM SESSION", "[Warm pattern", "Session template loaded:")
_encode = msgspec.json.Encoder(order="deterministic").encode


class Turns:
    """Collects the messages of one request."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._results: dict[str, Result] = {}
        self._open: dict[str, str] = {}
        """Calls that wait for a result, with their tools."""
        self._named: dict[str, list[str]] = {}

    def say(self, role: Role, text: str) -> None:
        """A message of somebody."""
        self._messages.append(Message(role, text))

    def call(self, given: object, tool: str, arguments: dict[str, Any]) -> str:
        """A call by the message before it; gives the id that it has from now on."""
        raw = call_id(given, tool, arguments)
        names = self._named.setdefault(raw, [])
        name = raw if not names else f"{raw}#{len(names) + 1}"
        names.append(name)
        if not self._messages or self._messages[-1].role != "assistant":
            self.say("assistant", "")
        last = self._messages[-1]
        self._messages[-1] = msgspec.structs.replace(last, calls=(*last.calls, ToolCall(name, tool, arguments)))
        self._open[name] = tool
        return name

    def result(self, given: object, text: str, marks: Marks = NO_MARKS, *, tool: str | None = None) -> None:
        """What a call gave. Without an id it is that of the oldest open call, of this tool where one is named."""
        raw = identity(given)
        if raw is None:
            waiting = [name for name, called in self._open.items() if tool is None or called == tool]
            if not waiting:
                return
            name = waiting[0]
        else:
            names = self._named.get(raw, [raw])
            name = next((one for one in names if one in self._open), names[-1])
        self._open.pop(name, None)
        self._results[name] = Result(text, marks)
        self._messages.append(Message("tool", text, answers=name))

    def take(self) -> tuple[tuple[Message, ...], dict[str, Result]]:
        """The messages, calls joined with their results, and the results by id."""
        warm = _warm(self._messages)
        messages = [self._finished(message, at in warm) for at, message in enumerate(self._messages)]
        return tuple(messages), self._results

    def _finished(self, message: Message, is_warm: bool) -> Message:
        if not message.calls and not is_warm:
            return message
        calls = [
            msgspec.structs.replace(call, result=self._results.get(call.id), synthetic=is_warm)
            for call in message.calls
        ]
        return msgspec.structs.replace(message, calls=tuple(calls), synthetic=is_warm)


def call_id(given: object, tool: str, arguments: dict[str, Any]) -> str:
    """The id of a call; where the provider gave none, one that the same call has everywhere."""
    raw = identity(given)
    if raw is not None:
        return raw
    try:
        said = _encode([tool, arguments])
    except (UnicodeError, RecursionError):
        said = tool.encode("utf-8", "replace")
    return f"made_{blake2b(said, digest_size=8).hexdigest()}"


def _warm(messages: list[Message]) -> set[int]:
    """The positions that a warm start put there: whole blocks, and calls that bear its ids."""
    found: set[int] = set()
    for at, message in enumerate(messages):
        if any(is_synthetic_id(call.id) for call in message.calls) or is_synthetic_id(message.answers or ""):
            found.add(at)
        # What tools return and models say could say anything; a block is opened by a prompt.
        if message.role not in ("user", "system") or at in found:
            continue
        if message.text.startswith(_OLDER_BLOCKS):
            found.add(at)
        elif message.text.startswith(OPENS):
            found.update(range(at, _end_of_block(messages, at) + 1))
    return found


def _end_of_block(messages: list[Message], start: int) -> int:
    """The message that ends a block; one that nobody ended is one message long."""
    for at in range(start, len(messages)):
        if messages[at].role != "tool" and messages[at].text.rstrip().endswith(ENDS):
            return at
    return start
