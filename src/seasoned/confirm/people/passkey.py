"""Adds and removes the passkeys of a person, and asks one about a decision. Only the audit has them."""

from __future__ import annotations

import msgspec

from seasoned.confirm.audit.chain import read_head, writing
from seasoned.confirm.audit.passkey import Passkey, PasskeySignature, VoteStatement
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.people.credential import Credential, UnlockedCredential, current
from seasoned.confirm.people.passphrase import check_key, unlocked
from seasoned.confirm.request.book import Book
from seasoned.errors import NotFound, Refused, UsageError


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
            raise Refused("this passkey was added before")
        facts = {"name": who.name, **msgspec.to_builtins(passkey), "label": book.redactor.text(passkey.label)}
        chain.append("passkey_added", facts, at=float(book.clock()), actor=who.name, signer=who.key)


def remove_passkey(book: Book, who: UnlockedCredential, credential: str) -> None:
    """Let a passkey of this person decide no longer."""
    with writing(book.database) as chain:
        current(book.database, who)
        state = book.recorded()
        check_key(state, who)
        found = next((one for one in state.passkeys(who.name) if one.credential == credential), None)
        if found is None:
            raise NotFound(f"{who.name!r} has no such passkey: it was removed before")
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
