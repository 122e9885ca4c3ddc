"""The marks of warm blocks: how a block and its calls are distinguished from what a session did itself."""

from __future__ import annotations

import re

BLOCK_OPENS = "[seasoned:warm "
BLOCK_ENDS = "[seasoned:end]"
CALL_ID_PREFIX = "warm_"
# What earlier programs wrote. Their blocks are one message long and have no end mark.
OLDER_BLOCKS = ("[WARM SESSION", "[Warm pattern", "Session template loaded:")
_OLDER_CALL_ID = re.compile(r"template_.+_\d+\Z")
_OPENING = re.compile(r"\[seasoned:warm v1 \S{1,80} ([0-9a-f]{16})\]")


def opens_block(text: str) -> bool:
    """Whether a prompt begins a warm block, of this version or an older one."""
    return text.startswith((BLOCK_OPENS, *OLDER_BLOCKS))


def digest_in(text: str) -> str | None:
    """The digest of the block that a text opens; None if it opens none."""
    found = _OPENING.match(text)
    return None if found is None else found[1]


def is_synthetic_id(call_id: str) -> bool:
    """Whether a call id was made up for a call that a warm block shows."""
    return call_id.startswith(CALL_ID_PREFIX) or _OLDER_CALL_ID.match(call_id) is not None
