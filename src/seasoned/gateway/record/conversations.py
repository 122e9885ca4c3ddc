"""Which conversation a request belongs to, what it is for, and who owns it. Ids are for correlation only."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Literal, get_args

import msgspec

from seasoned.gateway.proxy.upstream import Headers
from seasoned.gateway.wire.event_stream import fields_of
from seasoned.gateway.wire.request import ApiRequest, ApiResponse
from seasoned.history.coerce import as_object, string
from seasoned.session import Relation, SessionRef
from seasoned.store import Store

# Only a turn is provisioned and takes part in an experiment; a sub-agent is a session apart.
Purpose = Literal["turn", "title", "compaction", "subagent", "review", "count", "probe"]

OWN_HEADER = "x-seasoned-session"
PURPOSE_HEADER = "x-seasoned-purpose"
# The agent of sessions whose client does not identify itself.
AGENT = "gateway"
CLAUDE_CODE = "claude-code"
CODEX = "codex"

_PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
_PLAIN_ID = re.compile(r"[!-~]{1,200}\Z")
_SUBAGENT_MARK = "cc_is_subagent=true"
_TITLE_FIELDS = frozenset({"title", "isNewTopic", "name"})
_TITLE_PROMPT = re.compile(
    r"(?i)\b(?:generate|write|create|come up with)\b[^.\n]{0,80}\btitle\b|\btitle generator\b"
    r"|\bindicates a new conversation topic\b|\bsummarize this coding conversation in under \d+ characters\b"
)
_COMPACTION_PROMPT = re.compile(
    r"\s*(?:CRITICAL: Respond with TEXT ONLY|You are performing a CONTEXT CHECKPOINT COMPACTION"
    r"|You are a summarization agent creating a context checkpoint"
    r"|Your task is to create a detailed summary of (?:the conversation|this conversation|our conversation))"
)
# Follows the user's last prompt if that has no answer yet.
_COMPACTION_LINE = "\nCRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n"
_REVIEW_PROMPT = re.compile(
    r"\s*Review the conversation above and (?:consider saving to memory|update (?:the skill library|two things))"
)
_PROMPT_CHARS = 4_000


class GatewayConversation(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation of a request, and what the request is for."""

    ref: SessionRef
    purpose: Purpose = "turn"
    parent: SessionRef | None = None
    relation: Relation | None = None

    @property
    def is_recorded(self) -> bool:
        """Turns are recorded, also those of a sub-agent in a separate session; compactions are only noted."""
        is_apart = self.purpose == "subagent" and self.relation == "subagent"
        return self.purpose in ("turn", "compaction") or is_apart


def identify(
    headers: Mapping[str, str],
    asked: ApiRequest | None,
    *,
    path: str = "",
    owner: str = "",
    find_chain: Callable[[str], SessionRef | None] = lambda _: None,
) -> GatewayConversation | None:
    """The conversation that a request belongs to; None if nothing identifies it. Header names are in lower case.

    `owner` keeps apart what different clients say in the same words; `find_chain` knows the conversations of answers.
    """
    found = _by_header(headers)
    if found is None and asked is not None:
        found = _by_body(asked, owner, find_chain)
    if found is None:
        return None
    return msgspec.structs.replace(found, purpose=find_purpose(headers, asked, path=path, found=found))


def find_purpose(
    headers: Mapping[str, str], asked: ApiRequest | None, *, path: str = "", found: GatewayConversation
) -> Purpose:
    """What a request is for; a turn if in doubt."""
    if path.rstrip("/").endswith("/count_tokens"):
        return "count"
    told = headers.get(PURPOSE_HEADER, "")
    for purpose in _PURPOSES:
        if told == purpose:
            return purpose
    named = headers.get("x-openai-subagent", "")
    if named == "review":
        return "review"
    if named == "compact" or _turn_metadata(headers, asked).get("request_kind") == "compaction":
        return "compaction"
    if asked is not None and (shown := _by_words(asked)) is not None:
        return shown
    is_subagent = found.relation == "subagent" or (asked is not None and _SUBAGENT_MARK in asked.system[:_PROMPT_CHARS])
    return "subagent" if is_subagent else "turn"


def _by_words(asked: ApiRequest) -> Purpose | None:
    """The purpose of a request by its words."""
    last = next((message.text for message in reversed(asked.messages) if message.role == "user"), "")
    # The compaction of Claude Code has all the tools of a turn.
    if _COMPACTION_PROMPT.match(last) or _COMPACTION_LINE in last:
        return "compaction"
    # Hermes looks back over a conversation in a fork of it.
    if _REVIEW_PROMPT.match(last):
        return "review"
    if asked.tools:
        return None
    if asked.max_tokens == 1:
        return "probe"
    fields = frozenset(as_object(asked.answer_schema.get("properties")))
    if fields and fields <= _TITLE_FIELDS:
        return "title"
    said = (asked.system[:_PROMPT_CHARS], *([last[:_PROMPT_CHARS]] if not asked.system else ()))
    has_history = any(message.role == "tool" or message.calls for message in asked.messages)
    return "title" if not has_history and any(map(_TITLE_PROMPT.search, said)) else None


def _by_header(headers: Mapping[str, str]) -> GatewayConversation | None:
    if named := _plain(headers.get(OWN_HEADER)):
        return GatewayConversation(ref=SessionRef(AGENT, named))
    if named := _plain(headers.get("x-claude-code-session-id")):
        return _claude_code(named, _plain(headers.get("x-claude-code-agent-id")))
    for header in ("thread-id", "session-id", "session_id"):
        if named := _plain(headers.get(header)):
            return _codex(named, headers)
    for header in ("x-session-id", "x-session-affinity"):
        if named := _plain(headers.get(header)):
            return GatewayConversation(ref=SessionRef(AGENT, named))
    return None


