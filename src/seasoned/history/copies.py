"""The same call in several sessions (resumed, forked, rotated) counts once, where it first happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from seasoned.session import Session, SessionRef

_RANDOM_LENGTH = 16


def is_unique_id(call_id: str) -> bool:
    """Whether an id is random enough to name one call anywhere: `toolu_01A…`, not `call_1_0`."""
    body = call_id.rpartition("_")[2] or call_id
    return len(body) >= _RANDOM_LENGTH and not body.isalpha() and not body.isdigit()


def without_copies(sessions: Iterable[Session]) -> Iterator[Session]:
    """The same sessions, each call only in the first of them that has it. Give them oldest first."""
    seen: set[tuple[str, str]] = set()
    roots: dict[SessionRef, SessionRef] = {}
    for session in sessions:
        root = session.ref
        if session.parent is not None:
            root = roots.get(session.parent, session.parent)
        roots[session.ref] = root
        yield _first_seen(session, str(root), seen)


def _first_seen(session: Session, root: str, seen: set[tuple[str, str]]) -> Session:
    copied = False
    messages = []
    for message in session.messages:
        kept = []
        for call in message.calls:
            key = ("", call.id) if is_unique_id(call.id) else (root, call.id)
            if key not in seen:
                seen.add(key)
                kept.append(call)
        if len(kept) != len(message.calls):
            copied = True
            message = msgspec.structs.replace(message, calls=tuple(kept))
        messages.append(message)
    return msgspec.structs.replace(session, messages=tuple(messages)) if copied else session
