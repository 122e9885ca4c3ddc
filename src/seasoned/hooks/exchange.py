"""What an agent sends to a hook, what the hook answers, and how long it may take; with next to no imports."""

from __future__ import annotations

import _thread  # not threading, which takes a millisecond to import
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 20_000_000
# Fields that agents read next to those of the event.
_FOR_THE_USER = ("systemMessage",)
_received: bytes | None = None


def received() -> bytes:
    """The event as the agent sent it, read once."""
    global _received
    if _received is None:
        _received = sys.stdin.buffer.read(MOST_BYTES)
    return _received


def say(name: str, **fields: str) -> None:
    """Answer an event of this name."""
    _speak(name, fields)


def replace(data: bytes, speak: Callable[[str, dict[str, str]], None]) -> None:
    """Take the event from another place than stdin, and give the answer to a function instead of stdout."""
    global _received, _speak
    _received, _speak = data, speak


def write(line: str) -> None:
    """Write a line of JSON for the agent."""
    # The bytes of a lone surrogate cannot be written as UTF-8, and would end the hook with an error.
    sys.stdout.buffer.write(f"{line}\n".encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _print(name: str, fields: dict[str, str]) -> None:
    try:
        from _json import encode_basestring as quoted
    except ImportError:  # another Python than CPython
        from json.encoder import encode_basestring as quoted

    def members(texts: dict[str, str]) -> str:
        return ",".join(f"{quoted(key)}:{quoted(text)}" for key, text in texts.items())

    own = {key: text for key, text in fields.items() if key not in _FOR_THE_USER}
    user = {key: text for key, text in fields.items() if key in _FOR_THE_USER}
    # Agents may refuse an answer to an event that says nothing.
    parts = [f'"hookSpecificOutput":{{{members({"hookEventName": name, **own})}}}'] if own else []
    line = f"{{{','.join([*parts, *([members(user)] if user else [])])}}}"
    write(line)


_speak = _print


def end_after(seconds: float) -> Callable[[], None]:
    """End this process silently after some time, since the agent waits for it; returns how to cancel that."""
    called_off = _thread.allocate_lock()
    called_off.acquire()

    def end() -> None:
        if not called_off.acquire(timeout=seconds):
            os._exit(0)

    _thread.start_new_thread(end, ())
    return called_off.release
