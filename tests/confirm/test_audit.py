"""The audit: what it shows when somebody changed it, and what only an exported head shows."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from seasoned.confirm.audit.chain import FIRST, AuditHead, read_head, verify_chain
from seasoned.confirm.audit.verify import check_heads, read_heads, verify
from seasoned.errors import CannotDo, UsageError
from seasoned.store import Database
from tests.confirm.books import Scene, raw, without_guards
from tests.each_case import check_each


@pytest.fixture
def scene(any_database: Database) -> Scene:
    """A book with a request that was redeemed, one denied, one expired and one pending."""
    scene = Scene(any_database)
    used, denied, expired = scene.ask(), scene.ask(), scene.ask(timeout_seconds=30)
    scene.approve(used)
    scene.book.redeem(scene.agent, used.id, digest=used.digest)
    scene.deny(denied, reason="no")
    scene.clock.forward(31)
    scene.book.expire_due()
    assert expired.status == "pending"
    scene.ask()
    return scene


def test_an_audit_that_nobody_touched_holds(scene: Scene) -> None:
    found = verify(scene.database)
    assert (found.ok, found.first_bad, found.reason) == (True, None, "")
    assert found.rows == scene.book.last_seq() == read_head(scene.database).seq


def test_an_empty_audit_holds(any_database: Database) -> None:
    assert verify(any_database).ok
    assert read_head(any_database) == AuditHead(0, FIRST)
    assert check_heads(any_database, [read_head(any_database)]).ok


def test_a_changed_row_is_named(scene: Scene) -> None:
    without_guards(scene.database, "audit")
    (before,) = raw(scene.database, "SELECT * FROM audit WHERE seq = 5")

    def check(column: str, value: object) -> None:
        raw(scene.database, f"UPDATE audit SET {column} = ? WHERE seq = 5", (value,))
        found = verify(scene.database)
        assert (found.ok, found.first_bad) == (False, 5), found.reason
        assert "row 5" in found.reason
        raw(scene.database, f"UPDATE audit SET {column} = ? WHERE seq = 5", (before[column],))

    texts = [(column, "x") for column in ("actor", "request_id", "via", "hash", "previous")]
    check_each([*texts, ("at", 1.0), ("event", "expired"), ("document", "{}")], check)
    assert verify(scene.database).ok
    raw(scene.database, "DELETE FROM audit WHERE seq = 4")
    found = verify(scene.database)
    assert (found.ok, found.first_bad) == (False, 4)
    assert "missing" in found.reason


def test_missing_last_rows_are_seen_by_the_head(scene: Scene) -> None:
    last = scene.book.last_seq()
    without_guards(scene.database, "audit")
    raw(scene.database, f"DELETE FROM audit WHERE seq > {last - 2}")
    found = verify(scene.database)
    assert (found.ok, found.first_bad) == (False, last - 1)
    assert f"rows {last - 1} to {last} are missing" in found.reason


def _cut(scene: Scene, count: int) -> None:
    """Cut the end off so that the database alone does not show it."""
    without_guards(scene.database, "audit", "audit_head")
    keep = scene.book.last_seq() - count
    raw(scene.database, f"DELETE FROM audit WHERE seq > {keep}")
    row = scene.database.row("confirm.audit_row", {"seq": keep})
    assert row is not None
    raw(scene.database, "UPDATE audit_head SET seq = ?, hash = ?", (keep, row["hash"]))


def test_a_cut_end_is_seen_by_an_exported_head(scene: Scene) -> None:
    exported = read_head(scene.database)
    assert check_heads(scene.database, [exported]).ok
    _cut(scene, 3)
    assert verify_chain(scene.database).ok, "the chain alone cannot tell"
    found = check_heads(scene.database, [exported])
    assert (found.ok, found.first_bad) == (False, exported.seq - 2)
    assert "cut off" in found.reason


def test_an_audit_written_anew_is_seen_by_an_exported_head(scene: Scene) -> None:
    exported = read_head(scene.database)
    _cut(scene, 2)
    scene.ask("delete_data")
    scene.ask("delete_data")
    found = check_heads(scene.database, [exported])
    assert (found.ok, found.first_bad) == (False, exported.seq)
    assert "rewritten" in found.reason


def test_a_request_that_stands_otherwise_than_its_audit_is_named(scene: Scene) -> None:
    without_guards(scene.database, "request", "vote")
    raw(scene.database, "UPDATE request SET digest = 'other' WHERE status = 'pending'")
    found = verify(scene.database)
    assert not found.ok and "digest" in found.reason
    assert found.first_bad == scene.book.last_seq(), "the last that was heard of it"
    raw(scene.database, "UPDATE request SET redeemed_at = NULL WHERE status = 'approved'")
    assert "redeemed_at" in " ".join(verify(scene.database).problems)
    raw(scene.database, "DELETE FROM outbox")
    raw(scene.database, "DELETE FROM request WHERE status = 'pending'")
    assert "deleted" in " ".join(verify(scene.database).problems)


def test_heads_are_read_from_a_file_line_by_line(scene: Scene, tmp_path: Path) -> None:
    first = read_head(scene.database, now=1.0)
    scene.ask("delete_data")
    second = read_head(scene.database, now=2.0)
    file = tmp_path / "heads"
    file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (first, second)))
    assert read_heads(file) == [first, second]
    assert second.seq == first.seq + 1
    assert all(check_heads(scene.database, [one]).ok for one in read_heads(file))


def test_a_file_of_heads_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotDo, match="cannot be read"):
        read_heads(tmp_path / "none")
    (tmp_path / "wrong").write_text("{}\n", "utf-8")
    with pytest.raises(UsageError, match="not an exported head"):
        read_heads(tmp_path / "wrong")
