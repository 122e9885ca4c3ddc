"""What the tables that machines may share know of sessions: it goes with them, but for what people were asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from seasoned.store.database import Store
from seasoned.store.seam import Database

OF_A_SESSION = (
    "experiment.drop_assignment",
    "experiment.drop_exposure",
    "experiment.drop_foregone",
    "gateway.forget_view",
    "gateway.forget_chains",
    "gateway.forget_name",
    "trace.forget_run",
)
EVERYTHING = (
    "experiment.forget_assignments",
    "experiment.forget_exposures",
    "experiment.forget_foregone",
    "experiment.forget_splits",
    "gateway.forget_views",
    "gateway.forget_all_chains",
    "gateway.forget_requests",
    "trace.forget_runs",
)


class Asked(msgspec.Struct, frozen=True):
    """Requests for confirmation that sessions made. They are never changed: else the audit would prove nothing."""

    requests: int = 0
    pending: int = 0
    """Of these, how many nobody has decided yet."""


def refs_of(store: Store, session_ids: Iterable[int]) -> list[str]:
    """The names of sessions, as other tables have them."""
    rows = (store.row("forget.ref", {"id": one}) for one in session_ids)
    return [f"{row['agent']}:{row['native_id']}" for row in rows if row is not None]


def forget_elsewhere(database: Database, refs: Sequence[str]) -> None:
    """Remove what these sessions left in a database apart from the store; what others left there is theirs."""
    with database.write():
        for statement in OF_A_SESSION:
            database.run_many(statement, [{"session": ref} for ref in refs])


def count_asked(database: Database, refs: Collection[str]) -> Asked:
    """What people were asked by these sessions."""
    wanted = set(refs)
    rows = [row for row in database.rows("trace.asked") if row["session_key"] in wanted]
    return Asked(sum(int(row["requests"]) for row in rows), sum(int(row["pending"]) for row in rows))
