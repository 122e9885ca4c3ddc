"""The marks of what we show: how blocks, their calls and hints are distinguished from what a session did itself."""

from __future__ import annotations

import re

from seasoned.lazy_regex import LazyRegex

# How a hint begins inside other text.
HINT_OPENS = "[seasoned] "
BLOCK_OPENS = "[seasoned:warm "
BLOCK_ENDS = "[seasoned:end]"
CALL_ID_PREFIX = "warm_"
# What earlier programs wrote. Their blocks are one message long and have no end mark.
OLDER_BLOCKS = ("[WARM SESSION", "[Warm pattern", "Session template loaded:")
_OPENINGS = (BLOCK_OPENS, *OLDER_BLOCKS)
_OLDER_CALL_ID = re.compile(r"template_.+_\d+\Z")
# A block or hint inside the words of others, with the tag or the sentence that an agent puts around it.
_TOLD = LazyRegex(
    r"(?:<(?P<tag>[\w:-]+)>\s*|Tool \"[^\"\n]*\" \w+\. Additional guidance from \w+ hooks:\n)?"
    r"(?:(?:\[seasoned:\w+[^\]\n]*\].*?\[seasoned:end\]\s*)+|\[seasoned\] (?(tag).*?(?=</(?P=tag)>)|[^\n]*))"
    r"(?(tag)\s*</(?P=tag)>)\s*",
    re.DOTALL,
)
# A hint after a result is one line at its end.
_TAIL_CHARS = 2000


def opens_block(text: str) -> bool:
    """Whether a prompt begins a warm block, of this version or an older one."""
    return text.startswith(_OPENINGS)


def without_told(text: str) -> str:
    """A text without the blocks and hints that agents inserted for us."""
    return _TOLD.compiled.sub("", text).strip("\n") if "[seasoned" in text else text


def without_hint(result: str) -> str:
    """A result without the hint that an agent appended for us."""
    if HINT_OPENS not in result[-_TAIL_CHARS:]:
        return result
    start = max(0, len(result) - _TAIL_CHARS)
    found = [one for one in _TOLD.compiled.finditer(result, start) if one.end() == len(result)]
    return result[: found[-1].start()].rstrip("\n") if found else result


def is_synthetic_id(call_id: str) -> bool:
    """Whether a call id was made up for a call that a warm block shows."""
    return call_id.startswith(CALL_ID_PREFIX) or _OLDER_CALL_ID.match(call_id) is not None
