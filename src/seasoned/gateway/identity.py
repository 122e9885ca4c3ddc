"""Which conversation a request belongs to, and what it is for. For correlation only: it gives nobody a right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, Literal, get_args

import msgspec

from seasoned.gateway.wire.stream import fields_of
from seasoned.gateway.wire.value import Asked
from seasoned.history.coerce import record, string
from seasoned.session import Relation, SessionRef

Purpose = Literal["turn", "title", "compaction", "subagent", "review", "count", "probe"]
"""Only a turn is provisioned and takes part in an experiment; a sub-agent is a session apart."""

OWN_HEADER = "x-seasoned-session"
PURPOSE_HEADER = "x-seasoned-purpose"
AGENT = "gateway"
"""Who keeps a session of an agent that does not say who it is."""
CLAUDE_CODE = "claude-code"
CODEX = "codex"

_PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
_PLAIN_ID = re.compile(r"[!-~]{1,200}\Z")
_OLD_USER_ID = re.compile(r"_session_([0-9a-fA-F-]{36})\Z")
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
_COMPACTION_LINE = "\nCRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n"
"""Behind what the user said last, where that has no answer yet."""
_REVIEW_PROMPT = re.compile(
    r"\s*Review the conversation above and (?:consider saving to memory|update (?:the skill library|two things))"
)
_PROMPT_CHARS = 4_000


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation of a request, who named it, and what the request is for."""

    ref: SessionRef
    named_by: str
    """The header or field that named it; `content` where only the words of the request did."""
    purpose: Purpose = "turn"
    parent: SessionRef | None = None
    relation: Relation | None = None


def identify(
    headers: Mapping[str, str],
    asked: Asked | None,
    *,
    path: str = "",
    owner: str = "",
    find_chain: Callable[[str], SessionRef | None] = lambda _: None,
) -> Identity | None:
    """The conversation that a request belongs to; None when nothing tells. Header names are in lower case.

    `owner` keeps apart what different clients say in the same words; `find_chain` knows the conversations of answers.
    """
    found = _by_header(headers)
    if found is None and asked is not None:
        found = _by_body(asked, owner, find_chain)
    if found is None:
        return None
    return msgspec.structs.replace(found, purpose=find_purpose(headers, asked, path=path, found=found))


def find_purpose(headers: Mapping[str, str], asked: Asked | None, *, path: str = "", found: Identity) -> Purpose:
    """What a request is for. Whatever is not certain to be something else is a turn."""
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


def _by_words(asked: Asked) -> Purpose | None:
    """What the words of a request show."""
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
    fields = frozenset(record(asked.answer_schema.get("properties")))
    if fields and fields <= _TITLE_FIELDS:
        return "title"
    said = (asked.system[:_PROMPT_CHARS], *([last[:_PROMPT_CHARS]] if not asked.system else ()))
    has_history = any(message.role == "tool" or message.calls for message in asked.messages)
    return "title" if not has_history and any(map(_TITLE_PROMPT.search, said)) else None


def _by_header(headers: Mapping[str, str]) -> Identity | None:
    if named := _plain(headers.get(OWN_HEADER)):
        return Identity(ref=SessionRef(AGENT, named), named_by=OWN_HEADER)
    if named := _plain(headers.get("x-claude-code-session-id")):
        return _claude_code(named, _plain(headers.get("x-claude-code-agent-id")), "x-claude-code-session-id")
    for header in ("thread-id", "session-id", "session_id"):
        if named := _plain(headers.get(header)):
            return _codex(named, headers, header)
    for header in ("x-session-id", "x-session-affinity"):
        if named := _plain(headers.get(header)):
            return Identity(ref=SessionRef(AGENT, named), named_by=header)
    return None


def _claude_code(session: str, agent_id: str | None, named_by: str) -> Identity:
    main = SessionRef(CLAUDE_CODE, session)
    if agent_id is None:
        return Identity(ref=main, named_by=named_by)
    # As the files of Claude Code are read, so that both are the same session.
    apart = SessionRef(CLAUDE_CODE, f"{session}/agent-{agent_id}")
    return Identity(ref=apart, named_by=named_by, parent=main, relation="subagent")


def _codex(named: str, headers: Mapping[str, str], header: str) -> Identity:
    says_so = (headers.get("originator", ""), headers.get("user-agent", ""))
    is_codex = "x-codex-turn-metadata" in headers or any(text.startswith("codex") for text in says_so)
    agent = CODEX if is_codex else AGENT
    session = _plain(headers.get("session-id") or headers.get("session_id"))
    parent = _plain(headers.get("x-codex-parent-thread-id"))
    if parent is None and "x-openai-subagent" in headers and session != named:
        parent = session
    if parent is None or parent == named:
        return Identity(ref=SessionRef(agent, named), named_by=header)
    above = SessionRef(agent, parent)
    return Identity(ref=SessionRef(agent, named), named_by=header, parent=above, relation="subagent")


def _by_body(asked: Asked, owner: str, find_chain: Callable[[str], SessionRef | None]) -> Identity | None:
    if named := _plain(asked.prompt_cache_key):
        return Identity(ref=SessionRef(AGENT, named), named_by="prompt_cache_key")
    if session := _session_of_user(asked.user_id):
        return _claude_code(session, None, "metadata.user_id")
    if named := _plain(asked.conversation):
        return Identity(ref=SessionRef(AGENT, named), named_by="conversation")
    if asked.previous_response_id is not None:
        known = find_chain(asked.previous_response_id)
        ref = known or SessionRef(AGENT, _digest(owner, asked.previous_response_id))
        return Identity(ref=ref, named_by="previous_response_id")
    first = next((m.text for m in asked.messages if m.role == "user" and not m.synthetic), None)
    if first is None:
        return None
    # A user's id is the same in all of the user's conversations: it tells users apart, and the words the rest.
    named = _digest(owner, asked.user_id or "", asked.system, first)
    by = "content" if asked.user_id is None else "metadata.user_id"
    return Identity(ref=SessionRef(AGENT, named), named_by=by)


def _session_of_user(user_id: str | None) -> str | None:
    """The session that Claude Code writes into the id of its user, in either of its ways."""
    if user_id is None:
        return None
    if old := _OLD_USER_ID.search(user_id):
        return old[1]
    return _plain(string((fields_of(user_id.encode("utf-8", "replace")) or {}).get("session_id")))


def _turn_metadata(headers: Mapping[str, str], asked: Asked | None) -> dict[str, Any]:
    told = fields_of(headers.get("x-codex-turn-metadata", "").encode("utf-8", "replace"))
    if told or asked is None:
        return told or {}
    inner = asked.client.get("x-codex-turn-metadata")
    return fields_of(inner.encode("utf-8", "replace")) or {} if isinstance(inner, str) else asked.client


def _plain(given: str | None) -> str | None:
    """An id as it was given where it is a plain one, else a digest of it: ids become keys and parts of pages."""
    if given is None or not given.strip():
        return None
    named = given.strip()
    return named if _PLAIN_ID.match(named) else _digest(named)


def _digest(*parts: str) -> str:
    joined = "".join([f"{len(part)}:{part}" for part in parts])
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
