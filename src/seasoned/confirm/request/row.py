"""Turns rows of the store into requests, and finds risky commands and tool calls in their details."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from seasoned.command.action import action_words
from seasoned.command.call import objects
from seasoned.command.path import WorkingFolder
from seasoned.command.risk import assess_call, gravity
from seasoned.command.rows import Finding
from seasoned.confirm.request.request import APPROVED, Request, Vote, digest_of
from seasoned.errors import CannotDo
from seasoned.store import Database, DatabaseRow

_TOOL_KEYS = ("tool", "tool_name", "name")
_ARGUMENT_KEYS = ("arguments", "args", "tool_input", "input", "parameters")
# Sorted, so that a submitted request and the same one read back share a cache entry.
_encode = msgspec.json.Encoder(order="sorted").encode
_TOO_MUCH = Finding("delete_data", "is too long to be searched, so it may do the worst", "length")
_MOST_KEPT = 20_000
# Fields of a request that are as in its row.
_COLUMNS = (
    *("id", "action", "label", "session_key", "status", "timeout_seconds", "created_at", "expires_at", "resolved_at"),
    *("resolved_by", "reason", "digest", "redeem_before", "redeemed_at", "quorum"),
)
# The requester could claim any working folder, so none is trusted: deleting by an absolute path is always found.
_NOWHERE = WorkingFolder()


def need_in(details: Mapping[str, Any]) -> Finding | None:
    """The worst of the ten actions that a command or tool call in the details needs; None if there is none."""
    return _need_in(_encode(details)) if details else None


def kept_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as they are kept after the decision and sent to chats: of fields that are too long only the size.

    Redacting a megabyte takes seconds, in which other agents would wait; the digest covers all of it.
    """
    left = _MOST_KEPT
    found: dict[str, Any] = {}
    for at, (name, value) in enumerate(details.items()):
        if len(name) > left:
            found["…"] = f"{len(details) - at} more, not kept"
            break
        size = len(name) + len(_encode(value))
        is_kept = size <= left
        found[name] = value if is_kept else f"{size:,} bytes, not kept"
        left -= size if is_kept else len(name)
    return found


def finding_of(action: str, need: Finding | None) -> str:
    """A warning for the approver, if the details need another action than the one that the request names."""
    if need is None or need.action == action:
        return ""
    return f"its details would {action_words(need.action)} ({need.action}): it {need.why}"


@lru_cache(maxsize=1024)
def _need_in(written: bytes) -> Finding | None:
    details: dict[str, Any] = msgspec.json.decode(written)
    found, complete = objects(details)
    if not complete:
        return _TOO_MUCH
    calls = [call for one in found for call in _calls(one)]
    needs = [each for tool, given in calls for each in assess_call(tool, given, _NOWHERE)]
    return min(needs, key=gravity, default=None)


