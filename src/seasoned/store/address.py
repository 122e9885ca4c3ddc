"""The address of a database as it may be shown: without its password, whichever way it is written."""

from __future__ import annotations

import re

_HIDDEN = "***"
_NAMES = r"(?:ssl)?password"
# Up to the last sign before the path's end: a password that was not encoded may hold the sign itself.
_IN_ADDRESS = re.compile(r"(?is)(?<=://)([^:@/]*):(.*)@")
_IN_QUERY = re.compile(rf"(?i)([?&]{_NAMES}=)[^&#]*")
_IN_WORDS = re.compile(rf"(?is)(\b{_NAMES}\s*=\s*)(?:'(?:\\.|[^'\\])*'?|(?:\\.|\S)+)")


def without_password(address: str) -> str:
    """`postgresql://u:secret@host/x` and `host=h password=secret` alike; what cannot be told apart is hidden too."""
    if "://" not in address:
        return _IN_WORDS.sub(rf"\1{_HIDDEN}", address)
    return _IN_QUERY.sub(rf"\1{_HIDDEN}", _IN_ADDRESS.sub(rf"\1:{_HIDDEN}@", address))
