"""The library's questions about conversations in memory: messages in the form of any provider, or sessions as read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from seasoned.errors import UsageError
from seasoned.history.read import read
from seasoned.outcome.track import Track, track_of
from seasoned.report.compare import Comparison, compare_sessions, compare_sets
from seasoned.report.compression import CompressionCheck, check
from seasoned.report.profile import Profile
from seasoned.report.profile import profile as profile_of
from seasoned.session import Session, SessionRef

Conversation = Session | Sequence[Mapping[str, Any]]


def profile(conversation: Conversation) -> Profile:
    """How much was done, what failed, by which tools, early and late."""
    return profile_of(_track(conversation))


def compare(warm: Conversation | Sequence[Conversation], cold: Conversation | Sequence[Conversation]) -> Comparison:
    """Whether one conversation, or a set of them, failed less often than another, with interval and test."""
    first, second = _tracks(warm, "warm"), _tracks(cold, "cold")
    if len(first) == len(second) == 1:
        return compare_sessions(first[0], second[0])
    return compare_sets(first, second)


def compress_check(*conversations: Conversation) -> CompressionCheck:
    """Whether a conversation lost what it knew when its context was compressed; several if it went on in new ones."""
    return check([_track(one, f"part-{at}") for at, one in enumerate(conversations)])


def _tracks(given: Any, name: str) -> list[Track]:
    """The tracks of a conversation or of several."""
    is_one = isinstance(given, Session) or not given or isinstance(given[0], Mapping)
    return [_track(one, f"{name}-{at}") for at, one in enumerate([given] if is_one else given)]


def _track(conversation: Conversation, name: str = "messages") -> Track:
    return track_of(conversation if isinstance(conversation, Session) else _session(conversation, name))


def _session(messages: Sequence[Mapping[str, Any]], name: str) -> Session:
    """The session that these messages are, read like a log of them."""
    with TemporaryDirectory(prefix="seasoned-") as folder:
        path = Path(folder) / f"{name}.json"
        path.write_bytes(msgspec.json.encode({"messages": [dict(one) for one in messages]}))
        found = [one for one in read(path) if isinstance(one, Session)]
    if len(found) != 1 or not messages:
        raise UsageError(
            "These are not the messages of one conversation. Give a list of messages as an API takes them."
        )
    return msgspec.structs.replace(found[0], ref=SessionRef(found[0].ref.agent, name), path="")
