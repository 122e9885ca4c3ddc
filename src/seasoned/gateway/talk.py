"""Talks: which conversation each request belongs to, and whose that is; known in memory, kept in the store."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b

import msgspec

from seasoned.gateway.header import Headers
from seasoned.gateway.identity import identify
from seasoned.gateway.wire.value import Answer, Asked
from seasoned.session import Relation, SessionRef
from seasoned.store import Store

_MOST = 20_000


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation of a request, and what the request is for."""

    ref: SessionRef
    purpose: str
    parent: SessionRef | None = None
    relation: Relation | None = None

    @property
    def is_recorded(self) -> bool:
        """Turns, those of a sub-agent with a session of its own too; a compaction is only taken note of."""
        is_apart = self.purpose == "subagent" and self.relation == "subagent"
        return self.purpose in ("turn", "compaction") or is_apart


class Talks:
    """The newest conversations: their owners, and the answers that later requests go on from."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._owners: OrderedDict[str, str] = OrderedDict()
        self._chains: OrderedDict[str, SessionRef] = OrderedDict()

    def load(self, store: Store) -> None:
        """Know again what was known before a restart."""
        for row in reversed(store.rows("gateway.owners", {"limit": self._most})):
            self._owners[row["session"]] = row["owner"]
        for row in reversed(store.rows("gateway.chains", {"limit": self._most})):
            agent, _, native_id = row["session"].partition(":")
            self._chains[row["response_id"]] = SessionRef(agent, native_id)

    def recognise(self, asked: Asked, headers: Headers, *, path: str, owner: str) -> Talk | None:
        """The conversation of a request. One that belongs to another key's holder is never joined."""
        named = {name.decode("latin-1"): value.decode("utf-8", "replace") for name, value in headers}
        found = identify(named, asked, path=path, owner=owner, find_chain=self._chains.get)
        if found is None:
            return None
        ref = found.ref
        if self._owner_of(ref, owner) != owner:
            ref = ref_apart(ref, owner)
            self._owner_of(ref, owner)
        parent = found.parent
        if parent is not None and self._owners.get(str(parent), owner) != owner:
            # Nobody hangs a conversation on one of another's.
            parent = ref_apart(parent, owner)
        return Talk(ref=ref, purpose=found.purpose, parent=parent, relation=found.relation)

    def answered(self, talk: Talk | None, answer: Answer | None) -> None:
        """Remember whose answer it is: the next request may name it and nothing else."""
        if talk is not None and answer is not None and answer.id is not None:
            self._chains[answer.id] = talk.ref
            if len(self._chains) > self._most:
                self._chains.popitem(last=False)

    def _owner_of(self, ref: SessionRef, owner: str) -> str:
        """Whose conversation it is; whoever comes first, where nobody had it."""
        session = str(ref)
        held = self._owners.setdefault(session, owner)
        self._owners.move_to_end(session)
        if len(self._owners) > self._most:
            self._owners.popitem(last=False)
        return held


def ref_apart(ref: SessionRef, owner: str) -> SessionRef:
    """What somebody's conversation is called where its id is that of another's."""
    return SessionRef(ref.agent, f"{ref.native_id}~{blake2b(owner.encode(), digest_size=6).hexdigest()}")
