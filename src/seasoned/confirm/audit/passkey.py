"""Passkeys: a person's device signs one decision after a touch, a PIN or a fingerprint, which no program can fake.

WebAuthn lets a device sign only a challenge and the origin of the page. So the challenge is the digest of a statement
about one decision, and the vote's audit row has the statement and the signature.
"""

from __future__ import annotations

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import msgspec

from seasoned.confirm.request.canonical_json import canonical
from seasoned.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fido2.webauthn import AuthenticatorData, CollectedClientData

# Between the question and the touch; also what lets a vote's time be trusted.
STATEMENT_SECONDS = 180.0
# How votes of a passkey arrive.
VIA = "page"
# What the library raises for malformed bytes.
_MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, NotImplementedError, struct.error)


class VoteStatement(msgspec.Struct, frozen=True, kw_only=True):
    """What a passkey signs: who decides what about which request, and when."""

    name: str
    request: str
    digest: str
    approve: bool
    at: float
    # The newest row of the audit at that time: the signature covers all rows before it.
    seq: int
    head: str

    def challenge(self) -> bytes:
        """What the device is asked to sign."""
        return sha256(canonical({"seasoned": "vote", **msgspec.to_builtins(self)}, field="statement")).digest()


class Passkey(msgspec.Struct, frozen=True, kw_only=True):
    """A device that decides for a person, on the page at one address."""

    public: str
    # The device's name for it, in base64url, as browsers write it.
    credential: str
    origin: str
    label: str = ""


class PasskeySignature(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a device to the question about one decision, in base64url."""

    public: str
    statement: VoteStatement
    authenticator: str
    client: str
    value: str

    def sign(self, _: bytes) -> dict[str, Any]:
        """The signature as written to an audit row. The device has signed the statement, not the row."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {"key": found.pop("public"), **found}

    def problem(self, passkey: Passkey) -> str | None:
        """Why it does not prove that the person said this; None if it does."""
        from cryptography.exceptions import InvalidSignature
        from fido2 import cbor
        from fido2.cose import CoseKey
        from fido2.webauthn import AuthenticatorData

        try:
            client = _client_data(self.client)
            authenticator = AuthenticatorData(decode_bytes(self.authenticator))
            key = CoseKey.parse(cast("Mapping[int, Any]", cbor.decode(bytes.fromhex(passkey.public))))
            key.verify(bytes(authenticator) + sha256(client).digest(), decode_bytes(self.value))
        except (InvalidSignature, UsageError, *_MALFORMED):
            return "the passkey's signature is not valid"
        if client.type != client.TYPE.GET or client.challenge != self.statement.challenge():
            return "the passkey signed something else"
        return _place_problem(client, authenticator, passkey.origin)


def signature_in(document: dict[str, Any], *, field: str) -> PasskeySignature | None:
    """The signature of a passkey in a row's document; None if there is none, or it is not one."""
    found = document.get(field)
    if not isinstance(found, dict):
        return None
    values = {**found, "public": found.get("key")}
    values.pop("key", None)
    try:
        return msgspec.convert(values, PasskeySignature)
    except msgspec.ValidationError:
        return None


def statement_problem(
    said: VoteStatement, *, name: str, request: str, digest: object, approve: object, at: float
) -> str | None:
    """How a statement differs from the vote it should prove; None if it does not."""
    if (said.name, said.request, said.digest, said.approve) != (name, request, digest, approve):
        return "the passkey signed another decision"
    if not 0 <= at - said.at <= STATEMENT_SECONDS:
        return "the passkey signed too long ago: decide again"
    return None


def new_passkey(attestation: str, client: str, *, origin: str, challenge: bytes, label: str) -> Passkey:
    """A passkey from the browser's answer. The maker of the device does not matter."""
    from fido2 import cbor
    from fido2.webauthn import AttestationObject

    try:
        made = AttestationObject(decode_bytes(attestation))
        data, collected = made.auth_data, _client_data(client)
        known = data.credential_data
        if known is None:
            raise ValueError
    except _MALFORMED as error:
        raise UsageError("the browser's answer is not a passkey: add it again") from error
    if collected.type != collected.TYPE.CREATE or collected.challenge != challenge:
        raise UsageError("this passkey was made for another page: reload the page, and add it again")
    wrong = _place_problem(collected, data, origin)
    if wrong is not None:
        raise UsageError(f"{wrong}: add it again")
    public = cbor.encode(dict(known.public_key)).hex()
    return Passkey(public=public, credential=encode_bytes(known.credential_id), origin=origin, label=label)


def _place_problem(client: CollectedClientData, data: AuthenticatorData, origin: str) -> str | None:
    # The browser writes the origin, so that a page on another port of this machine cannot ask in our name.
    if client.origin != origin or client.cross_origin:
        return "the passkey was used on another page"
    # Devices know a page by its host name.
    if data.rp_id_hash != sha256((urlsplit(origin).hostname or "").encode()).digest():
        return "the passkey was used for another site"
    if not data.is_user_present() or not data.is_user_verified():
        return "the passkey did not check that the person was there"
    return None


def _client_data(text: str) -> CollectedClientData:
    from fido2.webauthn import CollectedClientData

    return CollectedClientData(decode_bytes(text))


def encode_bytes(data: bytes) -> str:
    """Bytes as browsers write them: base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_bytes(text: str) -> bytes:
    """The bytes in base64url text; UsageError if it is not valid."""
    try:
        return urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except ValueError as error:
        raise UsageError("this is not base64url: reload the page and try again") from error
