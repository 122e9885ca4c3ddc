"""Which conversation a request belongs to, and what it is for."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.gateway.record.conversations import GatewayConversation, identify
from seasoned.gateway.wire import anthropic, chat, responses
from seasoned.gateway.wire.request import ApiRequest
from seasoned.session import SessionRef
from tests.each_case import each_case

SESSION = "0199a213-81c0-7800-8aa1-bbab2a035a53"
TOOL = {"type": "function", "function": {"name": "bash"}}


def ask_chat(*said: str, **fields: Any) -> ApiRequest:
    """A request of which every second message is the user's."""
    turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    messages = [{"role": "system", "content": "Be brief."}, *turns]
    asked = chat.read_request(json.dumps({"model": "m", "messages": messages, "tools": [TOOL], **fields}).encode())
    assert asked is not None
    return asked


def ask_anthropic(*said: str, **fields: Any) -> ApiRequest:
    turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    asked = anthropic.read_request(json.dumps({"model": "m", "messages": turns, **fields}).encode())
    assert asked is not None
    return asked


def ask_responses(**fields: Any) -> ApiRequest:
    asked = responses.read_request(json.dumps({"model": "m", "input": "Hello", **fields}).encode())
    assert asked is not None
    return asked


def found(headers: dict[str, str], asked: ApiRequest | None = None, **others: Any) -> GatewayConversation:
    identity = identify(headers, asked, **others)
    assert identity is not None
    return identity


ORDER = [
    ({"x-seasoned-session": "own"}, SessionRef("gateway", "own")),
    ({"x-claude-code-session-id": "cc"}, SessionRef("claude-code", "cc")),
    ({"thread-id": "thread", "originator": "codex_exec"}, SessionRef("codex", "thread")),
    ({"session-id": "session", "user-agent": "codex_exec/0.166.0"}, SessionRef("codex", "session")),
    ({"x-session-id": "x"}, SessionRef("gateway", "x")),
    ({"x-session-affinity": "affinity"}, SessionRef("gateway", "affinity")),
]


@each_case("first", range(len(ORDER)))
def test_the_first_header_that_is_there_names_the_session(first: int) -> None:
    headers = {name: value for given, _ in reversed(ORDER[first:]) for name, value in given.items()}
    identity = found(headers, ask_chat("Hello", prompt_cache_key="cache"))
    assert identity.ref == ORDER[first][1]


def test_without_a_header_the_body_names_the_session() -> None:
    assert found({}, ask_chat("Hello", prompt_cache_key="cache")).ref == SessionRef("gateway", "cache")
    told = json.dumps({"session_id": SESSION, "device_id": "d"})
    asked = ask_anthropic("Hello", metadata={"user_id": told})
    assert found({}, asked).ref == SessionRef("claude-code", SESSION)


def test_a_session_is_the_same_while_it_grows_and_another_for_other_words() -> None:
    first = found({}, ask_chat("Hello"))
    assert first.ref == found({}, ask_chat("Hello", "Hi", "Go on")).ref
    others = [
        found({}, ask_chat("Hello!")).ref,
        found({}, ask_chat("Hello"), owner="another key").ref,
        found({}, ask_chat("Hello", metadata={"user_id": "alice"})).ref,
        found({}, ask_chat("Good day", metadata={"user_id": "alice"})).ref,
    ]
    assert len({first.ref, *others}) == 5


def test_a_chain_of_answers_is_one_session() -> None:
    known = {"resp_1": SessionRef("gateway", "first")}
    asked = ask_responses(previous_response_id="resp_1")
    assert found({}, asked, find_chain=known.get).ref == SessionRef("gateway", "first")
    assert found({}, ask_responses(conversation="conv_1")).ref == SessionRef("gateway", "conv_1")
    assert found({}, asked).ref == found({}, ask_responses(previous_response_id="resp_1", input="Other words")).ref


