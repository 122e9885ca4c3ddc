"""Passkeys: a device signs one decision, and nothing that it signed serves for another one."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.cose import ES256
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

from seasoned.confirm.audit.chain import entries_of_request, writing
from seasoned.confirm.audit.passkey import STATEMENT_SECONDS, VoteStatement, encode_bytes, new_passkey
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.credential import UnlockedCredential
from seasoned.confirm.people.device import add_passkey, remove_passkey, statement_for, unlocked_by_passkey
from seasoned.confirm.people.passphrase import set_passphrase
from seasoned.confirm.request.request import Request
from seasoned.errors import Denied, NotFound, Refused, UsageError
from seasoned.store import Database
from tests.confirm.books import START, Scene, without_guards
from tests.confirm.keys import QUICK, first_admin_of, unlock

ORIGIN = "http://localhost:8321"
CHALLENGE = b"c" * 32


class Device:
    """A device with one key, as browsers speak with it; the real one is asked in tests/browser."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self.credential = b"id of the key"

    def register(self, *, origin: str = ORIGIN, challenge: bytes = CHALLENGE) -> tuple[str, str]:
        """What the browser sends for a new passkey: the attestation and the client's data."""
        known = AttestedCredentialData.create(
            Aaguid.NONE, self.credential, ES256.from_cryptography_key(self._private.public_key())
        )
        data = self._data(AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV | AuthenticatorData.FLAG.AT, known)
        made = AttestationObject.create("none", data, {})
        return encode_bytes(made), encode_bytes(CollectedClientData.create("webauthn.create", challenge, origin))

    def answer(self, said: VoteStatement, *, about: VoteStatement | None = None, **odd: Any) -> str:
        """The page's answer; `about` is what it claims to be about, if that differs from what was signed."""
        flags = odd.get("flags", AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV)
        data = self._data(flags, host=odd.get("host", "localhost"))
        client = CollectedClientData.create(
            odd.get("kind", "webauthn.get"), said.challenge(), odd.get("origin", ORIGIN), odd.get("cross", False)
        )
        value = self._private.sign(data + sha256(client).digest(), ec.ECDSA(SHA256()))
        found = {
            "credential": encode_bytes(self.credential),
            "statement": msgspec.to_builtins(about or said),
            "authenticator": encode_bytes(data),
            "client": encode_bytes(client),
            "value": encode_bytes(value),
        }
        return msgspec.json.encode(found).decode()

    def _data(self, flags: int, known: bytes = b"", *, host: str = "localhost") -> AuthenticatorData:
        return AuthenticatorData.create(sha256(host.encode()).digest(), flags, 0, known)


