"""Lets a phone vote for a person: they unlock it with their passphrase, and the service keeps its key in memory.

Buttons of Telegram and Discord, and webhooks, prove only what the service can check, with secrets that lie in files.
So none of them decides until a person has said so; the audit has that, signed, and each vote of the device.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec

from seasoned.confirm.audit.chain import SigningKey, writing
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.people.credential import Credential, UnlockedCredential, current
from seasoned.confirm.people.passphrase import check_key, unlocked
from seasoned.errors import CannotDo, UsageError
from seasoned.store import Database

# What has no place for a passphrase. One-time links have: they always ask for it.
CHANNELS = ("telegram", "discord", "webhook")
MOST_SECONDS = 30 * 86_400.0
DEFAULT_SECONDS = 12 * 3600.0
Close = Callable[[str, bytes], bytes]


class Device(msgspec.Struct, frozen=True):
    """A key that votes for a person, over some channels and for a time."""

    name: str
    key: SigningKey
    channels: tuple[str, ...]
    expires_at: float


class DeviceKeys:
    """The devices that are unlocked, in the memory of one service; its threads share it."""

    def __init__(self) -> None:
        self._devices: dict[str, Device] = {}
        self._lock = threading.Lock()

    def add(self, device: Device) -> None:
        """Let a device vote; it takes the place of an earlier one of this person."""
        with self._lock:
            self._devices[device.name] = device

    def unlock(self, who: Credential, via: str, *, now: float) -> UnlockedCredential | None:
        """The person with the device's key; None if they have unlocked none for this channel."""
        found = self._devices.get(who.name)
        if found is None or via not in found.channels or now >= found.expires_at:
            return None
        return unlocked(who, found.key)

    def until(self, name: str, *, now: float) -> float | None:
        """Until when the device of a person may vote; None if it may not."""
        found = self._devices.get(name)
        return None if found is None or now >= found.expires_at else found.expires_at


def add_device(
    database: Database,
    who: UnlockedCredential,
    *,
    now: float,
    seconds: float = DEFAULT_SECONDS,
    close: Close | None = None,
) -> Device:
    """Let the phone of a person vote for a time. With `close`, its key is also stored, encrypted."""
    if not 0 < seconds <= MOST_SECONDS:
        raise UsageError(
            f"a phone can be unlocked for up to {MOST_SECONDS / 86_400:g} days, not for {seconds:g} seconds"
        )
    made = Device(who.name, SigningKey(), CHANNELS, float(now + seconds))
    with writing(database) as chain:
        current(database, who)
        check_key(RecordedState(database).update(), who)
        facts = {
            "name": who.name,
            "public": made.key.public,
            "channels": list(CHANNELS),
            "expires_at": made.expires_at,
        }
        chain.append("device_added", facts, at=now, actor=who.name, signer=who.key)
        if close is not None:
            sealed = close(_purpose(made.key.public), made.key.private_bytes())
            kept = {"public_key": made.key.public, "name": who.name, "sealed": sealed, "expires_at": made.expires_at}
            database.run("confirm.add_device", kept)
    return made


def stored_devices(database: Database, open_sealed: Close, *, now: float) -> list[Device]:
    """The devices that the service remembers over restarts; what cannot be decrypted is left out."""
    found = []
    for row in database.rows("confirm.devices", {"now": now}):
        public = str(row["public_key"])
        try:
            key = SigningKey(open_sealed(_purpose(public), bytes(row["sealed"])))
        except (CannotDo, ValueError):
            continue
        found.append(Device(str(row["name"]), key, CHANNELS, float(row["expires_at"])))
    return found


def _purpose(public: str) -> str:
    return f"device {public}"
