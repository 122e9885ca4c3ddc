"""The head of the audit on its way out of an agent's reach: a line in a file, or a signed webhook."""

from __future__ import annotations

from pathlib import Path

import msgspec

from seasoned.confirm.audit.chain import AuditHead, add_head
from seasoned.confirm.notify.http import call, check, open_client
from seasoned.confirm.notify.webhook import sign
from seasoned.confirm.policy import check_export
from seasoned.errors import CannotDo, UsageError

SCHEMA = "seasoned/confirm-head/1"


def send_head(present: AuditHead, to: str, *, secret: str | None) -> None:
    """Add the head to a file, or post it, signed as every webhook is; CannotDo where it was not taken.

    A receiver that writes each body as one line has a file that `confirm verify --heads` reads.
    """
    if "://" not in to:
        add_head(present, Path(to))
        return
    if (wrong := check_export(to)) is not None:
        raise UsageError(f"the head cannot be sent to {to!r}: {wrong}")
    if secret is None:
        raise CannotDo("the head is not sent without a signature: put the secret 'webhook_secret' in place.")
    body = msgspec.json.encode({"schema": SCHEMA, **msgspec.structs.asdict(present)})
    # The same head has the same id, by which a receiver knows a copy.
    headers = sign(secret, message_id=f"head-{present.seq}-{present.hash[:16]}", now=present.at, body=body)
    with open_client() as client:
        check(call(client, "POST", to, body=body, headers=headers, hide=secret), hide=secret)