def _calls(one: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tool calls that an object can be read as, under the names that agents use."""
    for tool in (each for key in _TOOL_KEYS if isinstance(each := one.get(key), str)):
        yield from ((tool, given) for key in _ARGUMENT_KEYS if isinstance(given := one.get(key), Mapping))
    # Its own texts and lists; the objects inside it are read separately.
    yield "", {key: _own(value) for key, value in one.items() if isinstance(value, str | list)}


def _own(value: str | list[Any]) -> str | list[Any]:
    """A text, or the words and lists of words in a list; objects are left out."""
    if isinstance(value, str):
        return value
    return [each for each in value if isinstance(each, str) or (isinstance(each, list) and _is_flat(each))]


def _is_flat(value: list[Any]) -> bool:
    return not any(isinstance(each, dict | list) for each in value)


def request_from_row(database: Database, row: DatabaseRow, seal: Seal) -> Request:
    """The request in a row, with its votes. What cannot be unsealed stays redacted, and `is_exact` says so."""
    exact = None
    if row["sealed"] is not None:
        try:
            exact = unsealed(row, seal)
        except CannotDo:
            # It can still be shown redacted; approving it is refused.
            exact = None
    return Request(
        **{name: row[name] for name in _COLUMNS},
        description=row["description"] if exact is None else exact["description"],
        details=msgspec.json.decode(row["details"]) if exact is None else exact["details"],
        requester=row["requester_name"],
        votes=votes_of(database, row["id"]),
        is_exact=exact is not None,
        is_unused=row["status"] in APPROVED and row["redeemed_at"] is None,
        # Computed from what was sealed, so that writing the database does not remove the warning.
        finding="" if exact is None else finding_of(row["action"], need_in(exact["details"])),
    )


def unsealed(row: DatabaseRow, seal: Seal) -> dict[str, Any]:
    """The exact request; CannotDo if it does not match its digest."""
    written = seal.open(str(row["id"]), bytes(row["sealed"]))
    exact: dict[str, Any] = msgspec.json.decode(written)
    # The row's action chooses the approvers, so it must be the one that was encrypted.
    if digest_of(written) != row["digest"] or exact["action"] != row["action"]:
        raise CannotDo(
            f"request {row['id']!r} was changed in the database after it was submitted: deny it, and run "
            "`seasoned confirm verify`"
        )
    return exact


def votes_of(database: Database, request_id: str) -> tuple[Vote, ...]:
    """The votes on a request, oldest first."""
    names = ("person", "reason", "via", "at")
    return tuple(
        Vote(voter=row["voter_name"], approve=bool(row["approve"]), **{name: row[name] for name in names})
        for row in database.rows("confirm.votes", {"request_id": request_id})
    )


NAME = "confirm.key"
# AES-256 with GCM's usual nonce. The version byte leaves the way open to another scheme.
LENGTH = 32
_NONCE = 12
_VERSION = b"\x01"


class Seal:
    """Encrypts bytes for one request, and derives the keys that it needs for that."""

    def __init__(self, key: bytes) -> None:
        if len(key) != LENGTH:
            raise CannotDo(f"a service key must have {LENGTH} bytes, not {len(key)}")
        self._key = key
        self._cipher = AESGCM(self.derive("details at rest"))

    def __repr__(self) -> str:
        return "Seal(…)"

    def close(self, request_id: str, written: bytes) -> bytes:
        """Encrypt bytes; they can be read only with the key, and only as part of this request."""
        nonce = os.urandom(_NONCE)
        # The id is authenticated too: encrypted details cannot be moved to another request.
        return _VERSION + nonce + self._cipher.encrypt(nonce, written, request_id.encode())

    def open(self, request_id: str, sealed: bytes) -> bytes:
        """Decrypt; CannotDo if the key is a different one or the bytes were changed."""
        nonce, rest = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        try:
            if sealed[:1] != _VERSION:
                raise InvalidTag
            return self._cipher.decrypt(nonce, rest, request_id.encode())
        except (InvalidTag, ValueError) as error:
            raise CannotDo(
                f"the exact arguments of request {request_id!r} cannot be decrypted: {NAME} is not the key they were "
                "encrypted with, or they were changed; deny the request and ask again"
            ) from error

    def derive(self, purpose: str) -> bytes:
        """A key for one purpose; it reveals neither the service's key nor other derived ones."""
        return HKDF(algorithm=SHA256(), length=LENGTH, salt=None, info=f"seasoned confirm {purpose}".encode()).derive(
            self._key
        )


def load_seal(home: Path) -> Seal:
    """The seal of this home folder. The key is created on first use, once, even by processes that start together."""
    path = home / NAME
    try:
        if not path.exists():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make(path)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise CannotDo(f"{str(path)!r} can be read by other users: run `chmod 600` on it, and consider a new key")
        key = path.read_bytes()
    except OSError as error:
        raise CannotDo(
            f"the service's key {str(path)!r} cannot be used ({error.strerror}): check its permissions"
        ) from error
    if len(key) != LENGTH:
        raise CannotDo(
            f"{str(path)!r} has {len(key)} bytes instead of {LENGTH}: restore it, or move it away to create a new "
            "one (pending requests can then only be denied)"
        )
    return Seal(key)


def _make(path: Path) -> None:
    """Write a temporary file and link it, so that half a key is never read and an existing one never replaced."""
    temporary = path.with_name(f"{NAME}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, os.urandom(LENGTH))
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(temporary, path)
    # Another process was first, and its key counts.
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
