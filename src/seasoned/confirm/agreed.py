"""The policy that people agreed to: once there is one, no other file is put into force."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.errors import CannotDo
from seasoned.store import Database


def check_agreed(database: Database, file: Path, digest: str) -> None:
    """Nothing, if a policy of this digest was agreed to, or none was yet; CannotDo otherwise."""
    row = database.row("service.agreed_policy")
    if row is None:
        return
    if msgspec.json.decode(row["document"])["sha256"] != digest:
        raise CannotDo(
            f"{str(file)!r} is not the policy that was agreed to: put it into force with "
            "`seasoned confirm policy use`, or bring the agreed one back."
        )
