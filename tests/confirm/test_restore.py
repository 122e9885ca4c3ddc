"""Restoring a backup: what happened since it was made stays so, an admin proves it, and no service runs meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.app.confirm import restore_backup as restore
from seasoned.config import Config
from seasoned.confirm.audit.verify import check_heads, full_head, verify
from seasoned.confirm.request.request import SERVICE_LOCK, Request
from seasoned.errors import CannotDo, Conflict, Unauthorised
from seasoned.file_lock import locked
from seasoned.store import open_store
from seasoned.store.backup import back_up
from tests.confirm.books import Scene
from tests.confirm.keys import WORDS, first_admin_of


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(home=tmp_path / "home")


def asked(prompt: str) -> str:
    """A person at the terminal who types the passphrase."""
    assert prompt == "Passphrase of boss to restore a backup: "
    return WORDS


def scene_with_backup(config: Config, copy: Path) -> tuple[Scene, list[Request]]:
    """Requests that were approved, pending and pending when the backup was made, and are used up now."""
    scene = Scene(open_store(config.store_path))
    first_admin_of(scene.database, now=scene.clock())
    requests = [scene.ask() for _ in range(3)]
    scene.approve(requests[0])
    store = scene.database
    assert not isinstance(store, str)
    back_up(store, copy)  # type: ignore[arg-type]
    scene.book.redeem(scene.agent, requests[0].id, digest=requests[0].digest)
    scene.deny(requests[1])
    scene.clock.forward(301)
    scene.book.expire_due()
    return scene, requests


def reopened(scene: Scene, config: Config) -> Scene:
    scene.database.close()
    scene.reopen(open_store(config.store_path))
    return scene


def test_what_was_used_since_the_backup_stays_used(config: Config, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    scene, requests = scene_with_backup(config, copy)
    head = full_head(scene.database, now=scene.clock())
    kept = restore(config, copy, ask=asked, clock=scene.clock)
    assert kept is not None and kept.exists()
    reopened(scene, config)
    status = [scene.book.look(scene.anna, one.id).status for one in requests]
    assert status == ["approved", "denied", "expired"]
    with pytest.raises(Conflict, match="already redeemed"):
        scene.book.redeem(scene.agent, requests[0].id, digest=requests[0].digest)
    assert verify(scene.database).ok
    assert check_heads(scene.database, [head]).ok, "the audit goes on from where it was"
    newest = scene.book.audit(1)[0]
    assert (newest.event, newest.actor) == ("restored", "boss")
    with pytest.raises(CannotDo, match="not that of the present store"):
        other = Config(home=tmp_path / "other")
        scene_with_backup(other, tmp_path / "second.db")[0].database.close()
        restore(other, copy, ask=asked, clock=scene.clock)


def test_without_the_passphrase_or_under_a_service_nothing_is_replaced(config: Config, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    scene, _ = scene_with_backup(config, copy)
    scene.database.close()
    before = config.store_path.stat().st_ino
    with pytest.raises(Unauthorised):
        restore(config, copy, ask=lambda _: "not the right words", clock=scene.clock)
    service = locked(config.home / SERVICE_LOCK, shared=True)
    with service, pytest.raises(CannotDo, match="A service uses this store"):
        restore(config, copy, ask=asked, clock=scene.clock)
    assert config.store_path.stat().st_ino == before
    assert [path.name for path in config.home.glob("*restoring*")] == []


def test_on_another_machine_the_admin_of_the_backup_proves_it(config: Config, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    scene, _ = scene_with_backup(config, copy)
    scene.database.close()
    new = Config(home=tmp_path / "new")
    assert restore(new, copy, ask=asked, clock=scene.clock) is None
    reopened(scene, new)
    assert scene.book.audit(1)[0].event == "restored"
    assert verify(scene.database).ok