def test_a_sub_agent_of_claude_code_is_a_session_apart() -> None:
    identity = found({"x-claude-code-session-id": SESSION, "x-claude-code-agent-id": "a1"}, ask_anthropic("Look"))
    assert identity.ref == SessionRef("claude-code", f"{SESSION}/agent-a1")
    assert (identity.parent, identity.relation) == (SessionRef("claude-code", SESSION), "subagent")
    assert identity.purpose == "subagent"
    marked = ask_anthropic(
        "Look", system=[{"type": "text", "text": "x-anthropic-billing-header: a; cc_is_subagent=true;"}]
    )
    assert found({"x-claude-code-session-id": SESSION}, marked).purpose == "subagent"


def test_a_sub_agent_of_codex_is_a_session_apart() -> None:
    headers = {
        "session-id": "root",
        "thread-id": "child",
        "originator": "codex_exec",
        "x-openai-subagent": "collab_spawn",
        "x-codex-parent-thread-id": "root",
    }
    identity = found(headers, ask_responses())
    assert (identity.ref, identity.parent) == (SessionRef("codex", "child"), SessionRef("codex", "root"))
    assert identity.purpose == "subagent"
    assert found({**headers, "x-openai-subagent": "review"}, ask_responses()).purpose == "review"


COMPACTION = json.dumps({"request_kind": "compaction"})


@each_case(
    ("headers", "asked", "path", "purpose"),
    [
        ({}, ask_chat("Hello"), "/v1/chat/completions", "turn"),
        ({}, ask_anthropic("Hello"), "/v1/messages/count_tokens", "count"),
        ({}, ask_anthropic("quota", max_tokens=1), "/v1/messages", "probe"),
        (
            {},
            ask_anthropic(
                "Hello",
                output_config={
                    "format": {"type": "json_schema", "schema": {"properties": {"title": {"type": "string"}}}}
                },
            ),
            "/v1/messages",
            "title",
        ),
        ({}, ask_anthropic("Hello", system="Generate a concise, sentence-case title for this session."), "", "title"),
        ({}, ask_chat("Generate a title for the page"), "", "turn"),
        ({}, ask_anthropic("Write a poem", system="You write poems. Give each of them a title."), "", "turn"),
        ({"x-codex-turn-metadata": COMPACTION}, ask_responses(), "", "compaction"),
        ({}, ask_responses(client_metadata={"request_kind": "compaction"}), "", "compaction"),
        ({}, ask_responses(client_metadata={"x-codex-turn-metadata": COMPACTION}), "", "compaction"),
        ({}, ask_chat("Hello", "Hi", "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."), "", "compaction"),
        (
            {},
            ask_chat("A", "B", "C\n\nCRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- "),
            "",
            "compaction",
        ),
        ({}, ask_chat("You are a summarization agent creating a context checkpoint. Treat"), "", "compaction"),
        ({}, ask_chat("Hello", "Hi", "Review the conversation above and update the skill library. Be"), "", "review"),
        ({}, ask_chat("Review the conversation above and tell me who was rude."), "", "turn"),
        ({}, ask_chat("Why does it say CRITICAL: Respond with TEXT ONLY?"), "", "turn"),
        ({"x-seasoned-purpose": "review"}, ask_chat("Hello"), "", "review"),
        ({"x-seasoned-purpose": "nonsense"}, ask_chat("Hello"), "", "turn"),
    ],
)
def test_what_a_request_is_for_is_told_apart(
    headers: dict[str, str], asked: ApiRequest, path: str, purpose: str
) -> None:
    assert found({"x-session-id": "s", **headers}, asked, path=path).purpose == purpose


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text())
def test_an_id_is_always_short_and_plain_and_equal_ids_stay_equal(named: str, other: str) -> None:
    ids = [identify({"x-seasoned-session": text}, None) for text in (named, named, other)]
    first, same, another = ids
    assert first == same
    if first is None:
        assert not named.strip()
        return
    assert 0 < len(first.ref.native_id) <= 200 and first.ref.native_id.isprintable()
    assert (first == another) == (named.strip() == other.strip())