class PasskeyScene(Scene):
    """A book in which anna has a passkey."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        first_admin_of(database, now=START)
        self.device = Device()
        self.anna_unlocked = unlock(database, "anna", now=START)
        self.add()

    def add(self) -> None:
        attestation, client = self.device.register()
        made = new_passkey(attestation, client, origin=ORIGIN, challenge=CHALLENGE, label="my phone")
        add_passkey(self.book, self.anna_unlocked, made)

    def touched(self, answer: str) -> UnlockedCredential:
        return unlocked_by_passkey(self.book.recorded(), self.anna, answer)

    def statement(self, request: Request, *, approve: bool = True) -> VoteStatement:
        return statement_for(self.book, self.anna, request.id, approve=approve)


@pytest.fixture
def scene(any_database: Database) -> PasskeyScene:
    return PasskeyScene(any_database)


def test_a_touch_decides_and_the_audit_proves_it(scene: PasskeyScene) -> None:
    for approve, status in ((True, "approved"), (False, "denied")):
        request = scene.ask()
        answer = scene.device.answer(scene.statement(request, approve=approve))
        decided = scene.book.decide(scene.touched(answer), request.id, approve=approve, via="page")
        assert decided.status == status
        vote = next(one for one in entries_of_request(scene.book.database, request.id) if one.event == "voted")
        assert vote.document["signature"]["statement"]["request"] == request.id
    assert verify(scene.book.database).ok
    approved = scene.book.list(scene.anna, status="approved", limit=5)[-1]
    scene.book.redeem(scene.agent, approved.id, digest=approved.digest)
    assert verify(scene.book.database).ok


FLAG = AuthenticatorData.FLAG
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "on another page": ({"origin": "http://localhost:9999"}, "another page"),
    "in a frame of another page": ({"cross": True}, "another page"),
    "for another site": ({"host": "example.org"}, "another site"),
    "without a person": ({"flags": FLAG.UP}, "did not check that the person was there"),
    "as a new passkey": ({"kind": "webauthn.create"}, "signed something else"),
}


def test_what_a_device_signed_elsewhere_or_for_something_else_decides_nothing(scene: PasskeyScene) -> None:
    def refused(request: Request, answer: str, words: str, *, approve: bool = True, via: str = "page") -> None:
        with pytest.raises(Denied, match=words):
            scene.book.decide(scene.touched(answer), request.id, approve=approve, via=via)

    request, other = scene.ask(), scene.ask()
    said = scene.statement(request)
    for odd, words in WRONG.values():
        refused(request, scene.device.answer(said, **odd), words)
    refused(other, scene.device.answer(said), "another decision")
    refused(request, scene.device.answer(said), "another decision", approve=False)
    refused(request, scene.device.answer(scene.statement(other), about=said), "signed something else")
    refused(request, scene.device.answer(said), "only decides on the page", via="http")
    stranger = Device()
    refused(request, stranger.answer(said), "signature is not valid")
    stranger.credential = b"unknown"
    refused(request, stranger.answer(said), "does not decide for 'anna'")
    scene.clock.forward(STATEMENT_SECONDS + 1)
    refused(request, scene.device.answer(said), "too long ago")
    with pytest.raises(UsageError, match="not one of a passkey"):
        scene.touched("{}")
    assert scene.book.look(scene.anna, request.id).status == "pending"
    assert verify(scene.book.database).ok


def test_a_passkey_has_no_power_but_to_vote(scene: PasskeyScene) -> None:
    request = scene.ask()
    touched = scene.touched(scene.device.answer(scene.statement(request)))
    attempts: list[Callable[[], object]] = [
        lambda: add_passkey(scene.book, touched, new_passkey(*Device().register(), **MAKING)),
        lambda: remove_passkey(scene.book, touched, encode_bytes(scene.device.credential)),
        lambda: set_passphrase(
            scene.book.database, scene.anna, "new words for anna", by=touched, now=START, hasher=QUICK
        ),
    ]
    for attempt in attempts:
        with pytest.raises(Refused, match="passkey"):
            attempt()


MAKING: dict[str, Any] = {"origin": ORIGIN, "challenge": CHALLENGE, "label": "x"}


def test_a_passkey_that_is_not_one_of_this_page_is_not_added(scene: PasskeyScene) -> None:
    for given, words in (
        (Device().register(challenge=b"other"), "another page"),
        (Device().register(origin="http://localhost:1"), "another page"),
        (("", ""), "not a passkey"),
        (("AAAA", "e30"), "not a passkey"),
        (("ä", "ä"), "base64url"),
    ):
        with pytest.raises(UsageError, match=words):
            new_passkey(*given, **MAKING)
    with pytest.raises(Refused, match="already added"):
        scene.add()


def test_a_removed_passkey_decides_no_longer_and_its_votes_stay_proven(scene: PasskeyScene) -> None:
    before, after = scene.ask(), scene.ask()
    scene.book.decide(scene.touched(scene.device.answer(scene.statement(before))), before.id, approve=True, via="page")
    touched = scene.touched(scene.device.answer(scene.statement(after)))
    credential = encode_bytes(scene.device.credential)
    remove_passkey(scene.book, scene.anna_unlocked, credential)
    with pytest.raises(Refused):
        scene.book.decide(touched, after.id, approve=True, via="page")
    with pytest.raises(NotFound):
        remove_passkey(scene.book, scene.anna_unlocked, credential)
    scene.book.redeem(scene.agent, before.id, digest=before.digest)
    assert verify(scene.book.database).ok


def test_a_passkey_or_a_vote_of_one_that_was_written_beside_the_service_is_named(scene: PasskeyScene) -> None:
    database = scene.book.database
    without_guards(database, "audit", "audit_head", "vote", "request")
    mine = Device()
    mine.credential = b"mine"
    forged = new_passkey(*mine.register(), **MAKING)
    with writing(database) as chain:
        facts = {"name": "anna", **msgspec.to_builtins(forged)}
        chain.append("passkey_added", facts, at=scene.clock(), actor="anna")
    with pytest.raises(Refused, match="does not decide"):
        scene.touched(mine.answer(scene.statement(scene.ask())))
    # A real signature about another time, put into a row by hand.
    request = scene.ask()
    signed = scene.touched(scene.device.answer(scene.statement(request)))
    at = scene.clock() + STATEMENT_SECONDS + 5
    facts = {"person": "anna", "approve": True, "reason": "", "digest": request.digest}
    with writing(database) as chain:
        chain.append("voted", facts, at=at, actor="anna", request_id=request.id, via="page", signer=signed.key)
    problems = " | ".join(verify(database).problems)
    assert "adds a passkey for 'anna' without their signature" in problems
    assert "the vote of 'anna' has no valid signature of theirs" in problems


def test_the_key_in_the_audit_is_the_one_that_the_device_has() -> None:
    device = Device()
    made = new_passkey(*device.register(), **MAKING)
    known = ES256(cbor.decode(bytes.fromhex(made.public)))
    assert made.credential == encode_bytes(b"id of the key") and known[3] == -7
