"""Devices that vote for a person: a phone unlocked with the passphrase, and the passkeys of the web page.

Buttons of Telegram and Discord, and webhooks, prove only that they know secrets stored in files. So a phone decides
only after its person has typed the passphrase. The service then keeps a key for the phone in memory; the audit has the
signed permission and each vote. Passkeys are recorded in the audit alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from seasoned.confirm.audit.chain import SigningKey, read_head, writing
from seasoned.confirm.audit.passkey import Passkey, PasskeySignature, VoteStatement
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.people.credential import Credential, UnlockedCredential, current
from seasoned.confirm.people.passphrase import check_key, unlocked
from seasoned.errors import CannotDo, NotFound, Refused, UsageError
from seasoned.store import Database

if TYPE_CHECKING:
    from seasoned.confirm.request.book import Book

# Channels without a field for a passphrase. One-time links always ask for it.
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
        """Let a device vote; it replaces an earlier one of this person."""
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


class PasskeyAnswer(msgspec.Struct, frozen=True):
    """What the page sends when a passkey was touched; bytes in base64url."""

    credential: str
    statement: VoteStatement
    authenticator: str
    client: str
    value: str


def add_passkey(book: Book, who: UnlockedCredential, passkey: Passkey) -> None:
    """Let a passkey decide for a person, who has typed their passphrase."""
    with writing(book.database) as chain:
        current(book.database, who)
        state = book.recorded()
        check_key(state, who)
        if passkey.public in state.keys:
            raise Refused("this passkey was already added")
        facts = {"name": who.name, **msgspec.to_builtins(passkey), "label": book.redactor.text(passkey.label)}
        chain.append("passkey_added", facts, at=float(book.clock()), actor=who.name, signer=who.key)


def remove_passkey(book: Book, who: UnlockedCredential, credential: str) -> None:
    """Remove a passkey of this person."""
    with writing(book.database) as chain:
        current(book.database, who)
        state = book.recorded()
        check_key(state, who)
        found = next((one for one in state.passkeys(who.name) if one.credential == credential), None)
        if found is None:
            raise NotFound(f"{who.name!r} has no such passkey: it was already removed")
        facts = {"name": who.name, "public": found.public}
        chain.append("passkey_removed", facts, at=float(book.clock()), actor=who.name, signer=who.key)


def statement_for(book: Book, who: Credential, request_id: str, *, approve: bool) -> VoteStatement:
    """What a passkey of this person would sign to decide a request now."""
    digest, head = book.look(who, request_id).digest, read_head(book.database)
    return VoteStatement(
        name=who.name,
        request=request_id,
        digest=digest,
        approve=approve,
        at=float(book.clock()),
        seq=head.seq,
        head=head.hash,
    )


def unlocked_by_passkey(state: RecordedState, who: Credential, answer: str) -> UnlockedCredential:
    """The person with the signature of one of their passkeys, as the page sends it: good for one decision."""
    try:
        said = msgspec.json.decode(answer, type=PasskeyAnswer)
    except msgspec.MsgspecError as error:
        raise UsageError("the browser's answer is not one of a passkey: try again") from error
    found = next((one for one in state.passkeys(who.name) if one.credential == said.credential), None)
    if found is None:
        raise Refused(f"this passkey does not decide for {who.name!r}: use your passphrase, and add the passkey")
    signed = PasskeySignature(
        public=found.public,
        statement=said.statement,
        authenticator=said.authenticator,
        client=said.client,
        value=said.value,
    )
    return unlocked(who, signed)
