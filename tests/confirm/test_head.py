"""The head of the audit leaves an agent's reach: to a file or a webhook, by hand and by the service."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.confirm.audit.chain import read_head
from seasoned.confirm.audit.export import check_heads, read_heads, send_head
from seasoned.confirm.notify.http import NotSent
from seasoned.confirm.policy import AuditRule, Policy
from seasoned.errors import CannotDo, UsageError
from seasoned.store import Database
from tests.confirm.books import START, Scene, raw, without_guards
from tests.confirm.other_side import Mood, Receiver, closed_url
from tests.confirm.serving import PEOPLE, serving

KEY = b"k" * 32


def until(holds: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends, what
        time.sleep(0.02)


def with_secret(home: Path, text: str) -> Path:
    (home / "secrets").mkdir(parents=True, mode=0o700)
    (home / "secrets" / "webhook_secret").write_text(text)
    return home


def test_what_a_receiver_writes_down_shows_that_the_audit_was_written_anew(
    any_database: Database, tmp_path: Path
) -> None:
    scene = Scene(any_database)
    with Receiver(KEY) as receiver:
        for _ in range(2):
            scene.ask()
            send_head(read_head(any_database, now=time.time()), f"{receiver.url}/heads", secret=receiver.secret)
        assert all(receiver.is_genuine(one) for one in receiver.heard)
        first, second = (one.value for one in receiver.heard)
        assert {one["schema"] for one in (first, second)} == {"seasoned/confirm-head/1"}
        assert second["seq"] == first["seq"] + 1
        assert len(set(receiver.ids)) == 2
        (tmp_path / "heads").write_bytes(b"".join(one.body + b"\n" for one in receiver.heard))
    heads = read_heads(tmp_path / "heads")
    assert check_heads(any_database, heads).ok
    without_guards(any_database, "audit", "audit_head")
    raw(any_database, "DELETE FROM audit WHERE seq = ?", (second["seq"],))
    raw(any_database, "UPDATE audit_head SET seq = ?, hash = ?", (first["seq"], first["hash"]))
    found = check_heads(any_database, heads)
    assert (found.ok, found.first_bad) == (False, second["seq"])
    assert "its end was cut off" in found.reason


def test_the_same_head_has_the_same_id_so_that_a_copy_is_known(any_database: Database) -> None:
    with Receiver(KEY) as receiver:
        for now in (START, START + 5):
            send_head(read_head(any_database, now=now), receiver.url, secret=receiver.secret)
        assert len(receiver.ids) == 2
        assert len(set(receiver.ids)) == 1


def test_a_head_is_not_sent_unsigned_nor_in_the_open_nor_lost_in_silence(
    any_database: Database, tmp_path: Path
) -> None:
    present = read_head(any_database, now=START)
    with Receiver(KEY) as receiver:
        with pytest.raises(CannotDo, match="webhook_secret"):
            send_head(present, receiver.url, secret=None)
        with pytest.raises(UsageError, match="https://"):
            send_head(present, "http://example.org/heads", secret=receiver.secret)
        assert receiver.heard == []
        with pytest.raises(NotSent, match="401"):
            send_head(present, receiver.url, secret="another secret of many characters")
    with pytest.raises(NotSent, match="no connection"):
        send_head(present, closed_url(), secret=receiver.secret)
    with pytest.raises(CannotDo, match="cannot be written"):
        send_head(present, str(tmp_path / "nowhere" / "heads"), secret=None)


def test_the_service_exports_the_head_by_itself(tmp_path: Path, database_config: Config) -> None:
    policy = Policy(audit=AuditRule(export=str(tmp_path / "heads"), every_seconds=0.2))
    with serving(tmp_path / "home", policy=policy, database_url=database_config.database_url) as found:
        found.ask()
        seq = len(PEOPLE) + 1
        until(lambda: [one.seq for one in read_heads(tmp_path / "heads")][-1:] == [seq], "the file has no new head")
        with found.client("root") as admin, found.client("alice") as approver:
            said = admin.get("/health").json()["export"]
            assert (said["to"], said["row"], said["problem"]) == (str(tmp_path / "heads"), seq, None)
            assert "export" not in approver.get("/health").json()
            assert f"seasoned_confirm_exported_row {seq}.0" in admin.get("/metrics").text


def test_an_export_that_fails_is_visible_and_tried_again(tmp_path: Path) -> None:
    with Receiver(KEY) as receiver:
        receiver.moods = [Mood(503, b"{}"), Mood(503, b"{}")]
        home = with_secret(tmp_path / "home", receiver.secret)
        policy = Policy(audit=AuditRule(export=f"{receiver.url}/heads", every_seconds=0.5))
        with serving(home, policy=policy) as found, found.client("root") as admin:
            problems: list[str] = []

            def is_failing() -> bool:
                problems.append(admin.get("/health").json()["export"]["problem"] or "")
                return "503" in problems[-1]

            until(is_failing, f"no failure was told: {problems[-3:]}")
            until(lambda: admin.get("/health").json()["export"]["row"] is not None, "it was not tried again")
            assert admin.get("/health").json()["export"]["problem"] is None
            assert "seasoned_confirm_export_failures 2.0" in admin.get("/metrics").text
        assert receiver.is_genuine(receiver.heard[-1])


def test_a_missing_secret_is_told_and_the_service_runs_on(tmp_path: Path) -> None:
    policy = Policy(audit=AuditRule(export="https://keeper.example.org/heads"))
    with serving(tmp_path / "home", policy=policy) as found, found.client("root") as admin:
        until(lambda: "webhook_secret" in (admin.get("/health").json()["export"]["problem"] or ""), "nothing was told")
        assert found.ask()["status"] == "pending"