def _claude_code(session: str, agent_id: str | None) -> GatewayConversation:
    main = SessionRef(CLAUDE_CODE, session)
    if agent_id is None:
        return GatewayConversation(ref=main)
    # The same name that the reader of Claude Code's files uses, so that both are one session.
    apart = SessionRef(CLAUDE_CODE, f"{session}/agent-{agent_id}")
    return GatewayConversation(ref=apart, parent=main, relation="subagent")


def _codex(named: str, headers: Mapping[str, str]) -> GatewayConversation:
    says_so = (headers.get("originator", ""), headers.get("user-agent", ""))
    is_codex = "x-codex-turn-metadata" in headers or any(text.startswith("codex") for text in says_so)
    agent = CODEX if is_codex else AGENT
    session = _plain(headers.get("session-id") or headers.get("session_id"))
    parent = _plain(headers.get("x-codex-parent-thread-id"))
    if parent is None and "x-openai-subagent" in headers and session != named:
        parent = session
    if parent is None or parent == named:
        return GatewayConversation(ref=SessionRef(agent, named))
    above = SessionRef(agent, parent)
    return GatewayConversation(ref=SessionRef(agent, named), parent=above, relation="subagent")


def _by_body(
    asked: ApiRequest, owner: str, find_chain: Callable[[str], SessionRef | None]
) -> GatewayConversation | None:
    if named := _plain(asked.prompt_cache_key):
        return GatewayConversation(ref=SessionRef(AGENT, named))
    if session := _session_of_user(asked.user_id):
        return _claude_code(session, None)
    if named := _plain(asked.conversation):
        return GatewayConversation(ref=SessionRef(AGENT, named))
    if asked.previous_response_id is not None:
        known = find_chain(asked.previous_response_id)
        ref = known or SessionRef(AGENT, _digest(owner, asked.previous_response_id))
        return GatewayConversation(ref=ref)
    first = next((m.text for m in asked.messages if m.role == "user" and not m.synthetic), None)
    if first is None:
        return None
    # A user id is the same in all conversations of a user, so the words tell those apart.
    named = _digest(owner, asked.user_id or "", asked.system, first)
    return GatewayConversation(ref=SessionRef(AGENT, named))


def _session_of_user(user_id: str | None) -> str | None:
    """The session id inside Claude Code's user id."""
    if user_id is None:
        return None
    return _plain(string((fields_of(user_id.encode("utf-8", "replace")) or {}).get("session_id")))


def _turn_metadata(headers: Mapping[str, str], asked: ApiRequest | None) -> dict[str, Any]:
    told = fields_of(headers.get("x-codex-turn-metadata", "").encode("utf-8", "replace"))
    if told or asked is None:
        return told or {}
    inner = asked.client.get("x-codex-turn-metadata")
    return fields_of(inner.encode("utf-8", "replace")) or {} if isinstance(inner, str) else asked.client


def _plain(given: str | None) -> str | None:
    """The id itself if its characters are harmless, else a digest of it: ids become keys and parts of pages."""
    if given is None or not given.strip():
        return None
    named = given.strip()
    return named if _PLAIN_ID.match(named) else _digest(named)


def _digest(*parts: str) -> str:
    joined = "".join([f"{len(part)}:{part}" for part in parts])
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_MOST = 20_000


class ConversationIndex:
    """The newest conversations: their owners, and the answers that later requests may continue."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._owners: OrderedDict[str, str] = OrderedDict()
        self._chains: OrderedDict[str, SessionRef] = OrderedDict()

    def load(self, store: Store) -> None:
        """Load what was known before a restart."""
        for row in reversed(store.rows("gateway.owners", {"limit": self._most})):
            self._owners[row["session"]] = row["owner"]
        for row in reversed(store.rows("gateway.chains", {"limit": self._most})):
            agent, _, native_id = row["session"].partition(":")
            self._chains[row["response_id"]] = SessionRef(agent, native_id)

    def recognise(self, asked: ApiRequest, headers: Headers, *, path: str, owner: str) -> GatewayConversation | None:
        """The conversation of a request; never one that belongs to another key."""
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
            # A conversation cannot be attached to another owner's.
            parent = ref_apart(parent, owner)
        return msgspec.structs.replace(found, ref=ref, parent=parent)

    def answered(self, conversation: GatewayConversation | None, answer: ApiResponse | None) -> None:
        """Remember whose answer it is: the next request may name only that."""
        if conversation is None or answer is None or answer.id is None:
            return
        self._chains[answer.id] = conversation.ref
        if len(self._chains) > self._most:
            self._chains.popitem(last=False)

    def _owner_of(self, ref: SessionRef, owner: str) -> str:
        """The owner of a conversation; the first to use it becomes its owner."""
        session = str(ref)
        held = self._owners.setdefault(session, owner)
        self._owners.move_to_end(session)
        if len(self._owners) > self._most:
            self._owners.popitem(last=False)
        return held


def ref_apart(ref: SessionRef, owner: str) -> SessionRef:
    """The name of a conversation whose id already belongs to another owner."""
    return SessionRef(ref.agent, f"{ref.native_id}~{blake2b(owner.encode(), digest_size=6).hexdigest()}")
