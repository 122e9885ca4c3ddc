"""Recognises sentences that a session has from a result: what a page or a file said is not the agent's own word.

Only verbatim sentences are found, and only in the newest results: a scan reads every byte of a history, and this must
not cost more than a look at each. What repeats in other words is left to the checks of what is shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from seasoned.command.tool import tool_of
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall

_FILES = ("file_read", "file_write", "search")
_RESULTS = 30
_RESULT_CHARS = 12_000
_TEXT_CHARS = 2_000
_SENTENCES = 4
_ANCHOR_CHARS = 32
# Shorter sentences are said by chance: so many words, or characters of a script without spaces.
_FEWEST_WORDS = 4
_FEWEST_CHARS = 8
_SENTENCE = LazyRegex(r"[^.!?;\n。！？；।؟]{8,}")
_SPACELESS = LazyRegex(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


class EarlierResults:
    """The newest results of a session, up to the call that is looked at."""

    def __init__(self) -> None:
        # All of them one after the other, each with a NUL behind it; and how long each is, with its NUL.
        self._joined = bytearray()
        self._lengths: deque[int] = deque()

    def add(self, text: str) -> None:
        if len(text) < _FEWEST_CHARS:
            return
        if len(self._lengths) == _RESULTS:
            del self._joined[: self._lengths.popleft()]
        data = text[:_RESULT_CHARS].encode("utf-8", "surrogatepass")
        self._joined += data
        self._joined.append(0)
        self._lengths.append(len(data) + 1)

    def holds(self, text: str, *, own: str = "") -> bool:
        """Whether a text repeats a sentence of a result that is not one of the user's `own` words."""
        # Without so many blanks no sentence is long enough: most commands end here.
        if not self._joined or (text.count(" ", 0, _TEXT_CHARS) < _FEWEST_WORDS - 1 and text.isascii()):
            return False
        for anchor in _anchors(text):
            if anchor not in own and _is_in(anchor.encode("utf-8", "surrogatepass"), self._joined):
                return True
        return False

    def fill(self, call: ToolCall, *, own: str = "") -> bool:
        """Whether a value that is given to a tool repeats such a sentence.

        An edit repeats the text that it replaces, and a list of what to do is not shown to others.
        """
        if not self._joined or (tool := tool_of(call.tool)).form in _FILES or tool.trivial:
            return False
        return any(self.holds(text, own=own) for text in _texts(call.arguments))


def _is_in(needle: bytes, joined: bytearray) -> bool:
    """Whether the results contain it; the NUL behind the last one is not part of them."""
    return (_c_search() or _search)(joined, len(joined) - 1, needle)


def _search(text: bytearray, length: int, needle: bytes) -> bool:
    return text.find(needle, 0, length) >= 0


@cache
def _c_search() -> Callable[[bytearray, int, bytes], bool] | None:
    """The search of the C library; None where it cannot be called.

    It skips by pairs of bytes, so it is four times as fast as Python's. A scan looks for every sentence of a session in
    its last results, which would otherwise take a tenth of its time.
    """
    # Imported here: hooks import this module and never search.
    try:
        import ctypes

        memmem = ctypes.CDLL(None).memmem
    except (ImportError, OSError, AttributeError, TypeError):
        return None
    memmem.restype = ctypes.c_void_p
    memmem.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    begin_of, by_reference = ctypes.c_char.from_buffer, ctypes.byref

    def search(text: bytearray, length: int, needle: bytes) -> bool:
        return memmem(by_reference(begin_of(text)), length, needle, len(needle)) is not None

    return search


def _anchors(text: str) -> Iterator[str]:
    """The middle of each of the first sentences: what is looked for in results."""
    found = 0
    for match in _SENTENCE.compiled.finditer(text[:_TEXT_CHARS]):
        sentence = match[0].strip()
        is_long = sentence.count(" ") >= _FEWEST_WORDS - 1
        if is_long or (not sentence.isascii() and len(_SPACELESS.compiled.findall(sentence)) >= _FEWEST_CHARS):
            start = max(0, (len(sentence) - _ANCHOR_CHARS) // 2)
            yield sentence[start : start + _ANCHOR_CHARS]
            found += 1
            if found == _SENTENCES:
                return


def _texts(value: Any, depth: int = 4) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner, depth - 1)
