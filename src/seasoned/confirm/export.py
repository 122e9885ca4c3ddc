"""Where a policy may send the head of the audit."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

_SAFE_ADDRESS = re.compile(r"https://[^/]|http://(?:127\.0\.0\.1|localhost|\[::1\])[:/]")


class Audit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the head of the audit is sent, so that nobody can write all of it anew without being found out."""

    export: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)] | None = None
    """A file, or an address that takes signed webhooks."""
    every_seconds: Annotated[float, msgspec.Meta(gt=0, le=86_400 * 366)] = 3600


def check_export(to: str) -> str | None:
    """Why heads cannot be sent there; elsewhere than on this machine somebody on the way could hold one back."""
    if "://" not in to or _SAFE_ADDRESS.match(to):
        return None
    return "expected a file, or an address that begins with https://."
