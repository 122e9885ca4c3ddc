"""Finds the intent of each call and words that repeat a result.

What a page or a file said is not the agent's own word. Only verbatim sentences are found, and only in the newest
results: a scan reads every byte of a history, and this must not cost more than a look at each. What repeats in other
words is left to the checks of what is shown.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from seasoned.command.tool import tool_of
from seasoned.lazy_regex import LazyRegex
from seasoned.session import Message, Session, ToolCall

INTENT_CHARS = 200
_SAID_CHARS = 400
_QUESTION_CHARS = 300
_FEWEST_CHARS = 8  # shorter messages ("Done.", "ok") do not state an intent, and are said by chance
# How messages begin that the agent's program wrote in the user's name.
_WRAPPED = ("<", "[", "Caveat:", "This session is being continued")
_ASSENT = LazyRegex(
    r"(?i)\W*(?:yes|yeah|yep|yup|y|ok(?:ay)?|sure|continue|go(?: ahead| on)?|proceed|please|do it|correct|right"
    r"|confirm(?:ed)?|that(?:['’]s| is) (?:correct|right|fine|good|perfect)|sounds good|thanks?|thank you|perfect"
    r"|great|good)\b.{0,25}\Z"
)
_APPENDED = "<system-reminder>"
# Codex puts a heading in front of the block with AGENTS.md.
_BLOCKS = LazyRegex(r"\A(?:(?:# AGENTS\.md instructions[^\n]*\s+)?<([\w-]+)[^>]*>.*?</\1>\s*)+", re.DOTALL)
# What a person wrote behind a command, or had another session say.
_GIVEN = LazyRegex(r"<(?:command-args|input)>([^<]+)<")
# A call spelled out in the text of a message.
_SPELLED = LazyRegex(r"(?i)\s*(?:action\s*:|[\[{<])")
# A request for permission at the end of a message.
_LEAVE = LazyRegex(
    r"""(?ix)(?:
        \b(?:shall|should|may)\s+(?:i|we)\b[^.?!]{0,200}\?
      | \b(?:can|could)\s+(?:i|we)\s+(?:proceed|go\s+ahead|continue|start|do\s+(?:that|this|so))\b[^.?!]{0,120}\?
      | \b(?:do|would)\s+you\s+(?:confirm|agree|approve|consent|accept|want|wish|like|prefer|authori[sz]e)\b
          [^.?!]{0,200}\?
      | \b(?:want|like|need)\s+(?:me|us)\s+to\b[^.?!]{0,200}\?
      | \b(?:is|are|does|do)\s+(?:that|this|it|these|those|everything|all|you)\s+(?:all\s+)?(?:(?:sound|look)s?\s+)?
          (?:ok(?:ay)?|fine|correct|right|alright|good|acceptable|sure|ready)\b[^.?!]{0,120}\?
      | \b(?:ok(?:ay)?|ready|good|happy|alright)\s+(?:to|for\s+me\s+to|if\s+i|with)\b[^.?!]{0,120}\?
      | \b(?:proceed|continue|go\s+ahead|confirm(?:ed)?|ok(?:ay)?|agreed|right|correct)\s*\?
      | \bplease\s+(?:confirm|reply|respond|answer|say|type)\b[^.?!]{0,200}
          \b(?:yes|proceed|go\s+ahead|correct|(?:if|whether|that)\s+you|(?:so|before)\s+i)\b[^.?!]{0,120}[.?!]?
      | \blet\s+(?:me|us)\s+know\s+(?:if|whether|when)\b[^.?!]{0,200}[.?!]?
      | \b(?:yes\s*/\s*no|y\s*/\s*n)\b
      | \b(?:soll\s+ich|möchten\s+sie|einverstanden|voulez-vous|quieres\s+que|desea|confirma)\b[^.?!]{0,200}\?
      | (?:可以吗|好吗|确认吗|よろしいですか|いいですか)[？?]
    )\W*(?:\b(?:yes\s*/\s*no|y\s*/\s*n)\b)?\W*\Z"""
)
# Every request for permission contains one of these, so the expression above runs seldom.
_ASKING = ("?", "？", "please", "know", "y/n", "y / n", "yes/no", "yes / no")


class SpokenCall(NamedTuple):
    """A call with the words that led to it, and whether it repeats words of an earlier result."""

    call: ToolCall
    words: str | None
    is_foreign: bool = False


def intents(session: Session) -> Iterator[SpokenCall]:
    """Each call of a stretch with its intent: the words that led to it.

    For the first call of a turn that is the user's request, for later ones the last text of the agent, if any. What the
    agent repeats from a result is not its own word, and no intent.
    """
    asked: str | None = None
    is_first = True
    said: str | None = None
    earlier = EarlierResults()
    for message in session.messages:
        if message.role == "user":
            words = users_words(message)
            if words is None:
                continue
            if said is not None and _ASSENT.compiled.match(words):
                is_first = False  # "Yes, go on" refers to the proposal before it.
                if asks_leave(said):
                    # The question without its answer would read as if no permission was needed: keep no intent.
                    asked = said = None
            else:
                asked, said, is_first = words, None, True
        elif message.role == "assistant" and not message.synthetic:
            if _speaks(message):
                said = None if earlier.holds(message.text[:_SAID_CHARS], own=asked or "") else message.text
            if message.calls:
                words = asked if asked is not None and (is_first or said is None) else said
                is_first = False
                for call in message.calls:
                    yield SpokenCall(call, words, earlier.fill(call, own=asked or ""))
                for call in message.calls:
                    earlier.add("" if call.result is None else call.result.text)
                continue
        for call in message.calls:
            yield SpokenCall(call, None)


def _speaks(message: Message) -> bool:
    """Whether an agent's message has text other than a spelled-out call."""
    return len(message.text) >= _FEWEST_CHARS and not message.summary and not _SPELLED.compiled.match(message.text[:40])


def asks_leave(words: str) -> bool:
    """Whether a text ends by asking for permission: "Shall I?", "Do you confirm this change?"."""
    end = words[-_QUESTION_CHARS:].lower()
    # The expression is slow and few messages ask for permission.
    return any(sign in end for sign in _ASKING) and _LEAVE.compiled.search(end) is not None


def users_words(message: Message) -> str | None:
    """The text that a person wrote in a user message; None if a program wrote it."""
    if message.synthetic or message.summary:
        return None
    text = message.text.partition(_APPENDED)[0].strip()
    if text.startswith("<"):
        # What an editor or the agent puts in front of the words: the open file, plugins, the environment.
        given = _GIVEN.compiled.search(text)
        text = given[1].strip() if given else _BLOCKS.compiled.sub("", text, 1)
    return None if not text or text.startswith(_WRAPPED) else text


_FILES = ("file_read", "file_write", "search")
_RESULTS = 30
_RESULT_CHARS = 12_000
_TEXT_CHARS = 2_000
_SENTENCES = 4
_ANCHOR_CHARS = 32
# Shorter sentences are said by chance: so many words, or `_FEWEST_CHARS` characters of a script without spaces.
_FEWEST_WORDS = 4
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
