"""What is asked, made ready to be kept: checked, written in its one form, redacted, looked through.

All of it takes time and none of it needs the store, so it is done before a lock is taken.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from seasoned.command.action import check_action
from seasoned.command.rows import Finding
from seasoned.confirm.people.credential import Credential
from seasoned.confirm.request.canonical_json import check_text, digest_of, request_bytes
from seasoned.confirm.request.content import need_in
from seasoned.confirm.request.request import NewRequest, finite_number
from seasoned.redact.redactor import Redactor

MOST_DESCRIPTION = 10_000
MOST_LABEL = 200
MOST_SESSION_KEY = 500
MOST_IDEMPOTENCY_KEY = 255


class PreparedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A submission that only the store can still refuse."""

    who: Credential
    """Who asks, by the name that the digest was made with."""
    action: str
    session_key: str
    """As it was asked; the redacted one is in `shown`."""
    timeout_seconds: float | None
    written: bytes
    """What was asked, to the letter; the digest is made of it."""
    digest: str
    shown: dict[str, str]
    """Description, label and session key without secrets."""
    details: str
    """The details without secrets, in JSON."""
    need: Finding | None
    idempotency_hash: str | None


def prepare(asked: NewRequest, who: Credential, redactor: Redactor) -> PreparedRequest:
    """What is asked, ready to be kept; UsageError names the field that is wrong."""
    check_text(asked.description, "description", most=MOST_DESCRIPTION, least=1)
    check_text(asked.label, "requester", most=MOST_LABEL)
    check_text(asked.session_key, "session_key", most=MOST_SESSION_KEY)
    key = asked.idempotency_key
    if key is not None:
        check_text(key, "idempotency key", most=MOST_IDEMPOTENCY_KEY, least=1)
    action = check_action(check_text(asked.action, "action", least=1))
    written = request_bytes(
        action=action,
        description=asked.description,
        details=asked.details,
        session_key=asked.session_key,
        requester=who.name,
    )
    return PreparedRequest(
        who=who,
        action=action,
        session_key=asked.session_key,
        timeout_seconds=finite_number(asked.timeout_seconds),
        written=written,
        digest=digest_of(written),
        shown={
            "description": redactor.text(asked.description),
            "label": redactor.text(asked.label),
            "session_key": redactor.text(asked.session_key),
        },
        details=msgspec.json.encode(redactor.value(asked.details)).decode(),
        need=need_in(asked.details),
        idempotency_hash=None if key is None else sha256(key.encode()).hexdigest(),
    )
